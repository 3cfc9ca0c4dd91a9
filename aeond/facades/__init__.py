"""Façades: processes of a user that offer the daemon by protocols that other programs speak.

Entry point: `serve` in `serving.py` serves an ASGI application on the sockets of `listeners.py`.
Must not know the daemon: a façade is a client of the API, imports the client library and a web library.
"""
