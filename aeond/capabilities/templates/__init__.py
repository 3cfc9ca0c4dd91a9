"""Templates of subtasks: the files that come with aeond, and how any are read."""
