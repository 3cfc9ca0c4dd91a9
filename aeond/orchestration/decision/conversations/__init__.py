"""Short conversations beside that of a decision, each about one thing that a small model does badly there.

Entry point: `redirection.Redirection`, `composing.Composer`, `knowledge.general_reply`, `whole_things.means_part`.
Must not know any tool by name, or the engine behind the model.
"""
