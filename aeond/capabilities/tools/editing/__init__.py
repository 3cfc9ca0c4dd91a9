"""The tools that change the content of a file, and the conversation in which a model writes the changes.

Entry point: `writing.writing_tools`.
Must not know the registry, the invoker or the kernel.
"""
