"""The kernel: the journaling loop of a run and the execution of single steps.

Entry point: `orchestrator.Orchestrator`.
Must not know a tool, prompt, file, socket or clock, nor orchestration or capabilities.
"""
