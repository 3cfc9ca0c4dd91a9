"""JSON Schemas: compiled and checked with bounded work, made from models, and reduced to what engines enforce.

Entry point: `compiled.CompiledSchema`, `checker.SchemaChecker`, `engine_core.compile_schema`, `models.model_schema`.
Must not know tools, plans, engines or prompts.
"""
