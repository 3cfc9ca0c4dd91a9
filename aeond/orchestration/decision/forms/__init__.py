"""The forms of a decision: JSON under a schema, for models that write it best, and native tool calls.

Entry point: `constrained.ConstrainedDecisions`, and `native.NativeDecisions` for models with tool calls of their own.
Must not know which action suits a request.
"""
