"""Requests for several things: each part is carried out as a request of its own, one after another.

Entry point: `in_parts.InParts`.
Must not know any tool by name, any natural language, or the engine behind the model.
"""
