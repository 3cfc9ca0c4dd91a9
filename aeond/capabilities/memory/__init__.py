"""Memory: small JSON values under text keys, kept until the user removes them.

Entry point: `sqlite_memory.SqliteMemory`.
Must not know tools, runs or sessions.
"""
