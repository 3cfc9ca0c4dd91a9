"""The worker thread and what runs in it: the connection to the daemon, D-Bus, and the hotkey.

Entry point: `worker.Worker`, `link.Link` and `desktop.Desktop`.
Must not know Qt or the window.
"""
