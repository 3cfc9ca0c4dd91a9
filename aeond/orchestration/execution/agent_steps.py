"""Runs the steps of agents: builds their prompts and turns their replies into outputs."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import anyio

from aeond.domain.llm import FinishReason
from aeond.domain.messages import Message, Role
from aeond.domain.outcome import BUDGET_SPENT, Outcome, Problem, failure, success
from aeond.domain.plans.plan import LLM_AGENT, Clarity, PlanStep
from aeond.domain.runs.budgets import Amounts, Grant, ModelUse
from aeond.domain.runs.run import PlanSource, RunSnapshot
from aeond.domain.values import JsonObject, JsonValue, display_json
from aeond.errors import AeondError, LLMGoneError
from aeond.frozen import frozen
from aeond.orchestration.budget.budgeted_llm import MAX_ASKS, problem_of
from aeond.orchestration.budget.metered_model import MeteredModel
from aeond.orchestration.context.prompt_fitting import FittedPrompt, fit_prompt, room_in
from aeond.orchestration.execution.readiness import MAX_CONTEXT_CHARS, context_length, context_of, with_values
from aeond.orchestration.planning.step_graph import final_step
from aeond.orchestration.prompts.run_prompts import (
    ANSWER_RULES,
    BLOCKED,
    BLOCKED_RULE,
    CUT_NOTE,
    SHORTENED_NOTE,
    STEP_RULES,
    final_step_prompt,
    step_prompt,
    with_earlier,
)
from aeond.orchestration.repair.strict_json import check_value
from aeond.ports import Agent, LLMAdapter, StepOutput, TextSink
from aeond.ports.agents import ModelAgent
from aeond.schemas.parts import as_object

MAX_STEP_TOKENS: Final = 1_024
MAX_PROMPT_TOKENS: Final = 3_000
AGENT_SECONDS: Final = 600.0  # of one step
MAX_MATERIAL_CHARS: Final = 60_000


@frozen
class _Task:
    """The prompt of an agent: its rules, and its message with a given number of characters of context."""

    system: str
    step: PlanStep
    request: str
    snapshot: RunSnapshot
    alone: bool
    last: bool

    def messages(self, context_chars: int) -> tuple[Message, ...]:
        return (Message(Role.SYSTEM, self.system), Message(Role.USER, self.text(context_chars)))

    def text(self, context_chars: int) -> str:
        if self.alone:
            return self.request  # in the user's own words
        context = context_of(self.step.depends_on, self.snapshot, context_chars)
        prompt = final_step_prompt if self.last else step_prompt
        step = replace(self.step, description=with_values(self.step.description, self.snapshot))
        return prompt(step, self.request, context)


class AgentReasoner:
    """The Reasoner over agents by name.

    An agent gets one user message. For the built-in `llm` its content is `system` (the rules to speak by)
    and `text`; any other agent has rules of its own and gets the text. Metadata: `max_tokens` bounds prompt
    and answer together, `answer_tokens` the answer alone; `run_id` and `step_id` say what for.
    The last message it gives counts; its metadata may hold `used` (`llm_calls`, `prompt_tokens`,
    `completion_tokens`), `finish_reason`, `clarity` and `handoff`. What an agent does not account for
    counts as spent. A ModelAgent gets its parts of the prompt apart and a model that takes each call from the
    grant. The built-in `llm` says that it is BLOCKED, and why, by its first word. An AeondError of an agent is a problem; what else it raises is a bug in it, and ends
    at the step boundary.
    """

    def __init__(self, agents: Mapping[str, Agent | ModelAgent], llm: LLMAdapter) -> None:
        self._agents = agents
        self._llm = llm

    def has_agent(self, name: str) -> bool:
        return name in self._agents

    async def reason(
        self, step: PlanStep, snapshot: RunSnapshot, grant: Grant, on_text: TextSink
    ) -> Outcome[StepOutput | None]:
        agent = self._agents.get(step.agent or "")
        if agent is None:
            return failure(Problem("AGENT_UNKNOWN", f"there is no agent '{step.agent}'"), None)
        if isinstance(agent, ModelAgent):
            return await self._ask_with_model(agent, step, snapshot, grant, on_text)
        outcome: Outcome[StepOutput | None] = failure(_spent(grant), None)
        for attempt in range(MAX_ASKS):
            if attempt:
                on_text("")  # discards the text shown so far
            fitted = await self._fit(step, snapshot, grant)
            if fitted.value is None:
                problem = fitted.cause
                # If there is no room for another try, the loss of the engine is the better report. Any other
                # problem is reported itself: an engine that stays down says what to do.
                retried = attempt and problem.reason in (BUDGET_SPENT, "PROMPT_TOO_LONG")
                return outcome if retried else failure(problem, None)
            outcome = await self._ask(agent, step, snapshot, fitted.value, grant, on_text)
            if outcome.ok or outcome.problem is None or outcome.problem.reason != LLMGoneError.reason:
                break
        return outcome

    async def _fit(self, step: PlanStep, snapshot: RunSnapshot, grant: Grant) -> Outcome[FittedPrompt | None]:
        """The prompt, with room left for an answer within the grant and the model's context."""
        left = grant.left
        room = room_in(grant, self._llm)
        if left.llm_calls < 1 or room <= 0:
            return failure(_spent(grant), None)
        task = _task(step, snapshot)
        # The request is not shortened; only results are, and only beyond what is quick to read.
        bare = await fit_prompt(self._llm, task.messages, 0, room)
        if bare.value is None:
            problem = bare.problem
            if problem is None or problem.reason != "PROMPT_TOO_LONG":
                return bare
            budgeted = left.tokens < self._llm.capabilities.context_length
            return failure(replace(problem, reason=BUDGET_SPENT) if budgeted else problem, None)
        limit = min(room, max(MAX_PROMPT_TOKENS, bare.value.tokens))
        whole = 0 if task.alone else context_length(step.depends_on, snapshot)
        fitted = await fit_prompt(self._llm, task.messages, min(whole, MAX_CONTEXT_CHARS), limit)
        if fitted.value is None or whole <= MAX_CONTEXT_CHARS:
            return fitted
        return success(replace(fitted.value, shortened=True))

    async def _ask(
        self,
        agent: Agent,
        step: PlanStep,
        snapshot: RunSnapshot,
        prompt: FittedPrompt,
        grant: Grant,
        on_text: TextSink,
    ) -> Outcome[StepOutput | None]:
        context = self._llm.capabilities.context_length
        longest = min(MAX_STEP_TOKENS, grant.left.tokens - prompt.tokens, context - prompt.tokens)
        taken = Amounts(llm_calls=1, tokens=prompt.tokens + longest)
        if longest < 1 or not grant.take(taken):
            return failure(_spent(grant), None)
        message = _message(step, snapshot, prompt, taken.tokens, longest)
        said = await _said(agent, message, on_text)
        if said.value is None:
            return said.failed(None)
        _settle(grant, taken, as_object(said.value.metadata.get("used")))
        return _output(agent, said.value, shortened=prompt.shortened)

    async def _ask_with_model(
        self, agent: ModelAgent, step: PlanStep, snapshot: RunSnapshot, grant: Grant, on_text: TextSink
    ) -> Outcome[StepOutput | None]:
        bound = agent.using(MeteredModel(self._llm, grant))
        said = await _said(bound, _material_message(step, snapshot, grant), on_text)
        if said.value is None:
            return said.failed(None)
        whole = context_length(step.depends_on, snapshot)
        return _output(bound, said.value, shortened=whole > MAX_MATERIAL_CHARS)


async def _said(agent: Agent, message: Message, on_text: TextSink) -> Outcome[Message | None]:
    """The agent's last message, with its text shown; AGENT_TIMEOUT after AGENT_SECONDS."""
    last: Message | None = None
    shown = 0
    try:
        with anyio.fail_after(AGENT_SECONDS) as deadline:
            if "stream" in agent.capabilities:
                async for piece in agent.stream(message):
                    if last is not None:
                        shown += _show(last, on_text)
                    last = piece
            else:
                last = await agent.process(message)
    except AeondError as error:
        return failure(problem_of(error), None)
    except TimeoutError:
        if not deadline.cancelled_caught:  # the agent's own: a bug in it
            raise
        why = f"agent '{agent.name}' took longer than {AGENT_SECONDS:.0f} s"
        return failure(Problem("AGENT_TIMEOUT", why), None)
    if last is None:
        return failure(Problem("AGENT_SILENT", f"agent '{agent.name}' said nothing"), None)
    if not shown:
        _show(last, on_text)
    return success(last)


def _material_message(step: PlanStep, snapshot: RunSnapshot, grant: Grant) -> Message:
    """The message for a ModelAgent. In a child run the material of a step without dependencies is what follows the first
    paragraph of the request."""
    request, material = with_earlier(snapshot), context_of(step.depends_on, snapshot, MAX_MATERIAL_CHARS)
    if snapshot.ancestry.parent_run_id and not step.depends_on:
        request, _, material = request.partition("\n\n")
    content: JsonObject = {
        "request": request,
        "task": with_values(step.description, snapshot),
        "material": material[:MAX_MATERIAL_CHARS],
    }
    metadata: JsonObject = {
        "max_calls": grant.left.llm_calls,
        "max_tokens": grant.left.tokens,
        "run_id": snapshot.run_id,
        "step_id": step.step_id,
    }
    return Message(Role.USER, content, metadata)


def _message(
    step: PlanStep, snapshot: RunSnapshot, prompt: FittedPrompt, max_tokens: int, answer_tokens: int
) -> Message:
    system, user = prompt.messages
    text: JsonObject = {"system": system.content, "text": user.content}
    metadata: JsonObject = {
        "max_tokens": max_tokens,
        "answer_tokens": answer_tokens,
        "run_id": snapshot.run_id,
        "step_id": step.step_id,
    }
    return Message(Role.USER, text if step.agent == LLM_AGENT else user.content, metadata)


def _task(step: PlanStep, snapshot: RunSnapshot) -> _Task:
    """A step that is the whole of a model's plan gets the request in the user's own words; the step that gives
    the answer follows the instructions of the run's Template, if there are any."""
    steps = snapshot.plan.steps if snapshot.plan else ()
    planned = snapshot.plan_source is PlanSource.MODEL
    alone = planned and len(steps) == 1 and not step.errors
    final = final_step(snapshot.plan) if planned and snapshot.plan else None
    last = final is not None and final.step_id == step.step_id
    rules = STEP_RULES + BLOCKED_RULE if step.depends_on else STEP_RULES
    system = snapshot.request.instructions or ANSWER_RULES if alone or last else rules
    return _Task(system, step, with_earlier(snapshot), snapshot, alone, last)


def _output(agent: Agent, message: Message, *, shortened: bool) -> Outcome[StepOutput | None]:
    problems = check_value(message.content)
    if problems:
        said = f"agent '{agent.name}' gave something unreadable: {problems[0]}"
        return failure(Problem("OUTPUT_INVALID", said), None)
    content = message.content.strip() if isinstance(message.content, str) else message.content
    if content in ("", None):
        return failure(Problem("AGENT_SILENT", f"agent '{agent.name}' said nothing", retryable=True), None)
    clarity, handoff = message.metadata.get("clarity"), message.metadata.get("handoff")
    clear = clarity if isinstance(clarity, str) and clarity in set(Clarity) else Clarity.CLEAR.value
    if agent.name == LLM_AGENT and isinstance(content, str) and content.startswith(BLOCKED):
        content, clear = content.removeprefix(BLOCKED).strip() or content, Clarity.BLOCKED.value
    notes = [handoff] if isinstance(handoff, str) and handoff else []
    if message.metadata.get("finish_reason") == FinishReason.LENGTH:
        notes.append(CUT_NOTE)
    if shortened:
        notes.append(SHORTENED_NOTE)
    if clear == Clarity.CLEAR and {CUT_NOTE, SHORTENED_NOTE} & set(notes):
        clear = Clarity.PARTIALLY_CLEAR.value
    return success(StepOutput(content, clear, " ".join(notes)))


def _show(message: Message, on_text: TextSink) -> int:
    text = display_json(message.content)
    if text:
        on_text(text)
    return len(text)


def _settle(grant: Grant, taken: Amounts, used: JsonObject) -> None:
    """Gives back what the agent says it did not use; what it used beyond that is taken, if it is there."""
    if not used:
        return
    use = ModelUse(
        prompt_tokens=_count(used.get("prompt_tokens")),
        completion_tokens=_count(used.get("completion_tokens")),
        cached_tokens=_count(used.get("cached_tokens")),
        first_token_seconds=_seconds(used.get("first_token_seconds")),
        engine_seconds=_seconds(used.get("engine_seconds")),
    )
    grant.note(use)
    tokens = use.prompt_tokens + use.completion_tokens
    calls = max(1, _count(used.get("llm_calls", 1)))
    if tokens < taken.tokens:
        grant.give_back(Amounts(tokens=taken.tokens - tokens))
    more = Amounts(llm_calls=calls - 1, tokens=max(0, tokens - taken.tokens))
    grant.take(more.at_most(grant.left))


def _count(value: JsonValue) -> int:
    return max(0, value) if isinstance(value, int) else 0


def _seconds(value: JsonValue) -> float:
    return float(value) if isinstance(value, (int, float)) and 0 <= value < float("inf") else 0.0


def _spent(grant: Grant) -> Problem:
    left = grant.left
    return Problem(BUDGET_SPENT, f"{left.llm_calls} model calls and {left.tokens} tokens are left")
