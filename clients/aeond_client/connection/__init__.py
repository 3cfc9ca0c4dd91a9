"""Connections to the daemon: sockets, channels, retries and errors.

Entry point: `sockets.find_socket` and `channels.StreamChannels`.
Must not know what a call means.
"""
