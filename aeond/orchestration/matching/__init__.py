"""The choice of the Template for a subtask, by meaning.

Entry point: `template_choice.TemplateChooser`.
Must not know the kernel, capabilities or where vectors come from.
"""
