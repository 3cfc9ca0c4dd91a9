"""Scheduling of models: no request starves, models never mix, and switches are no more frequent than necessary."""

from dataclasses import dataclass, field
from functools import partial
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aeond.capabilities.llm.sharing.model_scheduler import ModelScheduler, SchedulerRules
from aeond.errors import OverloadedError
from tests.support.virtual_time import VirtualClock, in_virtual_time

RULES = SchedulerRules(turn_seconds=60.0, linger_seconds=1.0, max_waiting=1_000)


@dataclass
class Room:
    """A scheduler on a virtual clock, with a record of which requests were at work and when."""

    rules: SchedulerRules = RULES
    load_seconds: float = 0.0
    clock: VirtualClock = field(default_factory=VirtualClock)
    at_work: list[str] = field(default_factory=list)
    holders: list[tuple[float, str]] = field(default_factory=list)  # when each turn was first entered
    entered: list[tuple[str, float]] = field(default_factory=list)  # name of the request, when

    def __post_init__(self) -> None:
        self.turns = ModelScheduler(self.clock, self.rules)
        self.loaded_at: dict[str, float] = {}

    async def ask(self, model: str, *, after: float = 0.0, seconds: float = 1.0, name: str = "") -> None:
        """Comes after that time and is at work for so long, once its model is loaded."""
        await self.clock.sleep_until(after)
        async with self.turns.turn(model):
            assert set(self.at_work) <= {model}, "two models at once"
            self.at_work.append(model)
            self.entered.append((name or model, self.clock.monotonic()))
            try:
                if not self.holders or self.holders[-1][1] != model:
                    self.holders.append((self.clock.monotonic(), model))
                    self.loaded_at[model] = self.clock.monotonic() + self.load_seconds
                await self.clock.sleep_until(self.loaded_at[model])
                self.turns.serve()
                await anyio.sleep(seconds)
            finally:
                self.at_work.remove(model)

    @property
    def order(self) -> list[str]:
        return [name for name, _ in self.entered]


def played(room: Room, *requests: dict[str, Any]) -> Room:
    """The room after all of these requests have been served."""

    async def scene() -> None:
        async with anyio.create_task_group() as keeping:
            keeping.start_soon(room.turns.keep)
            async with anyio.create_task_group() as asking:
                for request in requests:
                    asking.start_soon(partial(room.ask, **request))
            keeping.cancel_scope.cancel()

    in_virtual_time(scene)
    assert room.turns.at_work == room.turns.waiting == 0
    return room


def test_one_model_is_not_waited_for() -> None:
    """As long as no request needs another model, every request enters at once."""
    room = played(Room(), *({"model": "a", "after": t, "seconds": 500.0} for t in (0, 1, 400)))
    assert [when for _, when in room.entered] == [0, 1, 400]


def test_another_model_waits_for_those_at_work() -> None:
    """A turn passes when the last request at work has ended, and the next model is alone."""
    room = played(
        Room(),
        {"model": "a", "seconds": 70.0},
        {"model": "b", "after": 5.0},
    )
    assert room.entered == [("a", 0), ("b", 70)]


def test_a_run_that_asks_again_keeps_its_turn() -> None:
    """A turn lingers after an answer, so that the next step of the same run needs no change of models."""
    room = played(
        Room(),
        *({"model": "a", "after": t, "seconds": 2.0} for t in (0, 2.5, 5)),
        {"model": "b", "after": 1.0},
    )
    assert room.order == ["a", "a", "a", "b"]
    assert room.entered[-1] == ("b", 8)


def test_a_turn_ends_while_others_wait() -> None:
    """A model that is asked without a pause gives way when its time is over, and has the next turn but one."""
    requests = [{"model": "a", "after": float(t), "seconds": 2.0} for t in range(200)]
    room = played(Room(load_seconds=10.0), *requests, {"model": "b", "after": 20.0, "seconds": 3.0})
    ((_, b_entered),) = [entry for entry in room.entered if entry[0] == "b"]
    assert 70 <= b_entered <= 72  # 10 s of loading, 60 s of serving, and the requests already at work
    assert room.holders[0][1] == "a"
    assert [model for _, model in room.holders] == ["a", "b", "a"]


def test_all_that_wait_for_a_model_are_served_in_its_turn() -> None:
    """A change of models serves everybody who waits for it, in the order in which they came."""
    room = played(
        Room(),
        {"model": "a", "seconds": 10.0},
        *({"model": "b", "after": t, "name": f"b{t}"} for t in (3.0, 1.0, 2.0)),
        {"model": "c", "after": 1.5, "name": "c"},
    )
    assert room.order == ["a", "b1.0", "b2.0", "b3.0", "c"]


def test_who_waits_longest_is_next() -> None:
    """Of several models that are waited for, the one of the oldest request has the next turn."""
    room = played(
        Room(),
        {"model": "a", "seconds": 10.0},
        {"model": "c", "after": 1.0},
        {"model": "b", "after": 2.0},
    )
    assert room.order == ["a", "c", "b"]


def test_the_queue_has_a_bound() -> None:
    """More requests than may wait are turned away with what to do."""
    room = Room(SchedulerRules(max_waiting=8))

    async def scene() -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(room.turns.keep)
            async with room.turns.turn("a"):
                for _ in range(8):
                    tasks.start_soon(room.ask, "b")
                await anyio.wait_all_tasks_blocked()
                with pytest.raises(OverloadedError) as refused:
                    await room.ask("b")
                assert refused.value.reason == "MODEL_QUEUE_FULL"
            tasks.cancel_scope.cancel()

    in_virtual_time(scene)


def test_who_leaves_while_waiting_is_forgotten() -> None:
    """A request that is cancelled before its turn delays no other and is not counted."""
    room = Room()

    async def scene() -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(room.turns.keep)
            async with room.turns.turn("a"):
                with anyio.move_on_after(5):
                    await room.ask("b")
                assert room.turns.waiting == 0
                await room.ask("a")
            tasks.cancel_scope.cancel()

    in_virtual_time(scene)
    assert room.order == ["a"]


def test_an_urgent_request_ends_a_turn() -> None:
    """An urgent request waits for requests at work and for nothing else: no other request enters before it."""
    room = Room()

    async def wish() -> None:
        await anyio.sleep(5)
        async with room.turns.turn("b", urgent=True):
            room.entered.append(("wish", room.clock.monotonic()))

    async def scene() -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(room.turns.keep)
            async with anyio.create_task_group() as asking:
                for after in (0.0, 4.0, 6.0):
                    asking.start_soon(partial(room.ask, "a", after=after, seconds=10.0))
                asking.start_soon(lambda: room.ask("c", after=1.0))
                asking.start_soon(wish)
            tasks.cancel_scope.cancel()

    in_virtual_time(scene)
    assert room.entered[:3] == [("a", 0), ("a", 4), ("wish", 14)]
    assert sorted(room.order[3:]) == ["a", "c"]


def test_waiting_for_a_model_that_starts_gives_way_to_what_is_urgent() -> None:
    """A model that is still starting gives way to an urgent request."""
    room = Room()
    said: list[tuple[str, float]] = []

    async def starting() -> None:
        async with room.turns.turn("a"):
            with room.turns.interruptible() as scope:
                await anyio.sleep(3_000)
            assert scope.cancelled_caught
            said.append(("a gave way", anyio.current_time()))

    async def scene() -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(room.turns.keep)
            async with anyio.create_task_group() as asking:
                asking.start_soon(starting)
                await anyio.sleep(5)
                async with room.turns.turn("b", urgent=True):
                    said.append(("b", anyio.current_time()))
            tasks.cancel_scope.cancel()

    in_virtual_time(scene)
    assert said == [("a gave way", 5), ("b", 5)]


def test_alone_means_alone() -> None:
    """Exclusive use waits for the requests at work, and no request enters until it is over."""
    room = Room()

    async def scene() -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(room.turns.keep)
            async with anyio.create_task_group() as asking:
                asking.start_soon(lambda: room.ask("a", seconds=10.0))
                asking.start_soon(lambda: room.ask("a", after=12.0))
                await anyio.sleep(1)
                async with room.turns.alone(60) as alone:
                    assert alone
                    assert anyio.current_time() == 10
                    await anyio.sleep(10)
            tasks.cancel_scope.cancel()

    in_virtual_time(scene)
    assert room.entered == [("a", 0), ("a", 20)]


def test_patience_to_be_alone_ends() -> None:
    """When requests do not end in time, it begins all the same and says so."""
    room = Room()

    async def scene() -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(room.turns.keep)
            tasks.start_soon(lambda: room.ask("a", seconds=100.0))
            await anyio.sleep(1)
            async with room.turns.alone(20) as alone:
                assert not alone
                assert anyio.current_time() == 21
            tasks.cancel_scope.cancel()

    in_virtual_time(scene)


def test_work_beside_a_turn_makes_room_for_everybody() -> None:
    """Work beside a turn does not extend it: another model has the next turn as soon as it is requested."""
    room = Room()

    async def scene() -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(room.turns.keep)
            await room.ask("a")
            with room.turns.beside("b") as refused:
                assert refused is None
            async with anyio.create_task_group() as asking:
                asking.start_soon(lambda: room.ask("b", after=10.0))
                with room.turns.beside("a") as scope:
                    assert scope is not None
                    await anyio.sleep(1_000)
                assert anyio.current_time() == 10
            tasks.cancel_scope.cancel()

    in_virtual_time(scene)
    assert room.entered == [("a", 0), ("b", 10)]


REQUESTS = st.lists(
    st.fixed_dictionaries(
        {
            "model": st.sampled_from("abc"),
            "after": st.floats(0, 200).map(lambda t: round(t, 1)),
            "seconds": st.floats(0.1, 60).map(lambda t: round(t, 1)),
        }
    ),
    min_size=1,
    max_size=60,
)


@settings(max_examples=200, deadline=None)
@given(REQUESTS, st.sampled_from([0.0, 5.0, 90.0]))
def test_no_request_starves_and_nothing_thrashes(requests: list[dict[str, Any]], load_seconds: float) -> None:
    """Whatever is asked for when: models are never mixed; before a request's own turn each other model has at most
    one; requests of a model enter in order; and a turn that others wait for ends early only when it is idle."""
    numbered = [{**request, "name": str(number)} for number, request in enumerate(requests)]
    room = played(Room(load_seconds=load_seconds), *numbered)

    asked = {str(n): (str(r["model"]), float(r["after"])) for n, r in enumerate(requests)}
    entered = dict(room.entered)
    assert len(entered) == len(requests)
    for name, (model, came) in asked.items():
        # turns that began after this request came and before it entered, its own left out
        before = [held for when, held in room.holders if came < when < entered[name]]
        others = [held for held in before if held != model]
        assert len(others) == len(set(others)), f"a model had two turns before request {name}"
        earlier = [n for n, (m, c) in asked.items() if m == model and c < came]
        assert all(entered[n] <= entered[name] for n in earlier)
    longest = max(float(r["seconds"]) for r in requests)
    models = len({model for model, _ in asked.values()})
    bound = models * (load_seconds + 60.0 + longest + 1.0)
    assert all(entered[name] - came <= bound for name, (_, came) in asked.items())
    for (began, model), (ended, _) in zip(room.holders, room.holders[1:], strict=False):
        if ended - began < 60.0:  # it was idle: no request that had come for it was left
            late = [n for n, (m, came) in asked.items() if m == model and began < came <= ended - 1.0]
            assert all(entered[n] < ended for n in late)
