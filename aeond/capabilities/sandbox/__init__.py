"""Tool calls apart from the daemon: a runner in a process of its own, which nothing of a call outlives."""
