"""Text for terminals: wrapping, tables, symbols, safe output.

Entry point: `printable`, `tables` and `terminals`.
Must not know runs or the client library.
"""
