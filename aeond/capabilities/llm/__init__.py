"""Models behind the LLMAdapter port, and the engine processes that run them.

Entry point: `sharing.shared_llm.SharedLLM`, `adapters` and `agent`.
Must not know runs, plans or what a prompt is for.
"""
