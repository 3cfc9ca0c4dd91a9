"""What a person wants with a request, as probabilities.

Entry point: `purposes.probabilities`.
Must not know any tool by name, any natural language, or the engine behind the model.
"""
