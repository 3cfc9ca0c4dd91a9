"""Scripts that each do the same thing, each in a process of its own."""
