"""Choosing by meaning: the Template for a subtask, and the tools that fit a request.

Entry point: `template_choice.TemplateChooser` and `tool_ranking.ToolRanking`.
Must not know the kernel, capabilities or where vectors come from.
"""
