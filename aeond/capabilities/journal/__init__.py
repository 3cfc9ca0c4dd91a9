"""The journal: events on disk before anything depends on them, read back unchanged.

Entry point: `sqlite_journal.SqliteJournal`; `transcripts` for offline work on its file.
Must not know what events mean beyond the state that a list of runs shows.
"""
