"""The file tools, and safe access to files below the folders of a run.

Entry point: `contained_files.ContainedFiles`.
Must not know the registry, the invoker or the kernel.
"""
