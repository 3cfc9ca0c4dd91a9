"""The sets that `make eval` knows."""

from typing import Final

from tests.eval.references import judge_references
from tests.eval.verdicts import EvalSet
from tests.eval.work import judge_plain, judge_work

SETS: Final = (
    EvalSet("references", 0.95, judge_references),
    EvalSet("work", 0.85, judge_work),
    EvalSet("plain", 0.0, judge_plain),  # the same requests without routing, to compare with
)
