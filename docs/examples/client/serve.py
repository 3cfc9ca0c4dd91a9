"""Offers a function to the runs of its user until Ctrl-C: `aeonctl call greet name=Ann`."""

from aeond_client import serve_tools, tool


@tool(effect="read", example={"name": "Ann"})
def greet(name: str) -> str:
    """Greets a person by name."""
    return f"Hello, {name}!"


serve_tools([greet])
