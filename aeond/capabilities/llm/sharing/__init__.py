"""Sharing of one engine between models: scheduling, idle policy and reactions to memory pressure.

Entry point: `shared_engine.SharedEngine` and `shared_llm.SharedLLM`.
Must not know the kind of engine it shares.
"""
