"""The lines of a workspace that share most with a request.

Entry point: `related_lines.related_lines`.
Must not know the tools, the registry or the kernel.
"""
