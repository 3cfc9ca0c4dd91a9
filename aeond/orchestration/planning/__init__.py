"""Plans: asking a model for one, parsing it, and validating its graph of steps.

Entry point: `planner.ModelPlanner`.
Must not know the kernel, capabilities or how steps are executed.
"""
