"""How large the steps are in which vLLM reads prompts on a CPU; no vLLM is needed for that."""

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from aeond.capabilities.llm.vllm import pacing
from aeond.capabilities.llm.vllm.pacing import LEAST_TOKENS, Pace, paced

STEP, TOKEN = 0.03, 0.001  # seconds: what a step costs by itself, and each token in it


def settled(pace: Pace, step: float = STEP, token: float = TOKEN) -> float:
    """The seconds of a step once many of them were read."""
    for _ in range(50):
        pace.adapt(step + token * pace.tokens, is_full=True)
    return step + token * pace.tokens


def test_steps_come_to_last_as_long_as_they_may() -> None:
    """However fast a machine is, its steps grow or shrink until they take their time, and not more."""
    assert settled(Pace(0.06, 2048)) == pytest.approx(0.06, rel=0.05)
    assert settled(Pace(0.06, 2048), step=0.003, token=0.0001) == pytest.approx(0.06, rel=0.05)


def test_a_machine_that_slows_down_gets_smaller_steps() -> None:
    """The tokens of a step follow the speed of the machine, up and down."""
    pace = Pace(0.06, 2048)
    settled(pace, step=0.003, token=0.0001)
    quick = pace.tokens
    settled(pace, step=0.006, token=0.0002)
    assert pace.tokens < quick / 2 + 1
    settled(pace, step=0.003, token=0.0001)
    assert pace.tokens == quick


def test_steps_have_bounds() -> None:
    """A step is never smaller than pays, nor larger than the engine can hold."""
    pace = Pace(0.06, 512)
    settled(pace, step=1.0)
    assert pace.tokens == LEAST_TOKENS
    settled(pace, step=0.0, token=0.00001)
    assert pace.tokens == 512
    assert Pace(0.06, 4).tokens == 4


def test_the_end_of_a_prompt_proves_little() -> None:
    """A step that had less to read than it might have shrinks those to come if it lasts too long, and enlarges none."""
    pace = Pace(0.06, 2048)
    settled(pace)
    before = pace.tokens
    pace.adapt(0.031, is_full=False)
    assert pace.tokens == before
    pace.adapt(0.09, is_full=False)
    assert LEAST_TOKENS < pace.tokens < before


@dataclass
class Scheduled:
    """A step of vLLM's: how many tokens each request has in it."""

    num_scheduled_tokens: dict[str, int]

    @property
    def total_num_scheduled_tokens(self) -> int:
        return sum(self.num_scheduled_tokens.values())


@dataclass(frozen=True)
class Request:
    """A request of vLLM's: it writes, or its prompt is read, which has no end."""

    name: str
    num_computed_tokens: int
    num_prompt_tokens: int = 1_000_000


WRITERS = [Request(f"writer {number}", 1_000_010) for number in range(8)]
READERS = [Request(f"reader {number}", 0) for number in range(3)]


@dataclass
class Scheduler:
    """As much of vLLM's scheduler as is built upon: those that run have their tokens in their order, then those that
    wait."""

    step_seconds: float = 0.06
    most: int = 2048
    running: list[Request] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)
    max_num_scheduled_tokens: int = 0
    adaptive_long_prefill_threshold: bool = True

    def __post_init__(self) -> None:
        self.scheduler_config = SimpleNamespace(
            max_num_batched_tokens=self.most, long_prefill_token_threshold=0
        )

    @property
    def vllm_config(self) -> SimpleNamespace:
        return SimpleNamespace(
            additional_config={"step_seconds": self.step_seconds},
            scheduler_config=self.scheduler_config,
        )

    def schedule(self, throttle_prefills: bool = False) -> Scheduled:
        assert not throttle_prefills
        assert not self.adaptive_long_prefill_threshold
        left = self.max_num_scheduled_tokens
        tokens = {}
        for one in self.running:
            reads = one.num_computed_tokens < one.num_prompt_tokens
            wanted = self.scheduler_config.long_prefill_token_threshold if reads else 1
            tokens[one.name] = min(wanted, left)
            left -= tokens[one.name]
        return Scheduled({**tokens, **{one: left // len(self.waiting) for one in self.waiting}})

    def update_from_output(self, scheduled: Scheduled, computed: str) -> str:
        assert scheduled.num_scheduled_tokens
        return computed


class Machine:
    """A paced engine that takes STEP for each step, and TOKEN for each token in it."""

    def __init__(self, **options: Any) -> None:
        self.now = 0.0
        self.scheduler: Scheduler = paced(Scheduler, lambda: self.now)(**options)

    def stepped(self) -> Scheduled:
        """One step."""
        scheduled = self.scheduler.schedule(False)
        self.now += STEP + TOKEN * scheduled.total_num_scheduled_tokens
        assert self.scheduler.update_from_output(scheduled, "computed") == "computed"
        return scheduled


def test_the_scheduler_keeps_to_its_time() -> None:
    """Steps of prompts settle at the time that is configured; those who write have a token in each of them."""
    machine = Machine(running=[*READERS[:1], *WRITERS])
    for _ in range(50):
        scheduled = machine.stepped()
    assert STEP + TOKEN * scheduled.total_num_scheduled_tokens == pytest.approx(0.06, rel=0.1)
    assert all(scheduled.num_scheduled_tokens[writer.name] == 1 for writer in WRITERS)


def test_steps_in_which_all_write_teach_nothing() -> None:
    """How long it takes to write says nothing of how fast prompts are read."""
    machine = Machine(running=READERS[:1])
    before = machine.stepped().total_num_scheduled_tokens
    for _ in range(20):
        machine.now += 10.0
        machine.scheduler.update_from_output(Scheduled({"writer": 1}), "computed")
    assert machine.stepped().total_num_scheduled_tokens >= before


def test_more_than_the_engine_can_hold_is_never_asked_for() -> None:
    """The bound is the engine's own, however fast the machine."""
    machine = Machine(step_seconds=60.0, most=64, running=READERS[:1])
    assert max(machine.stepped().total_num_scheduled_tokens for _ in range(10)) == 64


def test_nothing_else_is_found_in_the_module() -> None:
    """A name that it does not have is an AttributeError, as of any module."""
    with pytest.raises(AttributeError, match="Unheard"):
        _ = pacing.Unheard


@pytest.mark.parametrize("readers", [1, 3])
@pytest.mark.parametrize("most", [2048, 64])
def test_who_waits_begins_while_prompts_are_read(most: int, readers: int) -> None:
    """However many long prompts are read, and however quick the machine, a request that comes has a part of the next step."""
    machine = Machine(running=[*READERS[:readers], WRITERS[0]], waiting=["just came"], most=most)
    for _ in range(50):
        assert machine.stepped().num_scheduled_tokens["just came"] > 0


def test_prompts_share_a_step() -> None:
    """A prompt that comes later is read as fast as the first, and together they have as many tokens as one alone."""
    alone, together = Machine(running=READERS[:1]), Machine(running=READERS)
    for _ in range(50):
        one, all_of_them = alone.stepped(), together.stepped()
    shares = set(all_of_them.num_scheduled_tokens.values())
    assert len(shares) == 1
    assert all_of_them.total_num_scheduled_tokens == pytest.approx(
        one.total_num_scheduled_tokens, abs=len(READERS)
    )
