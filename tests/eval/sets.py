"""The sets that `make eval` knows."""

from typing import Final

from tests.eval.references import judge_references
from tests.eval.simple import judge_simple
from tests.eval.verdicts import EvalSet
from tests.eval.work import judge_chat, judge_depth, judge_flat, judge_shallow, judge_work

SETS: Final = (
    EvalSet("references", 0.95, judge_references),
    EvalSet("work", 0.85, judge_work),
    EvalSet("flat", 0.0, judge_flat),  # the same requests as a plan in one flat schema, to compare with
    EvalSet("chat", 0.0, judge_chat),  # those that need no tool as a plain chat, to compare with
    EvalSet("simple", 0.0, judge_simple),  # what anybody might ask, to the daemon and in a plain chat
    EvalSet("depth", 0.0, judge_depth),  # harder requests, all of them planned
    EvalSet("shallow", 0.0, judge_shallow),  # the same without profile, judgement and refinement
)
