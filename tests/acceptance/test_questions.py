"""Questions of runs with the real daemon: asked, left open, answered from any client, across a SIGKILL."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import anyio
import anyio.to_thread
import pytest

from aeond_client.calls.run_calls import RunOptions
from aeond_client.client import Client
from aeond_client.errors import InvalidInputError, NoAnswerError, WrongStateError
from aeond_client.events import InputAnswered, InputRequested, RunEnded
from aeond_client.records.runs import Budget, Plan, PlanStep, Run, RunState, StepState
from tests.support.aeonctl import command, environment, offered
from tests.support.collecting import Collector
from tests.support.daemon_process import DaemonProcess
from tests.support.screens import terminal
from tests.support.stages import Stage
from tests.support.surfaces import wait_until


def asking(**arguments: Any) -> Plan:
    """A person is asked, and what they say is remembered."""
    return Plan(
        "ask and remember",
        (
            PlanStep("s1", "ask", "request_user_input", {"prompt": "Which colour?", **arguments}),
            PlanStep("s2", "remember", "remember", {"key": "colour", "value": "$s1"}, depends_on=("s1",)),
        ),
    )


def asked(client: Client, socket: str, plan: Plan, **bounds: Any) -> str:
    """A run of this plan, once it asks."""
    run = client.create_run("ask me", RunOptions(plan=plan, budget=Budget(**bounds)))
    with Collector(socket, run.run_id) as seen:
        seen.wait_for(InputRequested)
    return run.run_id


def ended(client: Client, run_id: str) -> Run:
    with client.watch(run_id) as events:
        assert any(isinstance(event.kind, RunEnded) for event in events)
    return client.get_run(run_id)


def test_an_answer_is_the_steps_result(shared: Stage) -> None:
    """A run asks and waits; one client's answer lets it go on, and the second answer comes too late."""
    with Client(shared.socket) as client, Client(shared.socket) as other:
        run_id = asked(client, shared.socket, asking(options=["red", "blue"]))
        (question,) = client.get_run(run_id).questions
        assert (question.prompt, question.options) == ("Which colour?", ("red", "blue"))
        with pytest.raises(InvalidInputError, match="'red', 'blue'") as refused:
            other.answer_run(run_id, "green")
        assert (refused.value.reason, refused.value.field) == ("ANSWER_INVALID", "answer_json")
        other.answer_run(run_id, "blue", question.question_id)
        with pytest.raises(WrongStateError) as late:
            client.answer_run(run_id, "red", question.question_id)
        assert late.value.reason == "QUESTION_NOT_OPEN"
        run = ended(client, run_id)
        assert run.state is RunState.SUCCEEDED
        assert run.steps[0].output == "blue"
        assert client.read_memory("colour") == "blue"


def test_of_many_answers_at_once_one_counts(shared: Stage) -> None:
    """Of eight concurrent answers, equal or different, exactly one is accepted."""
    with Client(shared.socket) as client:
        run_id = asked(client, shared.socket, asking(options=["red", "blue"]))

        def answer(number: int) -> bool:
            with Client(shared.socket) as one:
                try:
                    one.answer_run(run_id, "red" if number % 2 else "blue", "s1.1")
                except WrongStateError as error:
                    assert error.reason == "QUESTION_NOT_OPEN"
                    return False
                return True

        with ThreadPoolExecutor(8) as clients:
            assert sum(clients.map(answer, range(8))) == 1
        assert ended(client, run_id).state is RunState.SUCCEEDED


def test_a_question_survives_a_killed_daemon(stage: Stage) -> None:
    """After SIGKILL while a run waits the question is still open, and the answer is taken by the next daemon."""
    with Client(stage.socket) as client:
        run_id = asked(client, stage.socket, asking())
        with Collector(stage.socket, run_id) as seen:
            stage.daemon.restart()
            run = client.get_run(run_id)
            assert run.state is RunState.AWAITING_INPUT
            assert [question.question_id for question in run.questions] == ["s1.1"]
            assert [line.run_id for line in client.list_runs(states=[RunState.AWAITING_INPUT])] == [run_id]
            client.answer_run(run_id, "green")
            seen.wait_for_end()
        assert client.get_run(run_id).steps[0].output == "green"
    assert seen.seqs == list(range(1, len(seen.seqs) + 1))
    (answered,) = [e.kind for e in seen.events if isinstance(e.kind, InputAnswered)]
    assert answered.answer == "green"


def test_a_question_lapses_with_its_default_or_without(shared: Stage) -> None:
    """When the deadline has passed the default answers; without one the step fails and says so."""
    with Client(shared.socket) as client:
        by_default = asked(client, shared.socket, asking(default="grey", deadline_seconds=0.2))
        assert ended(client, by_default).steps[0].output == "grey"
        lapsed = ended(client, asked(client, shared.socket, asking(deadline_seconds=0.2)))
        assert (lapsed.steps[0].state, lapsed.steps[0].reason) == (StepState.FAILED, "INPUT_TIMEOUT")
        assert lapsed.state is RunState.FAILED


def test_a_deadline_that_passed_while_no_daemon_ran_counts(stage: Stage) -> None:
    """A question whose time ran out between two daemons lapses as soon as the next one is there."""
    with Client(stage.socket) as client:
        run_id = asked(client, stage.socket, asking(default="grey", deadline_seconds=1.0))
        stage.daemon.restart()
        assert ended(client, run_id).steps[0].output == "grey"


def test_waiting_takes_no_place(stage: Stage) -> None:
    """More runs than there are places may wait for people, and others work meanwhile."""
    with Client(stage.socket) as client:
        limit = client.get_status().max_running_runs
        for _ in range(limit + 1):
            asked(client, stage.socket, asking())

        def all_wait() -> bool:
            status = client.get_status()
            return (status.running_runs, status.attention_runs) == (0, limit + 1)

        anyio.run(wait_until, all_wait)  # a run gives its place back after its question was published
        answer = client.run(
            "sum", RunOptions(plan=Plan("", (PlanStep("s1", "", "calculator", {"expression": "6*7"}),)))
        )
        assert "42" in answer.text
        with pytest.raises(NoAnswerError, match="Which colour"):
            client.run("ask me", RunOptions(plan=asking()))


@pytest.fixture
def plan_file(shared: Stage) -> str:
    """A plan that asks for a colour and says which one it was."""
    question = {"prompt": "Which colour?", "options": ["red", "blue"]}
    arguments = {"text": "You said $s1."}
    steps = (
        PlanStep("s1", "", "request_user_input", question),
        PlanStep("s2", "", "echo", arguments, depends_on=("s1",)),
    )
    return shared.plan_file(Plan("ask", steps))


async def test_ask_asks_at_the_terminal(shared: Stage, plan_file: str) -> None:
    """`aeonctl ask` shows the question with its options, takes one by its number, and goes on."""
    variables = environment(AEOND_SOCKET=shared.socket, TERM="xterm-256color")
    async with terminal(
        command("ask", "--plan", plan_file), environment=variables, columns=80, lines=24
    ) as shown:
        await shown.read_until("2) blue")
        shown.press("9\n")
        await shown.read_until("must be one of")
        shown.press("2\n")
        assert await shown.read_to_end() == 0
    assert "You said blue." in shown.screen.text


@pytest.mark.parametrize("end", [DaemonProcess.kill, DaemonProcess.stop])
async def test_asking_survives_a_daemon_that_goes_away(
    stage: Stage, plan_file: str, end: Callable[[DaemonProcess], object]
) -> None:
    """A daemon that is killed or stopped beside an open question is waited for, and its successor has the answer."""
    variables = environment(AEOND_SOCKET=stage.socket, TERM="xterm-256color")
    async with terminal(
        command("ask", "--plan", plan_file), environment=variables, columns=80, lines=24
    ) as shown:
        await shown.read_until("2) blue")
        await anyio.to_thread.run_sync(end, stage.daemon)
        await shown.read_until("waiting for it to come back (at most")
        shown.press("2\n")
        stage.daemon.start()
        await shown.read_until("The daemon is back.")
        assert await shown.read_to_end() == 0
    assert "You said blue." in shown.screen.text


async def test_asking_waits_no_longer_than_the_patience(stage: Stage, plan_file: str) -> None:
    """Without patience, an outage during an open question is reported at once."""
    variables = environment(AEOND_SOCKET=stage.socket, TERM="xterm-256color")
    asking = command("ask", "--plan", plan_file, "--patience", "0")
    async with terminal(asking, environment=variables, columns=80, lines=24) as shown:
        await shown.read_until("2) blue")
        stage.daemon.kill()
        assert await shown.read_to_end() == 3
    assert "waiting for it" not in shown.screen.text


async def test_a_question_that_closes_says_why(shared: Stage) -> None:
    """A closing question reports whether the run was cancelled, the time is over, or another client
    answered."""
    variables = environment(AEOND_SOCKET=shared.socket, TERM="xterm-256color")

    async def asked_until(words: str, close: Callable[[Client, str], object], **arguments: Any) -> None:
        plan = shared.plan_file(asking(**arguments))
        async with terminal(
            command("ask", "--plan", plan), environment=variables, columns=80, lines=24
        ) as shown:
            await shown.read_until("\n>")
            with Client(shared.socket) as client:
                close(client, client.list_runs(limit=1)[0].run_id)
            await shown.read_until(words)
            await shown.read_to_end()

    await asked_until("(closed: the run is cancelled)", lambda client, run_id: client.cancel_run(run_id))
    await asked_until("(already answered)", lambda client, run_id: client.answer_run(run_id, "red"))
    await asked_until(
        "(closed: the time to answer is over)",
        lambda _client, _run_id: None,
        deadline_seconds=8.0,  # the prompt must be there before
    )


async def test_without_a_terminal_ask_says_how_to_answer(shared: Stage, plan_file: str) -> None:
    """Without a terminal the run is left waiting with exit code 6, and `aeonctl answer` answers it."""
    left = await shared.aeonctl("ask", "--plan", plan_file)
    assert left.code == 6
    assert "aeonctl answer" in left.err
    assert "1) red" in left.err
    listed = await shared.aeonctl("answer", "last", "--json")
    assert (listed.code, [line["prompt"] for line in listed.json_lines]) == (6, ["Which colour?"])
    wrong = await shared.aeonctl("answer", "last", "green")
    assert (wrong.code, "'red', 'blue'" in wrong.err) == (2, True)
    assert (await shared.aeonctl("answer", "last", "s1.1", "1")).code == 0
    watched = await shared.aeonctl("watch", "last", "--quiet")
    assert (watched.code, "You said red." in watched.out) == (0, True)
    assert (await shared.aeonctl("answer", "last", "red")).code == 1


async def test_questions_options_and_steps_are_completed(shared: Stage) -> None:
    """A shell is offered the open questions of a run with their options, and the steps that have begun."""
    run_id = (
        await shared.aeonctl("ask", "--detach", "--plan", shared.plan_file(asking(options=["red", "blue"])))
    ).out.strip()
    with Collector(shared.socket, run_id) as seen:
        seen.wait_for(InputRequested)

    async def names(typed: str) -> list[str]:
        return [line.partition(",")[2] for line in (await offered(typed, shared.socket)).out.split()]

    assert await names("answer last ") == ["s1.1", "red", "blue"]
    assert await names("answer last b") == ["blue"]
    assert await names(f"answer {run_id} s1.1 ") == ["red", "blue"]
    assert await names("fork last --step ") == ["s1"]
    assert await names("decide last --step ") == []


async def test_an_empty_answer_is_the_default(shared: Stage) -> None:
    """A default is shown wherever the question is, with a deadline or without, and "" takes it."""
    left = await shared.aeonctl("ask", "--plan", shared.plan_file(asking(default="grey")))
    assert (left.code, "(default: grey)" in left.err) == (6, True)
    assert "(default: grey)" in (await shared.aeonctl("show", "last")).out
    assert (await shared.aeonctl("answer", "last", "")).code == 0
    assert (await shared.aeonctl("watch", "last")).code == 0
    assert (await shared.aeonctl("memory", "get", "colour")).out == "grey\n"
