"""Queries over tables in text files.

Entry point: `query_table.query_table_tool`.
Must not know the registry, the invoker or the kernel.
"""
