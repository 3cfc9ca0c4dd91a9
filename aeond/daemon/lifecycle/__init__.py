"""The process from start to stop: signals, locks, service manager notifications, memory footprint.

Entry point: `serving.serve`.
Must not know concrete capabilities: it receives a composed daemon.
"""
