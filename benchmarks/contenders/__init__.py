"""Programs that do the same work, each in a separate process."""
