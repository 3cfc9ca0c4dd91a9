"""The write side of the journal: one thread, a bounded queue and group commits.

Entry point: `writer.Writer`.
Must not know how the journal is read or what its events mean.
"""
