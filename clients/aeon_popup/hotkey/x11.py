"""The hotkey on X11: a grab of the key on the root window, on a connection of its own."""

import asyncio
import itertools
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import xcffib
import xcffib.xkb
import xcffib.xproto

from aeon_popup.hotkey.chord import Chord

_CAPS_LOCK = 0x02
_NUM_LOCK_KEYSYM, _SCROLL_LOCK_KEYSYM = 0xFF7F, 0xFF14
_CORE_KEYBOARD = 0x100
_DETECTABLE_AUTO_REPEAT = 0x01
_CHOOSE = "choose another hotkey, or none, with `aeon-popup --install --hotkey KEYS` and restart it (`--quit`, `--show`)."


class HotkeyTakenError(Exception):
    """Another program has grabbed the key, or no key of the keyboard produces it."""


class Grab:
    """A grabbed hotkey. `pressed` is called once for each press, however long the key is held; `repeated` for each
    repeat of a held key.

    The key is grabbed with every combination of Caps Lock, Num Lock and Scroll Lock. While it is held, the X server
    sends presses only, which are ignored until the release.
    """

    def __init__(
        self,
        chord: Chord,
        pressed: Callable[[], None],
        repeated: Callable[[], None] = lambda: None,
        display: str = "",
    ) -> None:
        """Connects to the display ("": that of the environment). Raises xcffib.ConnectionException."""
        self._chord = chord
        self._pressed = pressed
        self._repeated = repeated
        self._connection = connect(display)
        self._root = self._connection.get_setup().roots[self._connection.pref_screen].root
        self._held = False
        self._keycodes: tuple[int, ...] = ()

    def arm(self) -> None:
        """Grabs the key. Raises HotkeyTakenError if another program has it."""
        self._detect_auto_repeat()
        self._grab()

    async def listen(self) -> None:
        """Reports presses until it is cancelled or the display has ended."""
        loop = asyncio.get_running_loop()
        ended = asyncio.Event()

        def read() -> None:
            try:
                self._take_events()
            except xcffib.ConnectionException:
                ended.set()

        descriptor = self._connection.get_file_descriptor()
        loop.add_reader(descriptor, read)
        try:
            read()
            await ended.wait()
        finally:
            loop.remove_reader(descriptor)
            with suppress(xcffib.ConnectionException):
                self._connection.disconnect()

    def _take_events(self) -> None:
        while (event := self._connection.poll_for_event()) is not None:
            match event:
                case xcffib.xproto.KeyReleaseEvent():
                    self._held = False
                case xcffib.xproto.KeyPressEvent() if not self._held:
                    self._held = True
                    self._pressed()
                case xcffib.xproto.KeyPressEvent():
                    self._repeated()
                case xcffib.xproto.MappingNotifyEvent():
                    self._ungrab()
                    with suppress(HotkeyTakenError):
                        self._grab()
                case _:
                    pass

    def _detect_auto_repeat(self) -> None:
        """Without this the X server reports a held key as many releases and presses."""
        keyboard = self._connection(xcffib.xkb.key)
        keyboard.UseExtension(1, 0).reply()
        flag = _DETECTABLE_AUTO_REPEAT
        keyboard.PerClientFlags(_CORE_KEYBOARD, flag, flag, 0, 0, 0).reply()

    def _grab(self) -> None:
        self._keycodes = keycodes_of(self._connection, self._chord.keysym)
        if not self._keycodes:
            raise HotkeyTakenError(f"No key of this keyboard produces {self._chord.text}: {_CHOOSE}")
        mode = xcffib.xproto.GrabMode.Async
        cookies = [
            self._connection.core.GrabKeyChecked(True, self._root, self._chord.mask | locks, code, mode, mode)
            for code in self._keycodes
            for locks in self._lock_masks()
        ]
        try:
            for cookie in cookies:
                cookie.check()
        except xcffib.xproto.AccessError as error:
            self._ungrab()
            raise HotkeyTakenError(f"Another program uses {self._chord.text}: {_CHOOSE}") from error

    def _ungrab(self) -> None:
        for code in self._keycodes:
            for locks in self._lock_masks():
                self._connection.core.UngrabKey(code, self._root, self._chord.mask | locks)
        self._connection.flush()

    def _lock_masks(self) -> set[int]:
        """Every combination of the modifier bits of the lock keys."""
        mapping = self._connection.core.GetModifierMapping().reply()
        width = mapping.keycodes_per_modifier
        bits = {_CAPS_LOCK}
        for keysym in (_NUM_LOCK_KEYSYM, _SCROLL_LOCK_KEYSYM):
            codes = set(keycodes_of(self._connection, keysym))
            bits |= {
                1 << index
                for index in range(8)
                if codes & set(mapping.keycodes[index * width : (index + 1) * width])
            }
        return {sum(chosen) for size in range(len(bits) + 1) for chosen in itertools.combinations(bits, size)}


def keycodes_of(connection: Any, keysym: int) -> tuple[int, ...]:
    """The keys that produce this symbol without a modifier."""
    setup = connection.get_setup()
    first, count = setup.min_keycode, setup.max_keycode - setup.min_keycode + 1
    mapping = connection.core.GetKeyboardMapping(first, count).reply()
    width = mapping.keysyms_per_keycode
    return tuple(first + index for index in range(count) if mapping.keysyms[index * width] == keysym)


def connect(display: str) -> Any:
    """A connection to the display; xcffib has no types. Raises xcffib.ConnectionException."""
    open_connection: Any = xcffib.connect
    return open_connection(display or None)
