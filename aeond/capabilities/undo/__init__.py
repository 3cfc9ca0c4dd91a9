"""The contents from before each change, within a bound.

Entry point: `sqlite_undo_log.SqliteUndoLog`.
Must not know the files of the user, the runs or the kernel.
"""
