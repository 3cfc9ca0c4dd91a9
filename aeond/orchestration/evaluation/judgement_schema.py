"""What a model answers under when it profiles a task or judges a plan or a pass.

Only what every engine's grammar compiler honours: objects with all their properties, enums, bounded
texts and arrays, integer ranges. Shares are whole percents, since ranges of fractions are not honoured.
"""

from collections.abc import Sequence
from typing import Final

from aeond.domain.plans.evaluations import Issue, Severity
from aeond.domain.plans.profiles import Breadth, ConfidenceLevel, TaskProfile, ToolUsage
from aeond.domain.values import JsonObject, JsonValue
from aeond.orchestration.evaluation.convergence import Scores
from aeond.schemas.parts import as_object, closed_object, is_list

MAX_MODEL_ISSUES: Final = 3
MAX_TEXT_CHARS: Final = 120
MAX_WHY_CHARS: Final = 80
WHOLE: Final = "all"  # an issue of the plan or the pass as a whole

# The kinds of issue that a model may report, each with the reason code of the issue.
KINDS: Final = {
    "vague": "SPECIFICITY",
    "irrelevant": "RELEVANCE",
    "contradiction": "CONSISTENCY",
    "invented": "HALLUCINATION",
    "wrong_action": "DO_SAY_MISMATCH",
}

_PERCENT: Final[JsonObject] = {"type": "integer", "minimum": 0, "maximum": 100}
_TEXT: Final[JsonObject] = {"type": "string", "maxLength": MAX_TEXT_CHARS}
_SCORES: Final = ("completeness", "coherence", "consistency")

PROFILE_SCHEMA: Final = closed_object(
    {
        "depth": {"type": "integer", "minimum": 1, "maximum": 5},
        "known": _PERCENT,
        "tools": {"enum": list(ToolUsage)},
        "breadth": {"enum": list(Breadth)},
        "confidence": {"enum": list(ConfidenceLevel)},
        "why": {"type": "string", "maxLength": MAX_WHY_CHARS},
    }
)


def read_profile(value: JsonValue) -> TaskProfile:
    """The profile in a value that satisfies PROFILE_SCHEMA."""
    said = as_object(value)
    return TaskProfile(
        reasoning_depth=_whole(said["depth"]),
        information_sufficiency=_whole(said["known"]) / 100,
        expected_tool_usage=ToolUsage(str(said["tools"])),
        output_breadth=Breadth(str(said["breadth"])),
        confidence_requirement=ConfidenceLevel(str(said["confidence"])),
        raw_inference=str(said["why"]),
    )


def judgement_schema(step_ids: Sequence[str], *, scored: bool) -> JsonObject:
    """Issues of these steps or of the whole; with `scored`, the three scores after them."""
    issue = closed_object(
        {
            "step": {"enum": [*step_ids, WHOLE]},
            "kind": {"enum": list(KINDS)},
            "severity": {"enum": list(Severity)},
            "problem": _TEXT,
            "repair": _TEXT,
        }
    )
    issues: JsonObject = {"type": "array", "items": issue, "minItems": 0, "maxItems": MAX_MODEL_ISSUES}
    scores: JsonObject = dict.fromkeys(_SCORES if scored else (), _PERCENT)
    return closed_object({"issues": issues, **scores})


def read_issues(value: JsonValue) -> tuple[Issue, ...]:
    """The issues in a value that satisfies a judgement's schema."""
    found = as_object(value)["issues"]
    return tuple(_issue(as_object(item)) for item in found) if is_list(found) else ()


def read_scores(value: JsonValue) -> Scores:
    """The scores in a value that satisfies a scored judgement's schema."""
    said = as_object(value)
    return Scores(*(_whole(said[name]) / 100 for name in _SCORES))


def _issue(said: JsonObject) -> Issue:
    step = str(said["step"])
    return Issue(
        KINDS[str(said["kind"])],
        Severity(str(said["severity"])),
        "" if step == WHOLE else step,
        str(said["problem"]),
        str(said["repair"]),
    )


def _whole(value: JsonValue) -> int:
    return int(value) if isinstance(value, int | float) else 0  # 3.0 is a whole number to JSON Schema
