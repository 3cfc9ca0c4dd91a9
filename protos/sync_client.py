"""Generates the client without an event loop from the asyncio one, by the names that differ between them."""
# ruff: noqa: INP001 (a program beside the contracts, not a package)

import re

SOURCES = {
    "async_client.py": "client.py",
    "connection/async_connection.py": "connection/connection.py",
    "watching/async_watch.py": "watching/watch.py",
}
# A line with this mark exists only in the asyncio client; of a `try` with it, the block stays.
ASYNC_ONLY = "# async only"

NAMES = {
    r"with an asyncio event loop": "without an event loop",
    r"an async iterator": "an iterator",
    r"\basync (?=def|with|for)": "",
    r"\bawait ": "",
    r"\bAsync(?=Client|Connection|Watch|Stream|Iterator)": "",
    r"\bAsyncGenerator\[(\w+), None\]": r"Generator[\1, None, None]",
    r"\bAsyncGenerator\b": "Generator",
    r"\bStopAsyncIteration\b": "StopIteration",
    r"\basync_(?=connection|transport|watch)": "",
    r"__a(?=enter|exit|next|iter)": "__",
    r"\baclos(?=e|ing)": "clos",
    r"\basyncio\b": "time",
    r"for (\w+) in (.+):\n +yield \1\n": r"yield from \2\n",
}


def without_event_loop(source: str) -> str:
    """The source of a module for programs without an event loop, not yet formatted."""
    lines, block = [], ""
    for line in source.splitlines():
        indent = line[: len(line) - len(line.lstrip())]
        if line.endswith(ASYNC_ONLY):
            block = f"{indent}    " if line.lstrip().startswith("try:") else ""
        elif block and line.startswith(block):
            lines.append(line[4:])
        else:
            block = ""
            lines.append(line)
    text = "\n".join(lines) + "\n"
    for name, other in NAMES.items():
        text = re.sub(name, other, text)
    return text
