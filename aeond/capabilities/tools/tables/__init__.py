"""Queries over tables in text files, and numbers in any notation.

Entry point: `query_table.query_table_tool`.
Must not know the registry, the invoker or the kernel.
"""
