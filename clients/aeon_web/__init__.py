"""The local web page of aeond: a small HTTP server on the loopback interface and the page that it serves.

Entry point: `server.serve`, called by `aeonctl open`.
Must not know the daemon's code, click or the terminal: it is a client of the API like any other.
"""
