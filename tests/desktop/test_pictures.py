"""The pictures of docs/pictures, and the comparison of pictures."""

import os
from itertools import product
from pathlib import Path

import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
pytest.importorskip("PySide6.QtGui", reason="Qt is not installed here", exc_type=ImportError)

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QImage, QPainter

from aeon_popup.state import wording
from aeon_popup.ui.theme import DARK, LIGHT
from tests.support.animated_png import Frame, animated_png, frames_of
from tests.support.compared_pictures import check_picture, differences
from tests.support.daemon_process import daemon_folder
from tests.support.page_pictures import states as page_states
from tests.support.popup_pictures import every_state, fewer_colours, other_pixels, panel_of, picture_of
from tests.support.popup_recording import (
    REQUEST,
    SCRIPT,
    comparable,
    panel_in,
    recorded_frames,
    recorded_views,
)
from tests.support.popup_states import NOW
from tests.support.repository import ROOT
from tests.support.stages import staged
from tests.support.value_branches import ValueBranches

FOLDER = ROOT / "docs" / "pictures"
# On dense screens, edges lie between the pixels of usual ones, and the height of a page is rounded otherwise. The list of keys
# is in the middle of the page, half a pixel higher.
MOST_SHARE_OF_DENSE = {True: 0.015, False: 0.004}
MOST_LINES = 2


def test_every_state_has_its_pictures() -> None:
    """docs/pictures has each state of window and page in light and dark and for both densities, and no other picture
    of them.
    """
    names = [f"popup-{name}" for name in every_state()] + [f"page-{name}" for name in page_states()]
    wanted = {
        f"{name}-{scheme}{density}.png"
        for name in names
        for scheme in ("dark", "light")
        for density in ("", "@2x")
    }
    assert {path.name for path in FOLDER.glob("p*-*.png")} == wanted


def test_the_pictures_have_all_words_of_badge_and_explanation() -> None:
    """Whatever the badge and the explanation can say is in at least one picture."""
    said = ValueBranches(wording, ("badge", "explanation", "_outcome", "_kept", "_unready"))
    for view in every_state().values():
        said.function("badge")(view)
        said.function("explanation")(view, view.shown)
    assert not said.missing, "\n".join(said.missing.values())


@pytest.mark.parametrize("name", sorted(every_state()))
def test_the_pictures_show_the_window_as_it_is(name: str) -> None:
    """Each pixel of the pictures of the documentation, for both densities, is what the window draws now; if not, `make pictures`
    draws them again.
    """
    view = every_state()[name]
    for palette, (scale, density) in product((DARK, LIGHT), ((1, ""), (2, "@2x"))):
        file = f"popup-{name}-{palette.name}{density}.png"
        drawn = picture_of(name, view, palette, scale=scale)
        count = other_pixels(QImage(str(FOLDER / file)), drawn)
        assert count == 0, f"{file}: {count} pixels differ: run make pictures"


def test_one_changed_digit_is_another_picture() -> None:
    """The comparison with the pictures of the documentation notices one other digit of the smallest text."""
    view = every_state()["running"]
    shown, later = (picture_of("running", view, LIGHT, now) for now in (NOW, NOW + 1.0))
    assert other_pixels(fewer_colours(shown), shown) == 0
    assert other_pixels(fewer_colours(shown), later) > 0


@pytest.mark.parametrize("name", sorted(path.name for path in FOLDER.glob("p*@2x.png")))
def test_pictures_for_dense_screens_show_the_same(name: str) -> None:
    """A picture for screens with twice the density is the picture for usual ones, drawn with twice as many pixels."""
    dense, usual = (QImage(str(FOLDER / file)) for file in (name, name.replace("@2x", "")))
    assert dense.width() == 2 * usual.width()
    assert abs(dense.height() - 2 * usual.height()) <= 2 * MOST_LINES
    smaller = dense.scaled(
        usual.size(), Qt.AspectRatioMode.IgnoreAspectRatio, Qt.TransformationMode.SmoothTransformation
    )
    share, _ = differences(smaller, usual)
    assert share <= MOST_SHARE_OF_DENSE[name.startswith("page-keys-")], (
        f"{name}: {share:.1%} differs: run make pictures"
    )


def test_a_difference_is_kept_as_a_picture(tmp_path: Path) -> None:
    """A screen that lacks a line of text fails the comparison and leaves what was seen, expected and different."""
    expected = panel_of("running", every_state()["running"], DARK)
    seen = expected.copy()
    painter = QPainter(seen)
    painter.fillRect(0, 70, 400, 30, QColor(DARK.bg))
    painter.end()
    check_picture("same", expected.copy, expected, 0.0, tmp_path)
    with pytest.raises(AssertionError, match=r"changed: .* of the picture differs"):
        check_picture("changed", seen.copy, expected, 0.0, tmp_path)
    names = {"same.png", "changed.png", "changed-expected.png", "changed-differences.png"}
    assert {path.name for path in tmp_path.iterdir()} == names
    marked = QImage(str(tmp_path / "changed-differences.png"))
    assert marked.size() == expected.size()
    assert marked.pixelColor(110, 84) == QColor("red")


def test_a_film_has_every_frame() -> None:
    """A film has the frames that it was made of, also where nothing or little changes."""
    images = [panel_of("running", every_state()["running"], palette) for palette in (DARK, LIGHT)]
    images = [image.convertToFormat(QImage.Format.Format_RGB888) for image in images]
    images.append(images[1].copy())
    images[2].setPixelColor(300, 40, QColor("red"))
    images.append(images[2].copy())
    frames = [Frame(image, 100 + number) for number, image in enumerate(images)]
    assert list(frames_of(animated_png(frames))) == frames


def test_the_recording_ends_with_the_answer() -> None:
    """The recording in the documentation opens the window, shows a question, an answer, and closes the window."""
    film = (FOLDER / "recording-popup.png").read_bytes()
    assert len(film) < 2_000_000
    frames = list(frames_of(film))
    assert 10 < sum(frame.milliseconds for frame in frames) / 1e3 < 60
    assert len(frames) > len(REQUEST)
    first, last = frames[0].image, frames[-1].image
    middle = first.width() // 2
    assert first.pixelColor(middle, 100) == last.pixelColor(middle, 100) != QColor(DARK.bg)
    assert frames[-2].image.pixelColor(60, 60) == QColor(DARK.bg)


def test_the_recording_shows_the_window_as_it_is() -> None:
    """The typed request, the question and the answer of the recording are what the window draws now for the events of a new run;
    if not, `make recording` records it again.
    """
    frames = recorded_frames((FOLDER / "recording-popup.png").read_bytes())
    with daemon_folder() as folder, staged(folder, script=SCRIPT) as stage:
        views = recorded_views(stage.socket)
    assert list(views) == list(frames)
    for name, view in views.items():
        drawn = panel_of(name, view, DARK)
        seen = panel_in(frames[name], drawn.height())
        count = other_pixels(comparable(seen), comparable(drawn))
        assert count == 0, f"{name}: {count} pixels of the recording differ: run make recording"
