"""Engines without a process of ours: a remote server, and the scripted engine of tests and benchmarks.

Entry point: `remote_engine.RemoteEngine` and `scripted_engine.ScriptedEngine`.
Must not know how models share an engine.
"""
