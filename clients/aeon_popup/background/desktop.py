"""The popup's place in the desktop: session bus, single instance, hotkey and notifications."""

import os
from collections.abc import Callable

import xcffib
from dbus_fast.errors import DBusFastError

from aeon_popup.background.browser import open_link
from aeon_popup.background.bus import Bus
from aeon_popup.background.motion import Motion
from aeon_popup.background.notify import Notifier
from aeon_popup.background.worker import Worker
from aeon_popup.hotkey.chord import Chord
from aeon_popup.hotkey.portal import PortalShortcut
from aeon_popup.hotkey.x11 import Grab, HotkeyTakenError
from aeon_popup.state.happenings import HotkeySet
from aeon_popup.state.notices import Notice
from aeon_popup.trace import Trace

_UNWANTED = "None is wanted. `aeon-popup --toggle` opens and closes the window."


class Desktop:
    """Connects in the background. In the worker's thread it calls `act` with actions of the bus and the hotkey, `reply`
    with the key of a run and the action of its notification, `armed` with the hotkey, `animate` with
    whether the desktop wants animations, and `unopened` with the address of a link that nothing could open. The first action is
    `ready`, or `yield` if another instance is running.
    """

    def __init__(
        self,
        worker: Worker,
        chord: Chord | None,
        trace: Trace,
        *,
        act: Callable[[str], None],
        reply: Callable[[str, str], None],
        armed: Callable[[HotkeySet], None],
        animate: Callable[[bool], None],
        unopened: Callable[[str], None],
    ) -> None:
        self._worker = worker
        self._chord = chord
        self._trace = trace
        self._act = act
        self._reply = reply
        self._armed = armed
        self._animate = animate
        self._unopened = unopened
        self._bus = Bus(act)
        self._notifier: Notifier | None = None

    def start(self) -> None:
        self._worker.start_soon(self._connect)

    def notify(self, notice: Notice) -> None:
        """Shows a notification; callable from any thread."""
        self._worker.start_soon(lambda: self._show(notice))

    def close_notice(self, key: str) -> None:
        """Closes the notification of a run; callable from any thread."""
        self._worker.start_soon(lambda: self._close(key))

    def open_link(self, address: str) -> None:
        """Opens an address in the user's programs; callable from any thread."""
        self._worker.start_soon(lambda: self._open(address))

    async def _connect(self) -> None:
        try:
            alone = await self._bus.connect()
        except (OSError, EOFError, DBusFastError) as error:
            self._trace("no-bus", error=str(error))
            alone = True
        if not alone:
            self._act("yield")
            return
        self._act("ready")
        if self._bus.connection is not None:
            self._notifier = Notifier(self._bus.connection, self._reply)
            await self._notifier.start()
            self._worker.start_soon(Motion(self._bus.connection, self._note_motion).run)
        await self._arm()

    async def _arm(self) -> None:
        """The portal where there is Wayland, else a grab on X11, else a key that the user binds; nothing if no hotkey is wanted."""
        chord, connection = self._chord, self._bus.connection
        if chord is None:
            self._note_armed(HotkeySet(problem=_UNWANTED, absent=True))
            return
        if connection is not None and os.environ.get("WAYLAND_DISPLAY"):
            portal = PortalShortcut(connection, chord, self._pressed, self._note_armed, self._note_repeat)
            await portal.run()
            return
        if os.environ.get("DISPLAY"):
            try:
                grab = Grab(chord, self._pressed, self._note_repeat)
                grab.arm()
            except (HotkeyTakenError, xcffib.ConnectionException) as error:
                self._note_armed(HotkeySet(problem=str(error)))
                return
            self._note_armed(HotkeySet(chord.text))
            await grab.listen()
            return
        problem = "This desktop has neither a shortcuts portal nor X11."
        self._note_armed(HotkeySet(problem=problem, absent=True))

    def _pressed(self) -> None:
        self._trace("pressed")
        self._act("toggle")

    def _note_repeat(self) -> None:
        self._trace("repeat")

    def _note_armed(self, hotkey: HotkeySet) -> None:
        self._trace("armed", shortcut=hotkey.shortcut, problem=hotkey.problem, absent=hotkey.absent)
        self._armed(hotkey)

    def _note_motion(self, wanted: bool) -> None:
        self._animate(wanted)
        self._trace("motion", wanted=wanted)

    async def _show(self, notice: Notice) -> None:
        if self._notifier is not None:
            await self._notifier.show(notice)
            self._trace("notified", summary=notice.summary)

    async def _open(self, address: str) -> None:
        by = await open_link(self._bus.connection, address)
        self._trace("opened", by=by)
        if not by:
            self._unopened(address)

    async def _close(self, key: str) -> None:
        if self._notifier is not None:
            await self._notifier.close(key)
