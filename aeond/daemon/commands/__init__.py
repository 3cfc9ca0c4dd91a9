"""Commands of `aeond` other than `serve`: demo, doctor, engine-setup, export and quarantine.

Entry point: One module for each command; `aeond.daemon.main` calls them.
Must not know how the daemon is composed.
"""
