"""Repair of malformed model output: JSON text, tool calls, steps. Form is repaired, meaning never added.

Entry point: `supervisor.Supervisor`.
Must not know the kernel, capabilities or the phases that use it.
"""
