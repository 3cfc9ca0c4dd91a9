"""Runs that stop: the run boundary that contains bugs, and waits for input, other runs or disk space.

Entry point: `run_boundary.RunBoundary`.
Must not know the wire format, the kernel or concrete capabilities.
"""
