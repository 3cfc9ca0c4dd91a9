"""A template for a run that asks a question and writes."""

POEM = """
description = "Asks for a mood and writes a poem."
task = "Write a poem."
hints = ["poem"]
instructions = "You write one line."
tools = ["request_user_input"]
example = { subject = "rain" }

[inputs.subject]
description = "What it is about"
"""
