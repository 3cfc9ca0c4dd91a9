"""Compares pictures of a screen with pictures that the program draws by itself."""

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QImage

from tests.support.repository import ROOT

FOLDER = ROOT / ".cache" / "screens"
# Both pictures are compared at a quarter of their size, so that the smoothing of fonts does not count.
_SMALLER = 4
_MOST_DIFFERENCE = 40  # of a colour channel, of 255
_MOST_SHARE = 0.01  # of the pixels: a text cursor may be there or not


def differences(seen: QImage, expected: QImage) -> tuple[float, QImage]:
    """The share of differing pixels, and a picture that has them in red over the expected picture in grey."""
    first, second = _small(seen), _small(expected.scaled(seen.size()))
    marked = second.convertToFormat(QImage.Format.Format_Grayscale8).convertToFormat(
        QImage.Format.Format_RGB32
    )
    apart = np.abs(channels(first) - channels(second)).max(axis=2) > _MOST_DIFFERENCE
    for y, x in np.argwhere(apart).tolist():
        marked.setPixelColor(x, y, QColor("red"))
    share = float(apart.mean()) if seen.size() == expected.size() else 1.0
    return share, marked.scaled(seen.size())


def check_picture(
    name: str,
    take: Callable[[], QImage],
    expected: QImage,
    seconds: float,
    folder: Path = FOLDER,
    *,
    most: float = _MOST_SHARE,
) -> None:
    """Takes pictures until at most this share of one differs from the expected one, and keeps the last in .cache/screens. Raises
    AssertionError after so many seconds, and keeps the expected picture and the differences beside it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    deadline = time.monotonic() + seconds
    while True:
        seen = take()
        share, marked = differences(seen, expected)
        seen.save(str(folder / f"{name}.png"))
        if share <= most:
            return
        if time.monotonic() > deadline:
            break
    expected.save(str(folder / f"{name}-expected.png"))
    marked.save(str(folder / f"{name}-differences.png"))
    raise AssertionError(
        f"{name}: {share:.1%} of the picture differs, at most {most:.1%} may: see {folder / name}-differences.png"
    )


def _small(image: QImage) -> QImage:
    size = image.size() / _SMALLER
    return image.convertToFormat(QImage.Format.Format_RGB32).scaled(
        size, Qt.AspectRatioMode.IgnoreAspectRatio, Qt.TransformationMode.SmoothTransformation
    )


def channels(image: QImage) -> npt.NDArray[np.int16]:
    """The channels of each pixel of a picture of the format RGB32, by line and place in the line."""
    pixels = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.width(), 4)
    return pixels[:, :, :3].astype(np.int16)
