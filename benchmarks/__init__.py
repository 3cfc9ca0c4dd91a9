"""Benchmarks of steps, streams, start-up and calls: aeond, comparable systems, and the machine's own floor,
in one run."""
