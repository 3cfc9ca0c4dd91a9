"""Aider, an editor of source code by a model: the tools aider and apply_changes.

Entry point: `tools.aider_tools`.
Must not know which model answers, or how it is paid for.
"""
