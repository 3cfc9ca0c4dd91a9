"""Programs that run in a sandbox until they are stopped, such as MCP servers.

Entry point: `process.server_process`.
Must not know what the programs speak.
"""
