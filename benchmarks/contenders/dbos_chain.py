"""DBOS on SQLite: a chain of ten steps, each recorded before the next begins.

Runs in the contenders' own environment, where nothing of ours is installed.
usage: dbos_chain.py FOLDER CHAINS
"""

import json
import logging
import sys
from pathlib import Path
from time import perf_counter

from dbos import DBOS

STEPS = 10


@DBOS.step()
def echo(text: str) -> str:
    return text


@DBOS.workflow()
def chain_of_ten(text: str) -> str:
    for _ in range(STEPS):
        text = echo(text)
    return text


def main() -> None:
    folder, chains = Path(sys.argv[1]), int(sys.argv[2])
    logging.disable(logging.WARNING)
    DBOS(
        config={
            "name": "chain",
            "system_database_url": f"sqlite:///{folder / 'dbos.db'}",
            "run_admin_server": False,
        }
    )
    DBOS.launch()
    seconds = []
    for _ in range(chains):
        begun = perf_counter()
        answer = chain_of_ten("hello")
        seconds.append((perf_counter() - begun) / STEPS)
        assert answer == "hello"
    DBOS.destroy()
    print(json.dumps(seconds))


if __name__ == "__main__":
    main()
