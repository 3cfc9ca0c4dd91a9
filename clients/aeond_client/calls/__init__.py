"""Calls of the contract as data, and the translation of replies from protobuf messages.

Entry point: `call_spec.Call`.
Must not know channels, event loops or retries.
"""
