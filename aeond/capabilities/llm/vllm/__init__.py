"""The vLLM engine: launcher, prefill pacing, model conversion and LoRA adapters.

Entry point: `engine.VllmEngine`; `launcher` is the program of the process.
Must not know llama.cpp or how models share an engine.
"""
