"""The bound on what one user stores, with two users of one daemon."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.support.daemon_process import Overrides
from tests.support.outsiders import OTHER_UID
from tests.support.stages import staged
from tests.support.storing_user import done_as

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as another user")

NEIGHBOUR_UID = 1_001
FULL = "USER_STORAGE_FULL"
ASK = ["request_user_input", {"prompt": "Which colour?"}]
REMEMBER = ["remember", {"key": "colour", "value": "red"}]
ECHO = ["echo", {"text": "x" * 4_000}]


def test_a_user_who_fills_the_limit_stores_nothing_more(folder: Path) -> None:
    """A user at the limit is refused new runs, forks, sessions and facts, over a restart too, while a run that waits is answered
    and completed, another user is not refused, and deleting makes room.
    """
    folder.chmod(0o755)
    overrides: Overrides = {
        "socket": {"mode": "0666"},
        "daemon": {"max_stored_mib_per_user": 1},
        "policy": {"profile": "trusted-folder"},
    }
    with staged(folder, overrides) as stage:

        def mine(*calls: Sequence[object]) -> list[Any]:
            return done_as(OTHER_UID, stage.socket, *calls)

        ended, waiting, session = mine(["run", ECHO], ["run", ASK, ECHO], ["session"])
        (remembering,) = mine(["run", ASK, REMEMBER])
        mine(["watch", ended])
        filled = mine(*(["write", f"key{number}", 200_000] for number in range(6)))
        assert filled == ["written"] * 4 + [FULL] * 2
        refused: list[list[object]] = [
            ["run", ECHO],
            ["fork", ended],
            ["session"],
            ["write", "new", 1],
            ["write", "key0", 200_001],
        ]
        assert mine(*refused) == [FULL] * len(refused)
        theirs = done_as(NEIGHBOUR_UID, stage.socket, ["session"], ["write", "key", 1], ["run", ECHO])
        assert FULL not in theirs
        stage.daemon.restart()
        assert mine(*refused) == [FULL] * len(refused)
        for run_id, outcome in ((waiting, ["succeeded", "", ""]), (remembering, ["failed", "", FULL])):
            calls = (["answer", run_id, "red"], ["watch", run_id], ["steps", run_id])
            assert mine(*calls)[::2] == [run_id, outcome]
        assert mine(["delete run", ended], ["delete session", session]) == ["deleted"] * 2
        assert mine(["write", "key0", 1], ["run", ECHO])[0] == "written"
        assert FULL not in mine(["forget", "key1"], ["session"], ["write", "new", 1], ["run", ECHO])
