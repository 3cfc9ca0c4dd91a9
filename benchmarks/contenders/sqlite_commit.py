"""The floor: one row committed and synced, by the same SQLite, in the same mode, on the same disk.

usage: sqlite_commit.py FOLDER COMMITS
"""

import json
import sys
from pathlib import Path
from time import perf_counter

import apsw

ROW = b"x" * 500  # about the size of one of our events


def main() -> None:
    folder, commits = Path(sys.argv[1]), int(sys.argv[2])
    connection = apsw.Connection(str(folder / "floor.db"))
    connection.pragma("journal_mode", "wal")
    connection.pragma("synchronous", "full")
    connection.execute("CREATE TABLE events (row INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT")
    seconds = []
    for _ in range(commits):
        begun = perf_counter()
        connection.execute("INSERT INTO events (body) VALUES (?)", (ROW,))
        seconds.append(perf_counter() - begun)
    connection.close()
    print(json.dumps(seconds))


if __name__ == "__main__":
    main()
