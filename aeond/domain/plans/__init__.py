"""Data of a plan: steps, evaluations, task profiles and subtasks.

Entry point: `plan.Plan` and `steps.StepSnapshot`.
Must not know ports, storage or the wire format.
"""
