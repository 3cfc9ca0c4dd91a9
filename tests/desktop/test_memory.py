"""The memory of the popup while it waits in the background."""

import psutil

from tests.support.desktop_session import Popup

MOST_BYTES = 100_000_000


def resident(popup: Popup) -> int:
    return int(psutil.Process(popup.process.pid).memory_info().rss)


def test_a_hidden_window_is_small_and_opens_again(lonely: Popup) -> None:
    """After the start, after use and after a rest the popup has at most 100 MB, and a rested one opens by its hotkey."""
    lonely.wait_for("rested")
    sizes, used = [resident(lonely)], list[int]()
    for _ in range(2):
        lonely.open()
        since = lonely.seen()
        lonely.press("F1")
        shown = lonely.wait_for("command", since, name="KEYS")
        lonely.wait_for("painted", lonely.entries.index(shown))
        used.append(resident(lonely))  # two seconds after the window is hidden, what it used is given back
        since = lonely.seen()
        lonely.press("Escape", "Escape")
        lonely.wait_for("hidden", since)
        sizes.append(resident(lonely))
        lonely.wait_for("rested", since)
        sizes.append(resident(lonely))
    assert max(sizes) <= MOST_BYTES
    assert sizes[2] < used[0]
