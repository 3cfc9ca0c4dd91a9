"""Changes of the rows in text files by SQL statements.

Entry point: `row_changes.change_rows`.
Must not know the tools, their conversations, the registry or the kernel.
"""
