"""The permission of the compositor to take the focus."""

import os

import pytest

from aeon_popup.hotkey.portal import hand_on_token


def test_the_newest_token_is_handed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Qt finds the token of the last activation that had one; an activation without a token leaves it in place."""
    monkeypatch.setenv("XDG_ACTIVATION_TOKEN", "of the start")
    seen = []
    for token in ("", "first", "second", ""):
        hand_on_token(token)
        seen.append(os.environ["XDG_ACTIVATION_TOKEN"])
    assert seen == ["of the start", "first", "second", "second"]
