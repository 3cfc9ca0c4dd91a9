"""What a model is told in a chat that comes before everything else: to reply, or to say that it takes tools.

It is short, since what stands before a reply makes each of its words slower and worse. Its topics are far from
everyday requests on purpose: small models copy what they see.
"""

import re
from collections.abc import Sequence
from typing import Final

from aeond.domain.messages import Message, Role
from aeond.domain.runs import RunSnapshot
from aeond.domain.tools import ToolSpec
from aeond.orchestration.prompts import TALKING, in_session

TOOLS: Final = "@tools"  # what no reply has in it, and what no reply begins like

_RULES: Final = """\
{talking}
What you can do by yourself, you answer at once: talk, explain, translate, write, give ideas, tell facts of the \
world. You cannot calculate, tell the time, look into files, remember anything or know anything about the user. For \
that, or if something is missing in the request, reply only: {mark}
Then these tools are used:
{tools}"""

# A request, the tool without which the example says nothing, and the reply.
_EXAMPLES: Final = (
    ("Hi, how are you?", "", "I am well, thank you! How can I help you?"),
    ("Where did I write about Paris?", "search_files", TOOLS),
    ("Who painted the Mona Lisa?", "", "The Mona Lisa was painted by Leonardo da Vinci."),
    ("Make up a haiku about rain and save it to rain.txt", "write_file", TOOLS),
    ("Say 'sleep well' in Dutch.", "", "'Sleep well' is 'slaap lekker' in Dutch."),
    ("Keep in mind: my gate is B7 and my seat is 14C.", "memory_write", TOOLS),
    ("Is a whale a fish?", "", "No, a whale is a mammal: it breathes air and nurses its young."),
    ("Note my blood group.", "request_user_input", TOOLS),
    (
        "Make up a riddle about a candle.",
        "",
        "I am tall when I am young and short when I am old, and a breath is the end of me. What am I?",
    ),
    ("How many hours are 5 days and 7 hours?", "calculator", TOOLS),
    (
        "How does a kettle work?",
        "",
        "An element at the bottom heats the water until it boils, and a thermostat switches it off.",
    ),
    ("Is the week over yet?", "now", TOOLS),
    ("When did the Titanic sink?", "", "The Titanic sank in April 1912."),
    ("Spell this word backwards.", "request_user_input", TOOLS),
    (
        "Give me two reasons to learn to swim.",
        "",
        "Swimming keeps the whole body fit, and it can save your life.",
    ),
    ("What is my seat?", "memory_read", TOOLS),
    (
        "Why do leaves fall in autumn?",
        "",
        "Trees drop their leaves to save water and strength for the winter.",
    ),
    ("Who is greeted in card.txt?", "read_file", TOOLS),
    (
        "Write two lines about an owl.",
        "",
        "The owl looks down from its tree at night,\nand hunts in silence by the moon's pale light.",
    ),
)

_FIRST_CLAUSE: Final = re.compile(r"(?<=\w)[.;:(,]")


def chat_opening(specs: Sequence[ToolSpec]) -> tuple[Message, ...]:
    """What every chat begins with; () where none of the examples takes a tool of these."""
    names = {spec.name for spec in specs}
    shown = [(request, reply) for request, tool, reply in _EXAMPLES if not tool or tool in names]
    if not any(reply == TOOLS for _, reply in shown):
        return ()
    rules = _RULES.format(talking=TALKING, mark=TOOLS, tools="\n".join(map(_in_short, specs)))
    messages = [Message(Role.SYSTEM, rules)]
    for request, reply in shown:
        messages += [Message(Role.USER, request), Message(Role.AGENT, reply)]
    return tuple(messages)


def chat_messages(run: RunSnapshot, opening: Sequence[Message]) -> tuple[Message, ...]:
    """The run's request behind the opening, with what the session brought."""
    return (*opening, Message(Role.USER, in_session(run)))


def _in_short(spec: ToolSpec) -> str:
    """A tool by its name and the first clause of what it is for."""
    return f"{spec.name}: {_FIRST_CLAUSE.split(spec.description.strip(), maxsplit=1)[0]}"
