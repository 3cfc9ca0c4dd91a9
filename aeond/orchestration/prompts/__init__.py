"""Text that models read: rules, examples and message layouts of the phases.

Entry point: `preamble.Preamble` and `run_prompts`.
Must not know the kernel, capabilities or what is done with a reply.
"""
