"""Implementations of ports: tools, models, memory and journal. They do not know each other."""
