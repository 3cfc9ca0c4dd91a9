"""The memory of the popup's process."""

import subprocess
import sys

LEAN = """
import sys
from aeon_popup.footprint import leave_out_openssl

leave_out_openssl()
import asyncio, hashlib, hmac, uuid
from aeon_popup.background.link import Link

assert asyncio.run(asyncio.sleep(0, 7)) == 7
assert hashlib.sha256(b"x").hexdigest().startswith("2d711642")
assert not any("libcrypto" in line for line in open("/proc/self/maps"))
"""
GIVING_BACK = """
import json, zoneinfo, decimal  # code that runs once
from pathlib import Path
from aeon_popup.footprint import give_back

def resident():
    return int(Path("/proc/self/statm").read_text().split()[1])

before = resident()
give_back()
assert resident() < before, (before, resident())
assert decimal.Decimal("1.1") + 1 == decimal.Decimal("2.1")
assert str(zoneinfo.ZoneInfo("Europe/Berlin")) == "Europe/Berlin"
"""


def run(program: str) -> None:
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_the_connection_works_without_openssl() -> None:
    """asyncio, hashlib and the popup's connection are imported without loading OpenSSL, and work."""
    run(LEAN)


def test_a_process_that_gives_back_is_smaller_and_works() -> None:
    """Giving back unchanged pages makes the process smaller and breaks nothing."""
    run(GIVING_BACK)
