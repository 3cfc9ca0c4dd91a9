"""Short conversations beside that of the decision, for what a small model does badly there.

Each has its own instructions and examples, and shows only what it is about. Entry points: `knowledge.Knowledge`,
`composing.Composer` and `part_or_whole.PartOrWhole`.
"""
