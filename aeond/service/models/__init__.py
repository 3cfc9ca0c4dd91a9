"""Use cases on models: text generation, the resident model, prompt warmup.

Entry point: `models.Models`.
Must not know the wire format, the kernel or concrete capabilities.
"""
