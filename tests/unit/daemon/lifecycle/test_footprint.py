"""Returning memory to the system."""

import subprocess
import sys

SETTLING = """
import json, zoneinfo, decimal  # code that runs once
from pathlib import Path
from aeond.daemon.lifecycle.footprint import give_back, settle, share_arenas

def resident():
    return int(Path("/proc/self/statm").read_text().split()[1])

share_arenas()
kept = json.dumps(list(range(1000)))
waste = [bytes(1000) for _ in range(50_000)]
del waste
before = resident()
settle()
assert resident() < before, (before, resident())
assert json.loads(kept)[-1] == 999 and decimal.Decimal("1.1") + 1 == decimal.Decimal("2.1")
assert str(zoneinfo.ZoneInfo("Europe/Berlin")) == "Europe/Berlin"
worked = resident()
give_back()
assert resident() < worked, (worked, resident())
assert json.loads(kept)[-1] == 999
"""

COLLECTING = """
import gc, weakref
from aeond.daemon.lifecycle.footprint import settle, start_lean

class Node:
    pass

start_lean()
settle()
node = Node()
node.itself = node
gone = weakref.ref(node)
del node
more = [[] for _ in range(100_000)]
assert gone() is None
"""

STEPPING = """
import gc
from aeond.daemon.lifecycle.footprint import settle, start_lean

looks = []
start_lean()
settle()
gc.callbacks.append(lambda phase, about: looks.append(about["generation"]) if phase == "stop" else None)
more = [[] for _ in range(10_000)]
assert len(looks) >= 8, looks
assert looks.count(0) >= 3 * looks.count(1), looks
assert 2 not in looks, looks
"""


def test_a_process_that_settles_is_smaller_and_works() -> None:
    """Giving back what starting, or work, needed makes the process smaller and breaks nothing."""
    subprocess.run([sys.executable, "-c", SETTLING], check=True, timeout=60)


def test_garbage_is_collected_after_a_process_has_settled() -> None:
    """Objects that hold each other are freed in a process that goes on making others."""
    subprocess.run([sys.executable, "-c", COLLECTING], check=True, timeout=60)


def test_garbage_is_looked_for_in_small_steps() -> None:
    """Of ten thousand new objects a thousand are looked at in each step, so that nothing waits long for one, and no step looks at
    everything."""
    subprocess.run([sys.executable, "-c", STEPPING], check=True, timeout=60)
