"""Each question through a daemon whose only tools are the functions of that question."""

import tempfile
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import anyio

from aeond.domain.tools import Effect, ToolContext, ToolOutput, ToolSpec
from aeond.domain.values import JsonObject, JsonValue
from aeond.ports import Tool, ToolAnswer
from aeond_client import AsyncClient, Budget, RunOptions
from aeond_client.events import InputRequested, RunSuspended
from tests.eval.bfcl.checking import MadeCall, problem_with
from tests.eval.bfcl.data import CATEGORIES, Function, Question, read_questions, sample_of, wheel_file
from tests.eval.failures import Failure
from tests.eval.subjects import Subject
from tests.eval.verdicts import OnVerdict, Terms, Verdict

ASKING: Final = "request_user_input"  # a person may be asked, as everywhere; no accepted call does so
SEVERAL: Final = frozenset({"parallel"})  # categories in which one question takes several calls
MAX_CALLS: Final = 12
MAX_NAME: Final = 60
MAX_DESCRIPTION: Final = 1_000
ANY: Final[JsonObject] = {"type": "object"}


@dataclass
class Calls:
    """The calls of one run; `enough` is set when no further one can matter."""

    wanted: int
    made: list[MadeCall] = field(default_factory=list)
    enough: anyio.Event = field(default_factory=anyio.Event)

    def add(self, call: MadeCall) -> None:
        self.made.append(call)
        if len(self.made) >= self.wanted:
            self.enough.set()


@dataclass(frozen=True)
class OfferedFunction:
    """A function as a tool that records its calls and reports success."""

    function: Function
    name: str
    calls: Calls

    @property
    def spec(self) -> ToolSpec:
        return ToolSpec(
            name=self.name,
            description=self.function.description[:MAX_DESCRIPTION],
            input_schema=self.function.schema,
            output_schema=ANY,
            effect=Effect.READ,
        )

    async def execute(self, arguments: JsonObject, context: ToolContext) -> JsonValue:
        self.calls.add(MadeCall(self.function.name, dict(arguments)))
        await anyio.lowlevel.checkpoint()
        return {"done": True}

    async def reconcile(self, arguments: JsonObject, context: ToolContext) -> JsonValue | None:
        """Nothing is known of calls of an earlier daemon."""


@dataclass(frozen=True)
class HiddenTool:
    """One of the usual tools, which templates need and models are not offered here."""

    tool: Tool

    @property
    def spec(self) -> ToolSpec:
        return replace(self.tool.spec, offered=False, candidates=(), composition=None)

    async def execute(self, arguments: JsonObject, context: ToolContext) -> ToolAnswer:
        return await self.tool.execute(arguments, context)

    async def reconcile(
        self, arguments: JsonObject, context: ToolContext
    ) -> JsonValue | ToolOutput[JsonValue] | None:
        return await self.tool.reconcile(arguments, context)


async def judge_bfcl(subject: Subject, terms: Terms, on_verdict: OnVerdict) -> None:
    """A sample of each category at even distances, a category as a group."""
    wheel = await anyio.to_thread.run_sync(wheel_file)
    for category in CATEGORIES:
        questions = [q for q in sample_of(read_questions(wheel, category)) if terms.admit(q.text, False)]
        for question in terms.sample(questions):
            on_verdict(await answered(subject, question, terms))


async def answered(subject: Subject, question: Question, terms: Terms) -> Verdict:
    """Which calls a question led to."""
    calls = Calls(MAX_CALLS if question.category in SEVERAL else 1)

    def tools(usual: Sequence[Tool]) -> Sequence[Tool]:
        names = names_of(question.functions, {tool.spec.name for tool in usual})
        pairs = zip(question.functions, names, strict=True)
        offered = (OfferedFunction(function, name, calls) for function, name in pairs)
        return (*offered, *(tool if tool.spec.name == ASKING else HiddenTool(tool) for tool in usual))

    with tempfile.TemporaryDirectory(prefix="aeond-eval-") as name:
        folder = Path(name).resolve()
        (folder / "files").mkdir()
        async with subject.daemon(folder / "daemon", tools) as judged:
            began = time.monotonic()
            said, asked = await _answer(judged.client, question, folder / "files", calls, terms)
            effort = replace(judged.counted.effort, seconds=time.monotonic() - began)
    problem = problem_with(calls.made, question.accepted)
    failure = ""
    if problem:
        failure = Failure.ASKED if asked else Failure.WRONG_ANSWER
    return Verdict(
        question.text,
        question.category,
        f"{[(call.function, call.arguments) for call in calls.made]} {said:.200}",
        (problem,) if problem else (),
        effort=effort,
        failure=failure,
        questions=len(asked),
    )


def names_of(functions: Sequence[Function], taken: Collection[str]) -> Sequence[str]:
    """A tool's name for each function: lower case, nothing but letters, digits and underscores, and none that is taken."""
    names: list[str] = []
    for function in functions:
        plain = "".join(c if c.isascii() and c.isalnum() else "_" for c in function.name.lower())[:MAX_NAME]
        plain = plain if plain[:1].isalpha() else f"f_{plain}"
        while plain in names or plain in taken:
            plain = f"{plain}_2"
        names.append(plain)
    return names


async def _answer(
    client: AsyncClient, question: Question, workspace: Path, calls: Calls, terms: Terms
) -> tuple[str, Sequence[str]]:
    """The run's answer and its questions; the run ends early when it has made all calls that can matter."""
    options = RunOptions(workspace=str(workspace), budget=Budget(wall_seconds=terms.wall_seconds))
    run = await client.create_run(question.text, options)
    asked: list[str] = []

    async def watch() -> None:
        async with client.watch(run.run_id) as events:
            async for event in events:
                if isinstance(event.kind, InputRequested):
                    asked.append(event.kind.question.prompt)
                if isinstance(event.kind, InputRequested | RunSuspended):
                    break
        calls.enough.set()

    with anyio.move_on_after(2 * terms.wall_seconds):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(watch)
            await calls.enough.wait()
            tasks.cancel_scope.cancel()
    last = await client.get_run(run.run_id)
    if not last.state.ended:
        await client.cancel_run(run.run_id, "the evaluation does not go on with it")
    return last.answer.text if last.answer else "", asked
