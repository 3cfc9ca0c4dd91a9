"""Implementations of the LLMAdapter port, one for each kind of server, and what they share.

Entry point: `llama_cpp.LlamaCppAdapter`, `vllm.VllmAdapter`, `remote.RemoteAdapter` and `scripted.ScriptedLLM`.
Must not know how an engine process is started or when its model is unloaded.
"""
