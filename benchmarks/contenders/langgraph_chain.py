"""LangGraph: a chain of ten nodes, durable after each one, or not stored at all.

Runs in the contenders' own environment, where nothing of ours is installed.
usage: langgraph_chain.py {sync|none} FOLDER CHAINS
"""

import json
import sqlite3
import sys
from itertools import pairwise
from pathlib import Path
from time import perf_counter
from typing import TypedDict

from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph

STEPS = 10


class State(TypedDict):
    text: str


def echo(state: State) -> State:
    return {"text": state["text"]}


def main() -> None:
    durability, folder, chains = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    graph = StateGraph(State)
    names = [START, *(f"s{number}" for number in range(1, STEPS + 1)), END]
    for name in names[1:-1]:
        graph.add_node(name, echo)
    for earlier, later in pairwise(names):
        graph.add_edge(earlier, later)

    if durability == "none":
        compiled, options = graph.compile(), {}
    else:
        # As shown in its documentation: WAL by its own setup, SQLite's default synchronous=FULL.
        connection = sqlite3.connect(folder / "checkpoints.db", check_same_thread=False)
        compiled, options = graph.compile(checkpointer=SqliteSaver(connection)), {"durability": durability}

    seconds = []
    for chain in range(chains):
        begun = perf_counter()
        answer = compiled.invoke({"text": "hello"}, {"configurable": {"thread_id": str(chain)}}, **options)
        seconds.append((perf_counter() - begun) / STEPS)
        assert answer == {"text": "hello"}
    print(json.dumps(seconds))


if __name__ == "__main__":
    main()
