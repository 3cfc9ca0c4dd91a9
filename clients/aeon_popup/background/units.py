"""The daemon's systemd units: starting it, and whether it waits to be started by a request."""

import asyncio
from asyncio.subprocess import DEVNULL, PIPE

SECONDS = 30.0


async def start() -> str:
    """Starts the user's daemon; returns why that failed, "" if it did not."""
    words = ("--user", "start", "aeond.service")
    try:
        code, _, said = await _systemctl(*words)
    except (OSError, TimeoutError) as error:
        return f"systemctl {' '.join(words)}: {str(error) or f'no reply in {SECONDS:.0f} s'}"
    lines = said.splitlines() or ["failed"]
    return f"systemctl {' '.join(words)}: {lines[0]}" if code else ""


async def is_asleep(*, user: bool) -> bool:
    """Whether systemd listens on the socket for a daemon that is not running, the user's or that of the system: a connection
    would start it.
    """
    manager = ("--user",) if user else ()
    try:
        _, states, _ = await _systemctl(*manager, "is-active", "aeond.socket", "aeond.service")
    except (OSError, TimeoutError):
        return False
    return states.split() == ["active", "inactive"]


async def _systemctl(*words: str) -> tuple[int, str, str]:
    async with asyncio.timeout(SECONDS):
        process = await asyncio.create_subprocess_exec(
            "systemctl", *words, stdin=DEVNULL, stdout=PIPE, stderr=PIPE
        )
        out, err = await process.communicate()
    return process.returncode or 0, out.decode(errors="replace"), err.decode(errors="replace")
