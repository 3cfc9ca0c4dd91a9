"""Serves functions of a program as tools, for as long as it is connected.

Entry point: `served_tools.ServedTools`, `served_tools.AsyncServedTools`, `served_tools.serve_tools`.
Must not know the other calls.
"""
