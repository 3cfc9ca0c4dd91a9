"""Agents beside the built-in `llm`: the one that comes with aeond, and those of users.

Entry point: `reader.Reader` and `loading.load_agents`.
Must not know plans, runs or which model answers.
"""
