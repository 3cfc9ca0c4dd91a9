"""Changes to a plan after an evaluation, limited to steps that have not run.

Entry point: `refiner.ModelRefiner`.
Must not know the kernel, capabilities or how a pass is evaluated.
"""
