"""The sets that `make eval` knows."""

from functools import partial
from pathlib import Path
from typing import Final

from tests.eval.bfcl.judging import judge_bfcl
from tests.eval.case_files import read_case_file
from tests.eval.everyday import judge_placed
from tests.eval.own_sets import judge_everyday, judge_hard, judge_simple
from tests.eval.references import OWN, STRANGERS, references_set
from tests.eval.scenarios.judging import judge_scenarios
from tests.eval.scenarios.scenario import LIBRARY
from tests.eval.scenarios.scenario import STRANGERS as STRANGER_SCENARIOS
from tests.eval.subjects import Subject
from tests.eval.subtasks.judging import judge_subtasks
from tests.eval.verdicts import EvalSet, OnVerdict, Terms

OPEN: Final = "open"
FOLDER: Final = Path(__file__).parent / "sets"
CHANGES: Final = Path(__file__).parent / "changes"


def set_of_file(name: str, path: Path, *, quiet: bool = False) -> EvalSet:
    """The set in a file of cases, which is read when it is judged."""

    async def judge(subject: Subject, terms: Terms, on_verdict: OnVerdict) -> None:
        await judge_placed(read_case_file(path), subject, terms, on_verdict)

    return EvalSet(name, 0.0, judge, quiet)


SETS: Final = (
    EvalSet("everyday", 0.80, judge_everyday),
    references_set("references", 0.95, OWN),
    references_set("references_strangers", 0.0, STRANGERS),  # written by people who did not see the product
    EvalSet("bfcl", 0.85, judge_bfcl),
    EvalSet("subtasks", 0.90, judge_subtasks),
    EvalSet("reach", 0.70, partial(judge_scenarios, LIBRARY)),
    *(
        EvalSet(f"strangers_{path.stem}", 0.0, partial(judge_scenarios, path))
        for path in sorted(STRANGER_SCENARIOS.glob("*.toml"))
    ),
    EvalSet("simple", 0.0, judge_simple),  # what anyone might ask, to the daemon and in a plain chat
    EvalSet("hard", 0.0, judge_hard),
    # Of changes of files, on which ADR 0091 and ADR 0093 were found.
    *(set_of_file(path.stem, path) for path in sorted(CHANGES.glob("*.toml"))),
    # Written by people who did not see the product: for daily work, so that the open set stays a measure.
    *(set_of_file(path.stem, path) for path in sorted(FOLDER.glob("*.toml"))),
)
