"""Writes animated PNG files, which browsers show wherever they show a PNG."""

import struct
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from PySide6.QtCore import QBuffer, QIODevice, QRect
from PySide6.QtGui import QImage, QPainter

_SIGNATURE = b"\x89PNG\r\n\x1a\n"


@dataclass(frozen=True)
class Frame:
    """A picture and how many milliseconds it is shown. All pictures of a film have one size."""

    image: QImage
    milliseconds: int


def animated_png(frames: Sequence[Frame]) -> bytes:
    """The film, which starts again after its last frame. Of each frame it has the part that differs from the frame before."""
    first = frames[0].image
    numbers = iter(range(2 * len(frames)))
    chunks = dict(_chunks(_png(first)))
    made = [_SIGNATURE, _chunk(b"IHDR", chunks[b"IHDR"]), _chunk(b"acTL", struct.pack(">II", len(frames), 0))]
    made += [
        _control(next(numbers), first.rect(), frames[0].milliseconds),
        _chunk(b"IDAT", _data(_png(first))),
    ]
    for before, frame in pairwise(frames):
        place = changed(before.image, frame.image)
        data = _data(_png(frame.image.copy(place)))
        made.append(_control(next(numbers), place, frame.milliseconds))
        made.append(_chunk(b"fdAT", struct.pack(">I", next(numbers)) + data))
    return b"".join((*made, _chunk(b"IEND", b"")))


def frames_of(film: bytes) -> Iterator[Frame]:
    """The whole frames of such a film."""
    canvas, head, place, delay = QImage(), b"", QRect(), 0
    for name, data in _chunks(film):
        match name:
            case b"IHDR":
                head = data
                width, height = struct.unpack_from(">II", head)
                canvas = QImage(width, height, QImage.Format.Format_RGB888)
            case b"fcTL":
                width, height, x, y, delay = struct.unpack_from(">IIIIH", data, 4)
                place = QRect(x, y, width, height)
            case b"IDAT" | b"fdAT":
                size = struct.pack(">II", place.width(), place.height()) + head[8:]
                parts = (
                    _chunk(b"IHDR", size),
                    _chunk(b"IDAT", data[4 * (name == b"fdAT") :]),
                    _chunk(b"IEND", b""),
                )
                painter = QPainter(canvas)
                painter.drawImage(place.topLeft(), QImage.fromData(_SIGNATURE + b"".join(parts)))
                painter.end()
                yield Frame(canvas.copy(), delay)
            case _:
                pass


def changed(before: QImage, after: QImage) -> QRect:
    """The smallest rectangle that has everything that differs; one pixel if nothing does."""
    rows = [y for y in range(after.height()) if _row(before, y) != _row(after, y)]
    if not rows:
        return QRect(0, 0, 1, 1)
    spans = [_span(_row(before, y), _row(after, y)) for y in rows]
    left, right = min(start for start, _ in spans), max(end for _, end in spans)
    return QRect(left // 3, rows[0], right // 3 - left // 3 + 1, rows[-1] - rows[0] + 1)


def _span(before: bytes, after: bytes) -> tuple[int, int]:
    places = [place for place, (one, other) in enumerate(zip(before, after, strict=True)) if one != other]
    return places[0], places[-1]


def _row(image: QImage, y: int) -> bytes:
    start = y * image.bytesPerLine()
    return bytes(memoryview(image.constBits())[start : start + 3 * image.width()])


def _png(image: QImage) -> bytes:
    """The picture as Qt writes it, with three bytes for each pixel."""
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.convertToFormat(QImage.Format.Format_RGB888).save(buffer, "PNG", 0)  # type: ignore[call-overload]
    return bytes(buffer.data().data())


def _data(png: bytes) -> bytes:
    return b"".join(data for name, data in _chunks(png) if name == b"IDAT")


def _chunks(png: bytes) -> Iterator[tuple[bytes, bytes]]:
    place = len(_SIGNATURE)
    while place < len(png):
        (length,) = struct.unpack_from(">I", png, place)
        yield png[place + 4 : place + 8], png[place + 8 : place + 8 + length]
        place += length + 12


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def _control(number: int, place: QRect, milliseconds: int) -> bytes:
    """A frame's place and time; it stays when the next one comes, and replaces what was there."""
    size = (place.width(), place.height(), place.x(), place.y())
    return _chunk(b"fcTL", struct.pack(">IIIIIHHBB", number, *size, milliseconds, 1_000, 0, 0))
