"""The sets that `make eval` knows."""

from typing import Final

from tests.eval.references import judge_references
from tests.eval.verdicts import EvalSet
from tests.eval.work import judge_depth, judge_plain, judge_shallow, judge_work

SETS: Final = (
    EvalSet("references", 0.95, judge_references),
    EvalSet("work", 0.85, judge_work),
    EvalSet("plain", 0.0, judge_plain),  # the same requests without routing, to compare with
    EvalSet("depth", 0.0, judge_depth),  # harder requests, all of them planned
    EvalSet("shallow", 0.0, judge_shallow),  # the same without profile, judgement and refinement
)
