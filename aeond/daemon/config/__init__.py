"""Configuration: every key with its type and default, the files, paths and secrets it names, reloading.

Entry point: `schema.Config` and `files.load_config`.
Must not know the objects that are built from it.
"""
