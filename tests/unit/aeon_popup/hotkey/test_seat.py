"""How much of a window others cover."""

from aeon_popup.hotkey.seat import Place, covered

WINDOW = Place(100, 100, 200, 100)


def test_areas_that_overlap_count_once() -> None:
    """The covered area is that of the union of the windows in front, as far as it is within the window."""
    assert covered(WINDOW, []) == 0
    assert covered(WINDOW, [Place(0, 0, 1280, 800)]) == 200 * 100
    assert covered(WINDOW, [Place(0, 0, 100, 800), Place(300, 0, 10, 800)]) == 0
    left, middle, inside = Place(90, 90, 60, 60), Place(140, 100, 20, 300), Place(145, 110, 5, 5)
    assert covered(WINDOW, [left, middle, inside, Place(0, 0, 0, 0)]) == 50 * 50 + 20 * 100 - 10 * 50
