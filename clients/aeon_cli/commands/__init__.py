"""The commands of aeonctl, one module for each family. Heavy modules are imported when a command runs.

Entry point: Each command is registered in `aeon_cli.main`.
Must not know how text is laid out: that is in `aeon_cli.text` and `aeon_cli.runs`.
"""
