"""aeonctl: the command line of aeond.

Entry point: `main.main`; one module of `commands` for each family of commands.
Must not know the daemon's code: it uses `aeond_client`.
"""
