"""Lets a program in the daemon's sandbox draw on our terminal, and nothing else.

Terminals obey sequences that write to the clipboard, report their title as if it were typed, print, or start programs. What
draws is a short list: colours, moving, erasing, scrolling and modes. Everything else is left out.
"""

from typing import Final

_DRAWING: Final = frozenset(b"@ABCDEFGHIJKLMPSTXZ`abdefghlmnrsu")
_SHORT: Final = frozenset(b"78=>MDEH")
_STRINGS: Final = frozenset(b"]PX^_")  # OSC, DCS, SOS, PM, APC: up to BEL or ST
_CHARACTER_SETS: Final = frozenset(b"()")
_CONTROLS: Final = frozenset(b"\a\b\t\n\r\x0e\x0f")
_ESCAPE: Final = 0x1B
MAX_SEQUENCE: Final = 64


class ScreenFilter:
    """Filters the output of a program; a sequence may be cut between two pieces."""

    def __init__(self) -> None:
        self._begun = bytearray()  # a sequence that is not complete
        self._in_string = False
        self._lead = False  # the first byte of a two-byte character, whose second decides

    def drawn(self, output: bytes) -> bytes:
        """The part that draws."""
        kept = bytearray()
        for byte in output:
            if self._in_string:
                self._in_string = not (byte == 0x07 or (byte == ord("\\") and self._begun == b"\x1b"))
                self._begun = bytearray(b"\x1b" if byte == _ESCAPE and self._in_string else b"")
            elif self._begun:
                kept += self._continued(byte)
            elif self._lead:
                self._lead = False
                if byte >= 0xA0:  # below are control characters of one byte: C1
                    kept += bytes((0xC2, byte))
            elif byte == _ESCAPE:
                self._begun.append(byte)
            elif byte == 0xC2:
                self._lead = True
            elif 0x20 <= byte != 0x7F or byte in _CONTROLS:
                kept.append(byte)
        return bytes(kept)

    def _continued(self, byte: int) -> bytes:
        """What a sequence is worth with this byte: b"" if it is not complete, or does not draw."""
        if byte == _ESCAPE:
            self._begun = bytearray(b"\x1b")
            return b""
        self._begun.append(byte)
        sequence, kind = bytes(self._begun), self._begun[1]
        if len(sequence) == 2 and (kind == ord("[") or kind in _CHARACTER_SETS):
            return b""
        if kind == ord("[") and 0x20 <= byte < 0x40 and len(sequence) < MAX_SEQUENCE:
            return b""
        self._begun.clear()
        self._in_string = len(sequence) == 2 and kind in _STRINGS
        if kind == ord("["):
            return (
                sequence
                if byte in _DRAWING and not any(0x20 <= one < 0x30 for one in sequence[2:-1])
                else b""
            )
        if kind in _CHARACTER_SETS:
            return sequence if byte in b"B0" else b""
        return sequence if kind in _SHORT else b""
