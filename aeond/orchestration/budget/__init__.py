"""Budgets: the profile of a task, the allocation made for it, and model calls charged to a grant.

Entry point: `profiling.AdaptiveDepth` and `budgeted_llm.BudgetedLLM`.
Must not know the kernel, capabilities or what a model call is for.
"""
