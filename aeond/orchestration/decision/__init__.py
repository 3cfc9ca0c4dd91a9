"""One decision at a time: the action that comes next for a request.

Entry point: `decider.Decider`.
Must not know any tool by name, any natural language, or the engine behind the model.
"""
