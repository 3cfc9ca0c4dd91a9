"""Tools that use the web: pages, requests and searches.

Entry point: `tool_set.web_tools`.
Must not know how a connection is decided on or opened.
"""
