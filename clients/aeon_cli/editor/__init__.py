"""The agent that `aeonctl acp` offers to editors, in the Agent Client Protocol.

Entry point: `editor.agent.EditorAgent`. Its library, agent-client-protocol, comes with the extra `acp`.
Must not know: terminals, and the other commands of aeonctl.
"""
