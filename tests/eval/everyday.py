"""Everyday requests, each through a daemon with a workspace and a memory of its own, judged by effects."""

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import anyio

from aeond.domain.llm import LLMRequest
from aeond.domain.messages import Message, Role
from aeond_client import AsyncClient, Budget, Run, RunOptions, RunState
from aeond_client.errors import WrongStateError
from aeond_client.events import ApprovalRequested, InputRequested, RunSuspended
from tests.eval.ablations import acting
from tests.eval.case_files import Placed
from tests.eval.cases import Effects, missed
from tests.eval.counted_model import CountedModel
from tests.eval.failures import failure_of
from tests.eval.subjects import Subject
from tests.eval.verdicts import OnVerdict, Terms, Verdict

MAX_ANSWERS: Final = 2  # that a run gets from its user
PATIENCE_SECONDS: Final = 60.0  # beyond the time that the run's own budget gives it
CHAT_RULES: Final = "You are a helpful assistant."
MAX_CHAT_TOKENS: Final = 1_024
NO_RESULT: Final = frozenset(
    {".git", "__pycache__", ".pytest_cache"}
)  # what tools keep beside a user's files
OLDEST_SECONDS: Final = 60.0  # between the changes of two files


async def judge_placed(
    cases: Sequence[Placed], subject: Subject, terms: Terms, on_verdict: OnVerdict
) -> None:
    """Each case that the terms leave; `terms.parallel` of them at once."""
    chosen = terms.sample([one for one in cases if terms.admit(one.case.says, one.held, one.case.group)])
    slots = anyio.Semaphore(terms.parallel)

    async def judge(one: Placed) -> None:
        async with slots:
            on_verdict(await worked(subject, one, terms))

    async with anyio.create_task_group() as tasks:
        for one in chosen:
            tasks.start_soon(judge, one)


async def worked(
    subject: Subject,
    placed: Placed,
    terms: Terms,
    judge: Callable[[Effects, Path], tuple[str, ...]] | None = None,
) -> Verdict:
    """The outcome of a request, as `judge` finds it in effects and workspace; without one by the case alone."""
    case = placed.case
    with tempfile.TemporaryDirectory(prefix="aeond-eval-") as name, acting() as acted:
        folder = Path(name).resolve()
        workspace = folder / "files"
        furnish(workspace, placed.workspace)
        if placed.repository:
            commit_all(workspace)
        async with subject.daemon(folder / "daemon") as judged:
            client = judged.client
            for key, value in placed.memory.items():
                await client.write_memory(key, value)
            memory, files = await remembered(client), texts(workspace)
            began = time.monotonic()
            run, asked, approvals = await _done(client, case.says, case.tells, workspace, terms.wall_seconds)
            seconds = time.monotonic() - began
            effects = Effects(
                answer=run.answer.text if run.answer else "",
                notes=run.answer.notes if run.answer else (),
                asked=asked,
                memory=await remembered(client),
                memory_before=memory,
                files=texts(workspace),
                files_before=files,
            )
            effort = replace(judged.counted.effort, seconds=seconds)
        wrong = judge(effects, workspace) if judge else missed(case, effects)
    failure = ""
    if wrong:
        failed = run.state in {RunState.FAILED, RunState.SUSPENDED}
        failure = failure_of(case, effects, timed_out=_timed_out(run), failed=failed)
    return Verdict(
        case.says,
        case.group,
        _described(run, asked),
        wrong,
        placed.held,
        effort,
        placed.language,
        failure,
        len(asked),
        approvals,
        tuple(sorted(acted)),
    )


async def chatted(subject: Subject, placed: Placed) -> Verdict:
    """The same request in a plain chat."""
    counted, began = CountedModel(subject.llm), time.monotonic()
    messages = (Message(Role.SYSTEM, CHAT_RULES), Message(Role.USER, placed.case.says))
    chunks = [chunk async for chunk in counted.stream(LLMRequest(messages, max_tokens=MAX_CHAT_TOKENS))]
    said = "".join(chunk.text for chunk in chunks)
    effort = replace(counted.effort, seconds=time.monotonic() - began)
    wrong = missed(placed.case, Effects(said))
    return Verdict(placed.case.says, placed.case.group, said, wrong, placed.held, effort, placed.language)


def furnish(workspace: Path, files: Mapping[str, str]) -> None:
    """Writes the files; a later one is newer."""
    workspace.mkdir(parents=True)
    first = time.time() - OLDEST_SECONDS * (len(files) + 1)
    for age, (name, text) in enumerate(files.items()):
        path = workspace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        os.utime(path, (first + age * OLDEST_SECONDS,) * 2)


def commit_all(workspace: Path) -> None:
    """Makes the folder a repository with one commit."""
    author = ("-c", "user.name=Author", "-c", "user.email=author@example.org")
    for command in (("init", "--quiet"), ("add", "--all"), (*author, "commit", "--quiet", "--message=First")):
        subprocess.run(["git", *command], cwd=workspace, check=True)


def texts(workspace: Path) -> Mapping[str, str]:
    """Every file below the workspace, without what git and Python keep there."""
    below = (path.relative_to(workspace) for path in sorted(workspace.rglob("*")) if path.is_file())
    paths = (workspace / path for path in below if NO_RESULT.isdisjoint(path.parts))
    return {str(path.relative_to(workspace)): path.read_text("utf-8", "replace") for path in paths}


async def remembered(client: AsyncClient) -> str:
    """The whole memory as JSON text."""
    return json.dumps(dict(await client.search_memory()), ensure_ascii=False)


async def _done(
    client: AsyncClient, says: str, tells: str, workspace: Path, wall_seconds: float
) -> tuple[Run, tuple[str, ...], int]:
    """The run at its end or where it waits for good, its questions, and how often it needed approval, which it gets. The
    first of the questions get `tells` for an answer."""
    options = RunOptions(workspace=str(workspace), budget=Budget(wall_seconds=wall_seconds))
    run = await client.create_run(says, options)
    asked: list[str] = []
    approvals = 0
    with anyio.move_on_after(wall_seconds + PATIENCE_SECONDS) as scope:
        async with client.watch(run.run_id, children=True) as events:
            async for event in events:
                if isinstance(event.kind, RunSuspended):
                    break
                if isinstance(event.kind, ApprovalRequested):
                    approvals += await _allowed(client, event.run_id, event.kind)
                if not isinstance(event.kind, InputRequested):
                    continue
                asked.append(event.kind.question.prompt)
                if not tells or len(asked) > MAX_ANSWERS or event.kind.question.options:
                    break
                await client.answer_run(event.run_id, tells, event.kind.question.question_id)
    last = await client.get_run(run.run_id)
    if not last.state.ended:
        await client.cancel_run(run.run_id, "the evaluation does not go on with it")
    ended = replace(last, state=RunState.EXPIRED) if scope.cancelled_caught else last
    return ended, tuple(asked), approvals


async def _allowed(client: AsyncClient, run_id: str, asked: ApprovalRequested) -> int:
    """Allows what waits for approval; 0 if that was done before: a request is repeated for each step that joins it."""
    try:
        await client.decide_approval(run_id, asked.approval.approval_id, asked.approval.digest, True)
    except WrongStateError:
        return 0
    return 1


def _timed_out(run: Run) -> bool:
    return run.state is RunState.EXPIRED or run.exhausted == "wall_seconds"


def _described(run: Run, asked: tuple[str, ...]) -> str:
    """The answer, and how it came about."""
    steps = "; ".join(
        f"{step.plan_step.tool or step.plan_step.agent}{json.dumps(step.plan_step.arguments, ensure_ascii=False)[:120]} "
        f"{step.state}"
        for step in run.steps
    )
    questions = f" asked {list(asked)}" if asked else ""
    problem = f" problem: {run.problem.message:.200}" if run.problem else ""
    return f"{run.answer.text if run.answer else '':.300} [{run.state}: {steps}]{questions}{problem}"
