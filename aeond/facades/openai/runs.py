"""A run as an answer: its steps, its text, and what it asks instead of answering."""

import json
from collections.abc import AsyncGenerator
from typing import Any, Final

from aeond.facades.openai.conversations import Asked, Conversations, Place, asked_by
from aeond.facades.openai.failures import ApiError, unsupported
from aeond.facades.openai.parts import Ended, Failed, Part, Prompt, Started, StepBegan, StepDone, Text, Usage
from aeond.facades.runs import CREATE_SECONDS, call_lines, cancel, uncancelled
from aeond_client import AsyncClient, Run
from aeond_client.connection.waiting import may_need_a_person, waits
from aeond_client.events import Event, StepEnded, StepStarted
from aeond_client.records.judgements import ApprovalRequest, Question
from aeond_client.records.runs import RunState, StepState
from aeond_client.waiting_runs import waiting_run

MAX_OUTPUT_CHARS: Final = 500
PIECE_CHARS: Final = 256


async def answered(
    client: AsyncClient, prompt: Prompt, conversations: Conversations
) -> AsyncGenerator[Part, None]:
    """The parts of a run, new or continued. Its text is sent when it is final. A run whose client goes away before the
    end is cancelled, unless a request id says that the request may be repeated; one that asks ends the answer and waits
    on. AeondError, ApiError.
    """
    if prompt.functions and prompt.choice != "none":
        raise unsupported(
            "A run uses the tools of the daemon. To give it yours, serve them with aeond_client.serve_tools.",
            "tools",
        )
    if prompt.schema is not None:
        raise unsupported(
            "The answer of a run has no format: leave it out, or use a model.", "response_format"
        )
    try:
        async with uncancelled(
            CREATE_SECONDS
        ):  # otherwise a run that is being created could not be cancelled
            place = await conversations.enter(client, prompt)
    except TimeoutError as error:
        raise ApiError(
            504,
            "timed_out",
            f"The daemon did not reply within {CREATE_SECONDS:g} s, and may still do what was asked: `aeonctl runs` shows it.",
        ) from error
    following = _Following(client, place)
    left = True
    try:
        run = await client.get_run(place.run_id)
        yield Started(place.name, int(run.created_time))
        async for part in following.parts(run):
            if isinstance(part, Ended | Failed):  # nothing below runs if the client leaves with the last part
                left = False
                if isinstance(part, Ended):
                    conversations.remember(prompt, place, following.text, following.asked)
            yield part
    finally:
        last = conversations.leave(place)
        if last and left and following.asked is None and not prompt.request_id:
            await cancel(client, place.run_id, "the client of the OpenAI API went away")


class _Following:
    """`text` is the answer as it is sent, `asked` what the run waits for if it needs a person."""

    def __init__(self, client: AsyncClient, place: Place) -> None:
        self._client = client
        self._place = place
        self._titles: dict[str, str] = {}
        self._usage = Usage()
        self.text = ""
        self.asked: Asked | None = None

    async def parts(self, run: Run) -> AsyncGenerator[Part, None]:
        """The parts after the first; `run` is that of the place."""
        waiting = None
        if self._place.since:  # what it waits for may have been asked before this place
            waiting = await waiting_run(self._client, run)
        if waiting is None:
            async with self._client.watch(run.run_id, self._place.seq, children=True) as events:
                async for event in events:
                    if not self._place.holds(event):
                        continue
                    for part in self._step(event):
                        yield part
                    if may_need_a_person(event) and waits(one := await self._client.get_run(event.run_id)):
                        waiting = one
                        break
        last: Part = Ended("stop", self._usage)
        if waiting is not None:
            self.asked, self.text = asked_by(waiting), asked_text(waiting)
        else:
            self.text, last = ended(await self._client.get_run(run.run_id), self._usage)
        for start in range(0, len(self.text), PIECE_CHARS):
            yield Text(self.text[start : start + PIECE_CHARS])
        yield last

    def _step(self, event: Event) -> list[Part]:
        use = getattr(event.kind, "model_use", None)
        if use is not None:
            self._usage += Usage(use.prompt_tokens, use.completion_tokens, use.cached_tokens)
        match event.kind:
            case StepStarted(step=step):
                key = f"{event.run_id}/{step.step_id}"
                title = _line(step.description or step.tool or step.agent)
                self._titles[key] = title
                called = f" ({step.tool} {_short(step.arguments)})" if step.tool else ""
                return [StepBegan(key, f"{title}{called}")]
            case StepEnded(step_id=step_id, state=state, output=output, error=error):
                key = f"{event.run_id}/{step_id}"
                found = _short(output) if state is StepState.SUCCEEDED else _line(error)
                outcome = f"{state}: {found}" if found else str(state)
                return [StepDone(key, f"{self._titles.get(key, step_id)}: {outcome}")]
            case _:
                return []


def ended(run: Run, usage: Usage) -> tuple[str, Ended | Failed]:
    """The text of an ended run, and the last part. A run that was cancelled or has failed has no text."""
    problem = run.problem
    if run.state is RunState.CANCELLED:
        return "", Failed(ApiError(500, "run_cancelled", f"The run {run.run_id} was cancelled."), usage)
    if run.answer is None or run.state is RunState.FAILED:
        code = problem.reason.lower() if problem is not None else "run_failed"
        message = problem.message if problem is not None else f"The run {run.run_id} has no answer."
        return "", Failed(ApiError(500, code, message), usage)
    return run.answer.text, Ended("length" if run.state is RunState.EXPIRED else "stop", usage)


def asked_text(run: Run) -> str:
    """What the run waits for, and how it goes on."""
    if run.questions:
        return question_text(run.questions[0])
    if run.approvals:
        return approval_text(run, run.approvals[0])
    why = run.suspend_reason.replace("_", " ")
    return f"The run is suspended ({why}): aeonctl show {run.run_id} says what it waits for."


def question_text(question: Question) -> str:
    lines = [question.prompt]
    lines += [f"{number}. {option}" for number, option in enumerate(question.options, start=1)]
    if not question.options and question.schema.get("type", "string") != "string":
        lines.append(f"(as JSON: {json.dumps(question.schema, ensure_ascii=False)})")
    return "\n".join(lines)


def approval_text(run: Run, approval: ApprovalRequest) -> str:
    """Exactly what would be done. A message cannot approve it: a program could approve its own request."""
    how = f"Decide with `aeonctl approvals {run.run_id}`; then any message in this conversation continues it."
    return "\n".join([f"This needs your approval: {approval.message}", *call_lines(approval), how])


def _short(value: Any) -> str:
    if value is None:
        return ""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return _line(text if len(text) <= MAX_OUTPUT_CHARS else f"{text[:MAX_OUTPUT_CHARS]}…")


def _line(text: str) -> str:
    return " ".join(text.split())
