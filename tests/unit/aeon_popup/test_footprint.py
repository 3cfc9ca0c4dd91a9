"""The memory of the popup's process."""

import subprocess
import sys

import pytest

from aeon_popup.footprint import unchanged

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
GIVING_BACK_DATA = """
import re, decimal, sqlite3
from pathlib import Path
from aeon_popup.footprint import give_back

def resident():
    found = re.findall(r"^\\S+ r--p \\S+ \\S+ [1-9]\\d* .*\\n(?:\\w+: .*\\n)*?Rss: +(\\d+)", Path("/proc/self/smaps").read_text(), re.M)
    return sum(map(int, found))

before = resident()
give_back()
assert resident() < before / 2, (before, resident())
assert sqlite3.connect(":memory:").execute("select 1 + 1").fetchone() == (2,)
"""
MAPPED = """7f10{n}000-7f10{n}800 {rights} 00000000 fe:00 {inode}                     /usr/lib/libx.so
Size:                  4 kB
Anonymous:             {anonymous} kB
Swap:                  {swap} kB
VmFlags: rd mr mw me
"""


def run(program: str) -> None:
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_the_connection_works_without_openssl() -> None:
    """asyncio, hashlib and the popup's connection are imported without loading OpenSSL, and work."""
    run(LEAN)


def test_a_process_that_gives_back_is_smaller_and_works() -> None:
    """Giving back unchanged pages makes the process smaller and breaks nothing."""
    run(GIVING_BACK)


@pytest.mark.parametrize(
    ("rights", "inode", "anonymous", "swap", "is_unchanged"),
    [
        ("r--p", 7, 0, 0, True),
        ("r-xp", 7, 0, 0, True),
        ("r--p", 7, 8, 0, False),
        ("r--p", 7, 0, 8, False),
        ("rw-p", 7, 0, 0, False),
        ("r--p", 0, 0, 0, False),
        ("r--s", 7, 0, 0, False),
    ],
)
def test_only_pages_that_are_as_in_their_file_are_given_back(
    rights: str, inode: int, anonymous: int, swap: int, is_unchanged: bool
) -> None:
    """A range that was changed when it was loaded is kept, also while it is swapped out; so is one that can be written or has no file."""
    first = MAPPED.format(n=1, rights="r-xp", inode=7, anonymous=0, swap=0)
    second = MAPPED.format(n=2, rights=rights, inode=inode, anonymous=anonymous, swap=swap)
    expected = [(0x7F101000, 0x7F101800), *([(0x7F102000, 0x7F102800)] if is_unchanged else [])]
    assert list(unchanged(first + second)) == expected


def test_read_only_parts_of_libraries_are_given_back() -> None:
    """Of a process that has loaded libraries, more than its code is given back."""
    run(GIVING_BACK_DATA)
