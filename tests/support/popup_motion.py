"""Desktops whose animations can be switched off, as the popup sees them: a double and a real one."""

from typing import Protocol

from tests.support.desktop_session import Popup


class Animate(Protocol):
    """The user switches animations on or off."""

    def __call__(self, *, wanted: bool) -> None: ...


def check_motion(popup: Popup, animate: Animate) -> None:
    """Switches animations off and on twice, and waits each time until the popup follows."""
    for wanted in (False, True, False, True):
        since = popup.seen()
        animate(wanted=wanted)
        popup.wait_for("motion", since, wanted=wanted)
