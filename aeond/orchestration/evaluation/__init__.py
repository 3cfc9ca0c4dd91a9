"""Judgement of plans and passes: issues, scores and convergence.

Entry point: `evaluators.EvaluatorByRoute`.
Must not know the kernel, capabilities or how a plan is changed in response.
"""
