"""The set of subtasks: its form, and its way through a real daemon, here with a scripted model."""

import json
from collections import Counter
from pathlib import Path

from aeond.capabilities.templates.loading import load_templates
from tests.eval.subjects import EngineChoice, opened_subject
from tests.eval.subtasks.judging import FOLDER, LIBRARY, judge_subtasks, read_requests
from tests.eval.verdicts import Terms, Verdict

PROOFREAD = "Go over my thank-you letter"


def test_the_set_is_complete() -> None:
    """There are 60 requests; 24 fit no template, and each of the 16 templates fits two or three."""
    fits = Counter(one.fits for one in read_requests())
    assert (fits.total(), fits.pop("")) == (60, 24)
    assert set(fits) == {file.template.name for file in load_templates([LIBRARY])}
    assert set(fits.values()) == {2, 3}


def test_no_request_was_tuned_with() -> None:
    """The requests for tuning are others."""
    files = [FOLDER / "tuning.toml", FOLDER / "tuning_own.toml"]
    tuned = {one.says for file in files for one in read_requests(file)}
    assert not tuned & {one.says for one in read_requests()}


async def test_requests_are_judged_by_the_run_that_starts(tmp_path: Path) -> None:
    """A request is right if the run of its template starts, or none where none fits; one that is wrong says what
    would be right."""
    script = tmp_path / "script.json"
    fits, kind = "Answer yes if", "Corrects the spelling, grammar and punctuation of a text."
    rules = [
        {"contains": fits, "pattern": rf"{PROOFREAD}[^\n]*\nHelper: {kind}", "text": "yes"},
        {"contains": fits, "text": "no"},
        {"contains": "Say in English", "pattern": PROOFREAD, "text": kind},
        {"contains": "Say in English", "text": "Does something else."},
        {"contains": PROOFREAD, "json": {"helper": "proofread"}},
        {"json": {"helper": "none"}},
    ]
    script.write_text(json.dumps({"rules": rules}), encoding="utf-8")
    verdicts: list[Verdict] = []
    async with opened_subject(EngineChoice("scripted", script=str(script)), tmp_path / "engine") as subject:
        await judge_subtasks(subject, Terms(wall_seconds=60, stride=30), verdicts.append)
        await judge_subtasks(subject, Terms("unit tests|Rechtschreibung", 60), verdicts.append)
    assert [(one.said, one.missed) for one in verdicts] == [
        ("proofread", ()),
        ("none", ("compare fits",)),
        ("none", ("proofread fits",)),
        ("none", ()),
    ]
