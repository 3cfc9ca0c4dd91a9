"""The popup's window on X11: its focus, held keys, and whether the user sees it."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import xcffib
import xcffib.xproto

from aeon_popup.hotkey.x11 import connect, keycodes_of

_ESCAPE_KEYSYM = 0xFF1B
# The source of a request for the focus: the user, not a program on its own.
_FROM_USER = 2
# What window managers report at the root window and, the workspace, at each window.
_ACTIVE, _CURRENT = "_NET_ACTIVE_WINDOW", "_NET_CURRENT_DESKTOP"
_WORKSPACE, _STACKING = "_NET_WM_DESKTOP", "_NET_CLIENT_LIST_STACKING"
_STATE, _HIDDEN = "_NET_WM_STATE", "_NET_WM_STATE_HIDDEN"
# The workspace of a window that is on all of them.
_ALL = 0xFFFFFFFF
_MOST_VALUES = 4096


@dataclass(frozen=True, slots=True)
class Place:
    """A rectangle of the screen."""

    x: int
    y: int
    width: int
    height: int


def covered(place: Place, others: list[Place]) -> int:
    """The area of a rectangle that others cover, in pixels."""
    left, top, right, bottom = place.x, place.y, place.x + place.width, place.y + place.height
    boxes = [
        (max(one.x, left), max(one.y, top), min(one.x + one.width, right), min(one.y + one.height, bottom))
        for one in others
    ]
    boxes = [box for box in boxes if box[0] < box[2] and box[1] < box[3]]
    xs = sorted({x for box in boxes for x in (box[0], box[2])})
    ys = sorted({y for box in boxes for y in (box[1], box[3])})
    return sum(
        (x2 - x1) * (y2 - y1)
        for x1, x2 in pairwise(xs)
        for y1, y2 in pairwise(ys)
        if any(box[0] <= x1 and x2 <= box[2] and box[1] <= y1 and y2 <= box[3] for box in boxes)
    )


class Seat:
    """Gives a window of ours the focus, and knows whether the user sees it and which keys are held, on a connection of its
    own.

    Qt asks with the time of the last key that it has seen itself. The hotkey is not among them, so that a window
    manager that prevents the stealing of focus would refuse.
    """

    def __init__(self, display: str = "") -> None:
        """Connects to the display. Raises xcffib.ConnectionException."""
        self._connection = connect(display)
        self._root = self._connection.get_setup().roots[self._connection.pref_screen].root
        self._atoms = {
            name: self._atom(name) for name in (_ACTIVE, _CURRENT, _WORKSPACE, _STACKING, _STATE, _HIDDEN)
        }
        self._escape = keycodes_of(self._connection, _ESCAPE_KEYSYM)

    def activate(self, window: int) -> None:
        """Asks the window manager for the focus, then moves it away and to the window: Qt does not notice the focus of a
        window that was hidden a few milliseconds before. Errors are ignored: the window may not be mapped yet.
        """
        types: Any = xcffib.xproto
        data = types.ClientMessageData.synthetic([_FROM_USER, 0, 0, 0, 0], "5I")
        event = types.ClientMessageEvent.synthetic(32, window, self._atoms[_ACTIVE], data)
        mask = xcffib.xproto.EventMask.SubstructureNotify | xcffib.xproto.EventMask.SubstructureRedirect
        self._connection.core.SendEvent(False, self._root, mask, event.pack())
        for target in (xcffib.xproto.InputFocus.PointerRoot, window):
            self._connection.core.SetInputFocus(xcffib.xproto.InputFocus.Parent, target, 0)
        self._connection.flush()
        while self._drop_error():
            pass

    def shows(self, window: int) -> bool | None:
        """Whether the user sees a mapped window: it is on the workspace that is shown, and it has the focus of the window
        manager or other windows cover less than half of it. None if the window manager does not tell.
        """
        try:
            return self._shows(window)
        except xcffib.Error:
            return None

    def _shows(self, window: int) -> bool:
        current = self._property(self._root, _CURRENT)
        if self._atoms[_HIDDEN] in self._property(window, _STATE) or not self._is_on(window, current):
            return False
        stack = self._property(self._root, _STACKING)
        if self._property(self._root, _ACTIVE) == [window] or window not in stack:
            return True
        place = self._place(window)
        higher = stack[stack.index(window) + 1 :]
        above = [self._place(one) for one in higher if self._is_on(one, current) and self._is_mapped(one)]
        return 2 * covered(place, above) < place.width * place.height

    def _is_on(self, window: int, workspace: list[int]) -> bool:
        """Whether a window is on a workspace, or on all. A window that was shown just now has none yet: it is on this one."""
        own = self._property(window, _WORKSPACE)
        return not own or not workspace or own[0] in {workspace[0], _ALL}

    def _is_mapped(self, window: int) -> bool:
        state = self._connection.core.GetWindowAttributes(window).reply().map_state
        return bool(state == xcffib.xproto.MapState.Viewable)

    def _place(self, window: int) -> Place:
        size = self._connection.core.GetGeometry(window).reply()
        corner = self._connection.core.TranslateCoordinates(window, self._root, 0, 0).reply()
        return Place(corner.dst_x, corner.dst_y, size.width, size.height)

    def _property(self, window: int, name: str) -> list[int]:
        """The numbers in a property; none if the window does not have it."""
        anything = xcffib.xproto.GetPropertyType.Any
        reply = self._connection.core.GetProperty(
            False, window, self._atoms[name], anything, 0, _MOST_VALUES
        ).reply()
        return list(reply.value.to_atoms()) if reply.format == 32 else []

    def _atom(self, name: str) -> int:
        return int(self._connection.core.InternAtom(False, len(name), name).reply().atom)

    def escape_is_held(self) -> bool:
        """Whether Escape is down: a release that Qt reports meanwhile is part of a repeat."""
        pressed = self._connection.core.QueryKeymap().reply().keys
        return any(pressed[code // 8] >> code % 8 & 1 for code in self._escape)

    def _drop_error(self) -> bool:
        """Whether there was an error or event, which is dropped."""
        try:
            return self._connection.poll_for_event() is not None
        except xcffib.ConnectionException:
            return False
        except xcffib.Error:
            return True


def is_composited(display: str = "") -> bool:
    """Whether a compositing manager draws the windows of the display, so that they can be translucent."""
    connection = connect(display)
    try:
        name = f"_NET_WM_CM_S{connection.pref_screen}"
        atom = connection.core.InternAtom(False, len(name), name).reply().atom
        return bool(connection.core.GetSelectionOwner(atom).reply().owner)
    finally:
        connection.disconnect()
