"""Templates of subtasks: the files that come with aeond, and reading of any such file.

Entry point: `loading` and `subtask_tools`.
Must not know how a template is chosen or how a child run works.
"""
