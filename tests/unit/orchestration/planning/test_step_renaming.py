from aeond.domain.plans.plan import PlanStep
from aeond.domain.tools import ToolCall
from aeond.orchestration.planning.step_renaming import renamed_step
from tests.support.strategy import calls, thinks

NAMES = {"s1": "s2_1", "s2": "s2"}


def test_every_reference_follows_the_step() -> None:
    """A step's own id, what it waits for and what it refers to, however deep, get the new names; paths stay."""
    step = calls("s2", "store", "s1", key="k", value=[{"from": "$s1.text and $s1[0]"}, 5, None])
    assert renamed_step(step, NAMES) == PlanStep(
        "s2",
        "store something",
        ToolCall("store", {"key": "k", "value": [{"from": "$s2_1.text and $s2_1[0]"}, 5, None]}),
        depends_on=("s2_1",),
    )


def test_a_task_follows_too() -> None:
    """References in the task of an agent are renamed; what only looks like one is not."""
    step = thinks("s1", "Put $s1 beside $s12 and $s3, for $5.")
    assert renamed_step(step, NAMES).description == "Put $s2_1 beside $s12 and $s3, for $5."
    assert renamed_step(step, NAMES).step_id == "s2_1"
