"""Queries over tables in text files, and numbers in any notation.

Entry point: `queries.answer`.
Must not know the registry, the invoker or the kernel.
"""
