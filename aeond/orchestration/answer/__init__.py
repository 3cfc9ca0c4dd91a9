"""The answer that ends a run, with or without a model, and the report of an expired run.

Entry point: `answerer.StepAnswerer`.
Must not know the kernel, capabilities or the wire format.
"""
