"""Tools: the registry of their names, the one guarded way to call them, and the built-in ones."""
