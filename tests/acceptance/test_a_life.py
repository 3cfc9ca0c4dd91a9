"""A daemon from its start to its stop, with runs in it."""

import pytest

from aeond_client.calls.run_calls import RunOptions
from aeond_client.client import Client
from aeond_client.connection.retries import Retries
from aeond_client.errors import UnavailableError
from aeond_client.events import RunCreated, RunEnded, RunParked, RunSuspended, StepEnded, StepStarted
from aeond_client.records.runs import Plan, PlanStep, Resolution, RunState, StepState
from tests.support.collecting import Collector
from tests.support.ledgers import chain, deed
from tests.support.stages import Stage

SUM = Plan(
    "add and remember",
    (
        PlanStep("s1", "add", "calculator", {"expression": "17.5 / 100 * 2400"}),
        PlanStep("s2", "remember", "remember", {"key": "bonus", "value": "$s1.result"}, depends_on=("s1",)),
    ),
)


def started(collector: Collector, step_id: str) -> bool:
    """Whether the watcher saw the step begin."""
    return any(isinstance(e.kind, StepStarted) and e.kind.step.step_id == step_id for e in collector.events)


def test_a_run_by_plan_from_start_to_stop(stage: Stage) -> None:
    """A daemon starts, runs a plan, streams it, answers, remembers, and stops in order with 0."""
    with Client(stage.socket) as client:
        run = client.create_run("add and remember", RunOptions(plan=SUM, workspace=str(stage.workspace)))
        with Collector(stage.socket, run.run_id) as seen:
            seen.wait_for_end()
        ended = client.get_run(run.run_id)
        assert ended.state is RunState.SUCCEEDED
        assert ended.answer is not None
        assert "420" in ended.answer.text
        assert client.read_memory("bonus") == 420
    assert seen.seqs == list(range(1, ended.last_seq + 1))
    assert isinstance(seen.numbered[0].kind, RunCreated)
    assert isinstance(seen.numbered[-1].kind, RunEnded)
    assert stage.daemon.stop() == 0
    assert "Traceback" not in stage.daemon.log


def test_runs_and_memory_survive_a_restart(stage: Stage) -> None:
    """Runs, their events and the memory outlive the daemon."""
    with Client(stage.socket) as client:
        answer = client.run("add and remember", RunOptions(plan=SUM))
        (before,) = client.list_runs()
    stage.daemon.restart()
    with Client(stage.socket) as client:
        assert client.list_runs() == (before,)
        assert client.get_run(before.run_id).answer == answer
        assert client.read_memory("bonus") == 420


def test_a_killed_daemon_goes_on_where_it_was(stage: Stage) -> None:
    """After SIGKILL during a run, finished steps are not repeated, the interrupted one is, and watchers see
    no gap."""
    gate = stage.gate()
    plan = chain(deed("s1", "run"), deed("s2", "pure", gate=gate), deed("s3", "run"))
    with Client(stage.socket) as client:
        run = client.create_run("deeds", RunOptions(plan=plan))
        with Collector(stage.socket, run.run_id) as seen:
            assert seen.wait(lambda s: started(s, "s2"))
            gate.held()
            stage.daemon.restart()
            gate.open()
            seen.wait_for_end()
        assert client.get_run(run.run_id).state is RunState.SUCCEEDED
    assert stage.ledger.begun(run.run_id) == {"s1": 1, "s2": 2, "s3": 1}
    assert seen.seqs == list(range(1, len(seen.seqs) + 1))


@pytest.mark.parametrize(
    ("resolution", "state", "begun"),
    [
        (Resolution.RETRY, RunState.SUCCEEDED, {"s1": 2, "s2": 1}),
        (Resolution.DONE, RunState.SUCCEEDED, {"s1": 1, "s2": 1}),
        (Resolution.ABORT, RunState.FAILED, {"s1": 1}),
    ],
)
def test_a_cut_step_with_effects_waits_for_a_person(
    stage: Stage, resolution: Resolution, state: RunState, begun: dict[str, int]
) -> None:
    """An interrupted step that may have had an effect is never repeated automatically: it is UNKNOWN until a
    person decides."""
    gate = stage.gate()
    plan = chain(deed("s1", "send", gate=gate), deed("s2", "pure"))
    with Client(stage.socket) as client:
        run = client.create_run("deeds", RunOptions(plan=plan))
        with Collector(stage.socket, run.run_id) as seen:
            gate.held()
            stage.daemon.restart()
            seen.wait_for(RunSuspended)
            (step,) = [s for s in client.get_run(run.run_id).steps if s.plan_step.step_id == "s1"]
            assert step.state is StepState.UNKNOWN
            client.decide_run(run.run_id, resolution, "s1")
            if resolution is Resolution.RETRY:
                gate.open()
            seen.wait_for_end()
        assert client.get_run(run.run_id).state is state
    assert stage.ledger.begun(run.run_id) == begun
    assert seen.seqs == list(range(1, len(seen.seqs) + 1))


def test_an_idempotent_step_is_asked_before_it_is_repeated(stage: Stage) -> None:
    """A cut step that can tell whether it did its work is not run a second time when it did."""
    gate = stage.gate()
    plan = chain(deed("s1", "put", gate=gate))
    with Client(stage.socket) as client:
        run = client.create_run("deeds", RunOptions(plan=plan))
        with Collector(stage.socket, run.run_id) as seen:
            gate.held()
            with stage.ledger.path.open("a") as ledger:  # the deed was done, and then the power went
                ledger.write(f"end {run.run_id}/s1\n")
            stage.daemon.restart()
            seen.wait_for_end()
        assert client.get_run(run.run_id).state is RunState.SUCCEEDED
    assert stage.ledger.begun(run.run_id) == {"s1": 1}


def test_a_stop_waits_for_a_step_with_effects(stage: Stage) -> None:
    """SIGTERM lets a step with effects end, parks the run, exits 0, and the next daemon goes on."""
    gate = stage.gate()
    plan = chain(deed("s1", "run", gate=gate), deed("s2", "run"))
    with Client(stage.socket) as client:
        run = client.create_run("deeds", RunOptions(plan=plan))
        with Collector(stage.socket, run.run_id) as seen:
            gate.held()
            stage.daemon.terminate()
            with pytest.raises(UnavailableError) as refused:
                _until_refused(stage.socket)
            assert refused.value.reason == "DRAINING"
            gate.open()
            assert stage.daemon.wait() == 0
            stage.daemon.start()
            seen.wait_for_end()
    kinds = [type(event.kind) for event in seen.numbered]
    assert RunParked in kinds
    assert [e.kind.state for e in seen.numbered if isinstance(e.kind, StepEnded)] == [StepState.SUCCEEDED] * 2
    assert stage.ledger.begun(run.run_id) == {"s1": 1, "s2": 1}


def _until_refused(socket: str) -> None:
    """Writes to the memory until the daemon takes no more."""
    with Client(socket, retries=Retries(attempts=1)) as client:
        for number in range(100_000):
            client.write_memory("n", number)


def test_a_second_signal_does_not_wait(stage: Stage) -> None:
    """After a second stop signal the daemon does not wait for steps, and an interrupted one becomes
    UNKNOWN."""
    gate = stage.gate()
    with Client(stage.socket) as client:
        run = client.create_run("deeds", RunOptions(plan=chain(deed("s1", "run", gate=gate))))
        gate.held()
        stage.daemon.terminate()
        stage.daemon.log_says("received SIGTERM")
        stage.daemon.terminate()
        assert stage.daemon.wait() == 0
        stage.daemon.start()
        with Collector(stage.socket, run.run_id) as seen:
            seen.wait_for(RunSuspended)
        assert client.get_run(run.run_id).steps[0].state is StepState.UNKNOWN
    assert stage.ledger.begun(run.run_id) == {"s1": 1}


def test_a_run_that_crashes_the_daemon_again_and_again_is_suspended(stage: Stage) -> None:
    """A run that was live in three crashes waits for a person instead of a fourth."""
    gate = stage.gate()
    with Client(stage.socket) as client:
        run = client.create_run("deeds", RunOptions(plan=chain(deed("s1", "pure", gate=gate))))
        with Collector(stage.socket, run.run_id) as seen:
            for _ in range(3):
                gate.held()
                stage.daemon.restart()
            seen.wait_for(RunSuspended)
            assert client.get_run(run.run_id).state is RunState.SUSPENDED
            client.decide_run(run.run_id, Resolution.RETRY)
            gate.open()
            seen.wait_for_end()
        assert client.get_run(run.run_id).state is RunState.SUCCEEDED
    assert stage.ledger.begun(run.run_id) == {"s1": 4}


def test_a_running_run_is_cancelled(stage: Stage) -> None:
    """Cancelling a run cuts its harmless step at once and ends it."""
    gate = stage.gate()
    with Client(stage.socket) as client:
        plan = chain(deed("s1", "pure", gate=gate), deed("s2", "run"))
        run = client.create_run("deeds", RunOptions(plan=plan))
        with Collector(stage.socket, run.run_id) as seen:
            gate.held()
            client.cancel_run(run.run_id, "enough")
            seen.wait_for_end()
        assert client.get_run(run.run_id).state is RunState.CANCELLED
    assert stage.ledger.begun(run.run_id) == {"s1": 1}
