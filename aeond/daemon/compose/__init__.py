"""The composition root: the only code that knows concrete classes of every layer.

Entry point: `daemon.composed`.
Must not know how anything works: it constructs objects and connects them.
"""
