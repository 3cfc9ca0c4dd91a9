"""The maximum cost of each operation, reserved before it starts, and the minimum below which it does not
start.
"""

from dataclasses import replace
from typing import Final

from aeond.domain.runs.budgets import Amounts
from aeond.domain.runs.run import Operation

NOTHING: Final = Amounts()
PLANNING: Final = Amounts(llm_calls=3, tokens=18_000)
PLANNING_MINIMUM: Final = Amounts(llm_calls=1, tokens=1)
TOOL_STEP: Final = Amounts(ttl=1, tool_calls=1, llm_calls=2, tokens=8_000)
TOOL_STEP_MINIMUM: Final = Amounts(ttl=1, tool_calls=1)
ASKING_TOOL_STEP: Final = Amounts(ttl=1, tool_calls=1, llm_calls=8, tokens=40_000)
AGENT_STEP: Final = Amounts(ttl=1, llm_calls=3, tokens=12_000)
AGENT_STEP_MINIMUM: Final = Amounts(ttl=1, llm_calls=1, tokens=1)
JUDGING: Final = Amounts(llm_calls=2, tokens=12_000)  # anything else before the answer
ANSWERING: Final = Amounts(llm_calls=2, tokens=12_000)

_CHATTING: Final = 3  # the logic version since which a direct reply is tried before a route is chosen
_ASKING: Final = 4  # the one since which a decision may ask what the request is about, and be made again
_CHECKING: Final = 5  # the one since which a decision has room for every question that it may ask
_DIVIDING: Final = 6  # the one since which a request may be cut into parts, each with questions of its own


def lacking(left: Amounts, want: Amounts) -> str:
    """The dimension in which less is available than requested, or "". Distinguishes a run out of budget
    (BUDGET_SPENT) from a limit of the single operation.
    """
    return Amounts(llm_calls=1, tokens=want.tokens).exceeding(left)


def before_answer(logic_version: int, operation: Operation, *, direct: bool) -> Amounts:
    """For an operation before the answer; `direct` is that of a run that decides action by action.

    Since _ASKING what a request means in its session is asked before it is rewritten, in two ways if need be. A decision may
    ask what the request is about, be made again and write an argument in a conversation; since _CHECKING what was written may be checked
    and written again too, and since _DIVIDING a decision may be one about several parts of the request.
    """
    asks, checks, divides = (logic_version >= since for since in (_ASKING, _CHECKING, _DIVIDING))
    if operation is Operation.ROUTE and logic_version >= _CHATTING:
        if checks:
            return Amounts(llm_calls=14, tokens=50_000) if divides else Amounts(llm_calls=10, tokens=36_000)
        return Amounts(llm_calls=6, tokens=24_000) if asks else Amounts(llm_calls=3, tokens=14_000)
    if asks and operation is Operation.EVALUATE and direct:
        if checks:
            return Amounts(llm_calls=12, tokens=44_000) if divides else Amounts(llm_calls=8, tokens=30_000)
        return Amounts(llm_calls=5, tokens=20_000)
    return Amounts(llm_calls=3, tokens=12_000) if asks and operation is Operation.RESOLVE else JUDGING


def tool_step(left: Amounts, *, asks: bool) -> Amounts:
    """For a call of a tool. One that `asks` the model itself gets a fifth of the model calls and tokens that the run has left,
    and at least ASKING_TOOL_STEP."""
    if not asks:
        return TOOL_STEP
    least = ASKING_TOOL_STEP
    return replace(
        least,
        llm_calls=max(least.llm_calls, left.llm_calls // 5),
        tokens=max(least.tokens, left.tokens // 5),
    )
