"""The daemon as an MCP server: runs as tools, facts of the memory as resources.

Entry point: `server.mcp_server`, served over stdio or as an ASGI application.
Must not know the daemon: it is a client of the API, like every façade.
"""
