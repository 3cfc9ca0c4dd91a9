"""The MCP client: the tools of configured MCP servers, registered as tools of other authors.

Entry point: `servers.Servers`; only `compose` imports this package, and only if a server is configured.
Must not know runs, sandboxes or the configuration file.
"""
