"""The llama.cpp engine: its host process, prompt prefill and the prefix cache.

Entry point: `engine.LlamaEngine`; `host` is the program of the process.
Must not know vLLM or how models share an engine.
"""
