"""Sessions: conversations and their messages, kept until the user removes them.

Entry point: `sqlite_sessions.SqliteSessions`.
Must not know runs or what a model reads of a session.
"""
