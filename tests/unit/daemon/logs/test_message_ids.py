"""Ids of the kinds of log records."""

import ast
import re

from aeond.daemon.logs.message_ids import MESSAGE_IDS
from tests.support.repository import ROOT, nodes_of, python_files

CATALOGUE = ROOT / "systemd" / "aeond.catalog"


def kinds_in_code() -> set[str]:
    """Every kind that a record is given: `{"kind": "..."}`, or the first of what the story tells."""
    kinds = set()
    for path in python_files("aeond/daemon", "aeond/server", "aeond/service", "aeond/capabilities"):
        for node in nodes_of(path):
            match node:
                case ast.Dict(keys=[*keys], values=[*values]):
                    named = zip(keys, values, strict=True)
                    kinds |= {
                        value.value
                        for key, value in named
                        if isinstance(key, ast.Constant) and key.value == "kind"
                        if isinstance(value, ast.Constant) and isinstance(value.value, str)
                    }
                case ast.Return(value=ast.Tuple(elts=[ast.Constant(value=str(kind)), *_])) if (
                    path.name == "run_log.py"
                ):
                    kinds.add(kind)
                case _:
                    pass
    return kinds - {""}


def test_every_kind_has_its_id_and_no_id_is_left_over() -> None:
    """Each kind of record that the code names has a MESSAGE_ID, and none has one that nothing says."""
    assert kinds_in_code() == set(MESSAGE_IDS)


def test_ids_are_ids() -> None:
    """Each MESSAGE_ID is 128 bits in hexadecimal, and no two kinds share one."""
    assert all(re.fullmatch(r"[0-9a-f]{32}", message_id) for message_id in MESSAGE_IDS.values())
    assert len(set(MESSAGE_IDS.values())) == len(MESSAGE_IDS)


def test_the_catalogue_explains_every_id() -> None:
    """The catalogue that is installed has an entry with a subject and words for each id, and no other."""
    entries = re.findall(
        r"^-- ([0-9a-f]{32})\nSubject: .+\nDefined-By: aeond\n\n\S+",
        CATALOGUE.read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    assert sorted(entries) == sorted(MESSAGE_IDS.values())
