"""The records of the API: plain data, such as runs, tools and sessions.

Entry point: `runs.Run`; the usual names are also in `aeond_client`.
Must not know the wire: `aeond_client.calls.reading` makes these records.
"""
