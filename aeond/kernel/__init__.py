"""The bounded kernel: it decides and records; it knows no tool, prompt, file, socket or clock."""
