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
that, or if something is missing in the request, reply only: {mark}"""

# What the rules speak of; every other tool is named to the model.
_IN_RULES: Final = frozenset(
    {"calculator", "echo", "now", "request_user_input"}
    | {"list_dir", "read_file", "search_files", "write_file"}
    | {"memory_read", "memory_search", "memory_write"}
)
_OTHER_TOOLS: Final = "\nThe same goes for what these can do:\n{tools}"

# A request, the tool without which the example says nothing, and the reply.
_EXAMPLES: Final = (
    ("Hi, how are you?", "", "I am well, thank you!"),
    ("What is the square root of 5329?", "calculator", TOOLS),
    ("Who painted the Mona Lisa?", "", "Leonardo da Vinci painted the Mona Lisa."),
    ("Is the week over yet?", "now", TOOLS),
    ("Say 'sleep well' in Dutch.", "", "It is 'slaap lekker'."),
    ("Where is Paris mentioned?", "search_files", TOOLS),
    (
        "Make up a riddle about a candle.",
        "",
        "Tall when I am young, short when I am old, and a breath is the end of me. What am I?",
    ),
    ("Shorten it.", "request_user_input", TOOLS),
    ("When did the Titanic sink?", "", "It sank in April 1912."),
    ("When does Mia land?", "memory_search", TOOLS),
    (
        "Give me two reasons to learn to swim.",
        "",
        "It keeps the body fit, and it can save your life.",
    ),
    ("Make up a story about rain and save it.", "write_file", TOOLS),
    ("Is a whale a fish?", "", "No, it is a mammal."),
    ("A coat for 80 euros is a quarter off. What does it cost?", "calculator", TOOLS),
    (
        "How does a kettle work?",
        "",
        "It heats the water with an electric element until it boils.",
    ),
    ("What is the longest bone in the body?", "", "It is the thigh bone."),
)

_FIRST_CLAUSE: Final = re.compile(r"(?<=\w)[.;:(,]")


def chat_opening(specs: Sequence[ToolSpec]) -> tuple[Message, ...]:
    """What every chat begins with; () where none of the examples takes a tool of these."""
    names = {spec.name for spec in specs}
    shown = [(request, reply) for request, tool, reply in _EXAMPLES if not tool or tool in names]
    if not any(reply == TOOLS for _, reply in shown):
        return ()
    messages = [Message(Role.SYSTEM, _RULES.format(talking=TALKING, mark=TOOLS) + _others(specs))]
    for request, reply in shown:
        messages += [Message(Role.USER, request), Message(Role.AGENT, reply)]
    return tuple(messages)


def chat_messages(run: RunSnapshot, opening: Sequence[Message]) -> tuple[Message, ...]:
    """The run's request behind the opening, with what the session brought."""
    return (*opening, Message(Role.USER, in_session(run)))


def _others(specs: Sequence[ToolSpec]) -> str:
    told = [_in_short(spec) for spec in specs if spec.name not in _IN_RULES]
    return _OTHER_TOOLS.format(tools="\n".join(told)) if told else ""


def _in_short(spec: ToolSpec) -> str:
    """A tool by its name and the first clause of what it is for."""
    return f"{spec.name}: {_FIRST_CLAUSE.split(spec.description.strip(), maxsplit=1)[0]}"
