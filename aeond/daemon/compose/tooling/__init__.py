"""Composes the sources of tools: files, sandboxes, and MCP servers.

Entry point: `tools.own_tools`, `mcp.opened_mcp`.
Must not know runs or orchestration.
"""
