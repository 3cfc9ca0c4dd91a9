"""The real daemon with a small real model: not for good answers, but for everything around them."""

import pytest

from aeond_client.calls.run_calls import RunOptions
from aeond_client.client import Client
from aeond_client.events import InputRequested, RunEnded, TextDelta
from aeond_client.records.runs import Budget, Plan, PlanStep, RunState
from tests.support.collecting import Collector
from tests.support.daemon_process import DaemonProcess

pytestmark = [pytest.mark.model, pytest.mark.slow]

PATIENCE_SECONDS = 300.0


def test_a_request_is_answered_while_the_model_loads(loading: DaemonProcess) -> None:
    """A request that comes before the model is there waits for it, is worked on and always ends with an answer."""
    with Client(loading.socket) as client:
        bounds = Budget(llm_calls=8, tokens=40_000, wall_seconds=PATIENCE_SECONDS)
        run = client.create_run("What is 2 plus 3?", RunOptions(budget=bounds))
        with Collector(str(loading.socket), run.run_id) as seen:
            seen.wait_for_end(PATIENCE_SECONDS + 60)  # one that expires ends too
        ended = client.get_run(run.run_id)
        assert ended.state in {RunState.SUCCEEDED, RunState.FAILED, RunState.EXPIRED}
        assert ended.answer is not None
        assert ended.answer.text
        assert ended.used.tokens > 0
        assert client.get_status().engine.state == "ready"


def test_an_agent_step_streams_its_text(loading: DaemonProcess) -> None:
    """A step that asks the model shows its words as they come, and hands them on."""
    question = PlanStep("s1", "Ask whether to begin.", "request_user_input", {"prompt": "Begin?"})
    greeting = PlanStep(
        "s2", "Say hello to the reader in one short sentence.", agent="llm", depends_on=("s1",)
    )
    with Client(loading.socket) as client:
        run = client.create_run("say hello", RunOptions(plan=Plan("say something", (question, greeting))))
        with Collector(str(loading.socket), run.run_id) as seen:
            seen.wait_for(InputRequested)  # so short a text may be written before a watcher is connected
            client.answer_run(run.run_id, "yes")
            seen.wait_for_end(PATIENCE_SECONDS)
        step = client.get_run(run.run_id).steps[1]
    assert step.output
    assert seen.text_of("s2") == step.output


def test_a_killed_daemon_takes_its_engine_with_it_and_goes_on(loading: DaemonProcess) -> None:
    """After SIGKILL of the daemon while the model writes, the next one has its own engine and ends the run."""
    plan = Plan(
        "say much",
        (PlanStep("s1", "Count from one to one hundred in words, one number a line.", agent="llm"),),
    )
    with Client(loading.socket) as client:
        run = client.create_run("count", RunOptions(plan=plan))
        with Collector(str(loading.socket), run.run_id) as seen:
            seen.wait_for(TextDelta, PATIENCE_SECONDS)
            loading.restart()
            seen.wait_for_end(PATIENCE_SECONDS)
        assert client.get_run(run.run_id).answer is not None
    assert isinstance(seen.numbered[-1].kind, RunEnded)
    assert seen.seqs == list(range(1, len(seen.seqs) + 1))
    assert loading.stop() == 0
