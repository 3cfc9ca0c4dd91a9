"""The commands of aeonctl, one module for each family. Heavy modules are imported when a command runs.

Entry point: COMMANDS of each module, by place in the help; `aeon_cli.main` adds them.
Must not know how text is laid out: that is in `aeon_cli.text` and `aeon_cli.runs`.
"""
