"""A durable step in a chain of ten: ours, others', and the commit that none of them can avoid."""

from pathlib import Path

from benchmarks.measuring import OURS, THEIRS, Contender, in_turns
from benchmarks.page import Section, microseconds, verdict

ROUNDS = 5

FLOOR = Contender("one synced SQLite commit", OURS, "sqlite_commit.py", count=110, warm_up=10)
AEOND = Contender("aeond", OURS, "aeond_in_process.py", count=30, warm_up=5)
OVER_SOCKET = Contender("aeond, client in another process", OURS, "aeond_chain.py", count=30, warm_up=5)
LANGGRAPH = Contender("LangGraph, SqliteSaver, sync", THEIRS, "langgraph_chain.py", ("sync",))
DBOS = Contender("DBOS on SQLite", THEIRS, "dbos_chain.py")
UNSTORED = Contender(
    "LangGraph, nothing stored", THEIRS, "langgraph_chain.py", ("none",), count=30, warm_up=5
)


def measure(folder: Path) -> Section:
    """Everyone in turns, one table."""
    samples = in_turns((FLOOR, AEOND, OVER_SOCKET, LANGGRAPH, DBOS, UNSTORED), ROUNDS, folder)
    floor, ours, langgraph = (samples[who.name].median for who in (FLOOR, AEOND, LANGGRAPH))
    aims = {
        FLOOR.name: "",
        AEOND.name: f"of the floor {verdict(ours / floor, at_most=2.5)}; "
        f"of LangGraph {verdict(ours / langgraph, at_most=1 / 3)}",
    }
    return Section(
        "A durable step",
        "A chain of ten trivial steps, divided by ten; for everyone the caller is in the same process. aeond's "
        "chain is a whole run: request, plan, scheduler, validation both ways, intent and outcome of each step on "
        "disk, every event to whoever watches, answer. Below it the same run asked for and watched over the "
        "socket by a client in another process. The floor is the commit of one row with `synchronous=FULL`; "
        "`undisturbed` is the tenth percentile.",
        ("who", "a step", "undisturbed", "of the floor", "of aeond", "aim"),
        tuple(
            (
                name,
                microseconds(sample.median),
                microseconds(sample.fastest_tenth),
                f"{sample.median / floor:.1f}",
                f"{sample.median / ours:.2f}",
                aims.get(name, ""),
            )
            for name, sample in samples.items()
        ),
    )
