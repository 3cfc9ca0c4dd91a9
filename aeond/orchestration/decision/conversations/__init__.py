"""Short conversations beside that of a decision, each about one thing that a small model does badly there.

Entry point: `knowledge.Knowledge`, `composing.Composer`, `part_or_whole.PartOrWhole`, `change.change_odds`.
Must not know any tool by name, or the engine behind the model.
"""
