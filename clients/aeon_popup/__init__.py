"""aeon-popup: the desktop window of aeond, opened by a hotkey.

Entry point: `__main__.main`; `app.App` wires the parts together.
Must not know the daemon's code: it uses `aeond_client`, and of `aeon_cli` the run display without a terminal.
"""
