"""A durable step in a chain of ten: aeond, comparable systems, and the unavoidable commit."""

from pathlib import Path

from benchmarks.measuring import OURS, THEIRS, Contender, in_turns
from benchmarks.page import Section, microseconds, verdict

ROUNDS = 7

FLOOR = Contender("one synced SQLite commit", OURS, "sqlite_commit.py", count=110, warm_up=10)
AEOND = Contender("aeond", OURS, "aeond_in_process.py", ("compute",), count=30, warm_up=5)
WRITING = Contender(
    "aeond, steps that write files", OURS, "aeond_in_process.py", ("write",), count=30, warm_up=5
)
OVER_SOCKET = Contender("aeond, client in another process", OURS, "aeond_chain.py", count=30, warm_up=5)
LANGGRAPH = Contender("LangGraph, SqliteSaver, sync", THEIRS, "langgraph_chain.py", ("sync",))
DBOS = Contender("DBOS on SQLite", THEIRS, "dbos_chain.py")
UNSTORED = Contender(
    "LangGraph, nothing stored", THEIRS, "langgraph_chain.py", ("none",), count=30, warm_up=5
)


def measure(folder: Path) -> Section:
    """Runs all contenders in alternation; one table."""
    contenders = (FLOOR, AEOND, WRITING, OVER_SOCKET, LANGGRAPH, DBOS, UNSTORED)
    turns = in_turns(contenders, ROUNDS, folder)
    aims = {
        AEOND.name: f"of the floor {verdict(turns.ratio(AEOND.name, FLOOR.name), at_most=2.5)}; "
        f"of LangGraph {verdict(turns.ratio(AEOND.name, LANGGRAPH.name), at_most=1 / 3)}",
    }
    return Section(
        "A durable step",
        "A chain of ten trivial steps, divided by ten; every caller is in the same process. aeond's"
        " chain is a whole run: request, plan, scheduler, validation in both directions, intent and"
        " outcome of each step on disk, every event to its watchers, answer. Steps that only compute"
        " share commits, as described in ADR 0008. Below them: ten steps that each write a file and sync"
        " it and its folder, started when their intent is on disk; and the computing run requested and"
        " watched over the socket by a client in another process. The floor is the commit of one row"
        " with `synchronous=FULL`; `undisturbed` is the tenth percentile; a ratio is the median of the"
        " ratios of adjacent rounds.",
        ("who", "a step", "undisturbed", "of the floor", "of aeond", "aim"),
        tuple(
            (
                name,
                microseconds(turns.whole(name).median),
                microseconds(turns.whole(name).fastest_tenth),
                f"{turns.ratio(name, FLOOR.name):.1f}",
                f"{turns.ratio(name, AEOND.name):.2f}",
                aims.get(name, ""),
            )
            for name in (contender.name for contender in contenders)
        ),
    )
