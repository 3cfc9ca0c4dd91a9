"""Preparation and execution of single steps: bound arguments, intents, agent steps, templates.

Entry point: `intents.PreparedIntents` and `agent_steps.AgentReasoner`.
Must not know the kernel, capabilities or how the plan was made.
"""
