"""Commands of `aeond` other than `serve`: demo, doctor, engine-setup, export, models and quarantine.

Entry point: One module for each command; `aeond.daemon.main` calls them.
Must not know how the daemon is composed.
"""
