"""Evaluations without single mechanisms."""

import anyio
import pytest

from aeond.capabilities.tools.worker_threads import WorkerThreads
from aeond.domain.runs.situations import Situation
from aeond.domain.tools import Effect, ToolCall
from aeond.orchestration.decision import objections
from tests.eval.ablation_table import rows
from tests.eval.ablations import MECHANISMS, acting, without
from tests.support.strategy import TEXT, run_of, spec

KEEP = spec("keep", {"key": TEXT, "value": TEXT}, ("key", "value"), Effect.MEMORY)
INVENTED = ToolCall("keep", {"key": "gate code", "value": "4711"})


def invents() -> bool:
    found: bool = vars(objections)["is_invented"](
        INVENTED, KEEP, run_of(request="Keep the code."), Situation(), ()
    )
    return found


async def test_a_mechanism_that_acts_is_noted() -> None:
    """What acts in a task is noted by the name of the mechanism where the task was started, and nowhere else."""
    noted: list[set[str]] = []

    async def work() -> None:
        with acting() as names:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(anyio.to_thread.run_sync, invents)
            noted.append(names)

    with without([]):
        await work()
        with acting() as outside:
            pass
    assert noted == [{"invention"}]
    assert outside == set()


async def test_what_acts_in_a_thread_without_context_is_noted() -> None:
    """The daemon's own threads know no request: what acts there is noted for every request that is judged meanwhile."""
    with without([]), acting() as one, acting() as other:
        assert await WorkerThreads().run(lambda _: invents())
    assert one == other == {"invention"}


def test_without_a_mechanism_its_function_does_nothing() -> None:
    """Without the mechanism an invented number passes, nothing is noted, and afterwards it is found again."""
    with acting() as names, without(["invention"]):
        assert not invents()
    assert names == set()
    assert invents()


async def test_a_mechanism_of_one_tool_leaves_the_others() -> None:
    """A conversation that writes arguments is switched off for its own tool alone."""
    facts = MECHANISMS["facts"]
    assert facts.concerns([INVENTED, spec("remember", {}, ())])
    assert not facts.concerns([INVENTED, KEEP])


def test_an_unknown_mechanism_is_refused() -> None:
    """A name that no mechanism has ends before anything is judged."""
    with pytest.raises(KeyError, match="luck"), without(["luck"]):
        pass


def test_the_table_compares_the_same_requests() -> None:
    """Only the requests of the ablated report are counted, on both sides."""

    def report(*outcomes: tuple[str, bool, float], off: str = "") -> dict[str, object]:
        cases = [{"case": name, "right": right, "seconds": took} for name, right, took in outcomes]
        return {"without": [off] if off else [], "sets": {"one": {"cases": cases}}}

    whole = report(("a", True, 2.0), ("b", False, 4.0), ("c", True, 9.0))
    lines = list(rows(whole, [report(("a", False, 1.0), ("b", False, 2.0), off="place")]))
    assert lines[2] == "| place | 2 | 1 | 0 | 3.0 | 1.5 |"
