"""The permission of the compositor to take the focus, and the repeats of a held key."""

import os

import pytest

from aeon_popup.hotkey.portal import Key, hand_on_token


def test_the_newest_token_is_handed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Qt finds the token of the last activation that had one; an activation without a token leaves it in place."""
    monkeypatch.setenv("XDG_ACTIVATION_TOKEN", "of the start")
    seen = []
    for token in ("", "first", "second", ""):
        hand_on_token(token)
        seen.append(os.environ["XDG_ACTIVATION_TOKEN"])
    assert seen == ["of the start", "first", "second", "second"]


def test_the_repeats_of_a_held_key_are_no_presses() -> None:
    """Activations that follow each other are one press until the key is released; without a release, until a pause."""
    key = Key()
    assert [key.pressed(at) for at in (0.0, 0.6, 0.64, 1.5)] == [True, False, False, False]
    key.release()
    assert [key.pressed(at) for at in (1.6, 2.2, 3.3)] == [True, False, True]
