"""The prompts of a run, and a session as text in them. Stable text first (rules, tools, examples), then what changes: engines cache prefixes.

An example says more to a small model than a description. Topics of examples are far apart, since they
get copied; none is arithmetic, since it comes back as an argument.
"""

from collections.abc import Sequence
from typing import Final

from aeond.domain.messages import Message, Role
from aeond.domain.plans.plan import PlanStep
from aeond.domain.runs.run import RunSnapshot
from aeond.domain.tools import ToolSpec
from aeond.domain.values import JsonObject, compact_json
from aeond.schemas.parts import as_object

NO_ANSWER: Final = "(no answer)"
_TOOLS: Final = "You are aeond, the assistant on the user's own computer. You have these tools:"

_PLAN_RULES: Final = """\
You plan how to fulfil a request. Reply with JSON: {"steps":[...]}, the fewest steps that do it, nothing \
that was not asked for. A step is a call of a tool above, or of the llm:

llm
The language model: knows facts of the world, explains, writes, translates, compares, talks. It sees the \
results of earlier steps, but cannot calculate, remember anything or look into files.
{"agent":"llm"}
{"agent":"llm","task":"..."}"""

_REFERENCES: Final = (
    '"$s1" stands for the result of step 1, "$s2" for that of step 2. Names and texts from the request are '
    "copied letter by letter."
)

_REPLAN: Final = "That plan cannot work: {problem}. Write another plan for the request."

STEP_RULES: Final = (
    "You do one step of a larger task. Give only what the step asks for, ready to be used: no "
    "introduction, no remarks."
)

# Only for steps that rest on results: a small model takes up the offer where there is nothing to be missing.
BLOCKED: Final = "BLOCKED:"  # what the built-in agent begins with when it cannot do its step
BLOCKED_RULE: Final = (
    f" Only if the results say nothing at all of what the step works on, reply with {BLOCKED} and what is "
    "missing."
)

# Notes on a result, for the steps that use it.
CUT_NOTE: Final = "This text was cut off at its token limit."
SHORTENED_NOTE: Final = "The results that this rests on were shortened to fit."

WHOLE_REQUEST: Final = "Answer the request."  # the task of an agent's step that names none

TALKING: Final = (
    "You are aeond, a helpful assistant on the user's own computer. Answer briefly and in plain words. Asked "
    "who you are, you say that you are aeond, the assistant on this computer."
)

ANSWER_RULES: Final = (
    f"{TALKING} Where results are given, they are true: rest on them alone, and copy names, numbers and texts from "
    "them exactly."
)

_REPAIR_RULES: Final = (
    "You repair the form of broken JSON. Keep every name and value exactly as it is; add nothing, drop "
    "nothing. Reply with the repaired JSON only."
)

_REPLACE_RULES: Final = (
    "A step of a plan calls a tool that does not exist. Choose the tool below that does what was meant "
    'and call it with the same values, or reply {"tool":null} if none does.'
)


def tools_text(specs: Sequence[ToolSpec]) -> str:
    """What the system message of every question about a run as a whole begins with."""
    return "\n".join([_TOOLS, "", *(_tool(spec) for spec in specs)])


def preamble_messages(
    specs: Sequence[ToolSpec], examples: Sequence[tuple[str, JsonObject]], instructions: str = ""
) -> tuple[Message, ...]:
    """What every question about a run as a whole begins with, the same for all of them.

    `instructions` are those of the Template that a child run follows.
    """
    rules = f"{tools_text(specs)}\n\n{_PLAN_RULES}\n\n{_REFERENCES}"
    messages = [_system(f"{rules}\n\n{instructions}" if instructions else rules)]
    for asked, plan in examples:
        messages += [_user(asked), _agent(compact_json(plan))]
    return tuple(messages)


def plan_messages(request: str, preamble: Sequence[Message]) -> tuple[Message, ...]:
    """Asks for a plan."""
    return (*preamble, _user(request))


def replan_messages(messages: Sequence[Message], plan: str, problem: str) -> tuple[Message, ...]:
    """Asks again, with what was wrong with the first plan."""
    return (*messages, _agent(plan), _user(_REPLAN.format(problem=problem)))


def in_session(run: RunSnapshot) -> str:
    """The request, behind what its session brought."""
    return f"What was said before:\n{run.context}\n\n{run.text}" if run.context else run.text


def with_earlier(run: RunSnapshot) -> str:
    """The request, and the user's earlier statements in the session, for prompts without the session itself."""
    if not run.standing:
        return run.text
    earlier = "\n".join(run.standing)
    return f"{run.text}\n(Said earlier in this conversation; background, not tasks to do again:\n{earlier})"


def step_prompt(step: PlanStep, request: str, context: str) -> str:
    """Asks an agent for one step of several."""
    parts = [f"The user's request: {request}", _place_of(step)]
    if context:
        parts.append(f"Results of earlier steps:\n{context}")
    parts.append(f"Do only this step, and reply with its result alone: {step.description}")
    if step.handoff_to_next:
        parts.append(f"For the next step, also give: {step.handoff_to_next}")
    return "\n\n".join(parts)


def final_step_prompt(step: PlanStep, request: str, context: str) -> str:
    """Asks an agent for the last step, whose output is the answer."""
    asked = "Answer the whole request now from the results, with each name and value that it asks for."
    return f"Results:\n{context}\n\n{_place_of(step)}\n{step.description}\nRequest: {request}\n{asked}"


def _place_of(step: PlanStep) -> str:
    return f"This is step {step.step_index} of {step.total_steps}."


def answer_prompt(request: str, results: str, missing: Sequence[str]) -> str:
    """Asks for the answer from what the steps gave."""
    parts = [f"Results:\n{results}"]
    if missing:
        parts.append("These steps gave no result; say so:\n" + "\n".join(f"- {line}" for line in missing))
    done = "It is done in part." if missing else "It is done."
    asked = "Tell me the outcome in a sentence or two, with each name and its value."
    return "\n\n".join([*parts, f"Request: {request}\n{done} {asked}"])


def answer_messages(
    request: str, results: str, missing: Sequence[str], instructions: str = ""
) -> tuple[Message, ...]:
    return (_system(instructions or ANSWER_RULES), _user(answer_prompt(request, results, missing)))


def repair_json_messages(text: str, problem: str) -> tuple[Message, ...]:
    return (_system(_REPAIR_RULES), _user(f"Problem: {problem}\n\n{text}"))


def repair_plan_messages(text: str, problem: str) -> tuple[Message, ...]:
    shape = '{"steps":[{"tool":"...","arguments":{...}},{"agent":"llm","task":"..."}]}'
    return (_system(f"{_REPAIR_RULES} The form is {shape}"), _user(f"Problem: {problem}\n\n{text}"))


def repair_call_messages(text: str, problem: str, spec: ToolSpec) -> tuple[Message, ...]:
    form = f"The form is as in this example:\n{_tool(spec)}"
    return (_system(f"{_REPAIR_RULES} {form}"), _user(f"Problem: {problem}\n\n{text}"))


def replace_tool_messages(
    call: str, problem: str, description: str, goal: str, specs: Sequence[ToolSpec]
) -> tuple[Message, ...]:
    tools = "\n".join(_tool(spec) for spec in specs)
    return (
        _system(f"{_REPLACE_RULES}\n\n{tools}"),
        _user(f"The plan's goal: {goal}\nThe step: {description}\nIts call: {call}\nProblem: {problem}"),
    )


def _tool(spec: ToolSpec) -> str:
    """A tool in two lines: what it does and gives, and how it is called."""
    gives = ", ".join(as_object(spec.output_schema.get("properties")))
    head = f"{spec.name}: {spec.description}" + (f" Result: {gives}." if gives else "")
    return f"{head}\n{compact_json({'tool': spec.name, 'arguments': spec.example or {}})}"


def _system(text: str) -> Message:
    return Message(Role.SYSTEM, text)


def _user(text: str) -> Message:
    return Message(Role.USER, text)


def _agent(text: str) -> Message:
    return Message(Role.AGENT, text)


def exchange_text(request: str, asked: Sequence[tuple[str, str]], answer: str) -> str:
    """One exchange; `asked` are the questions in between, each with the user's answer."""
    lines = [f"User: {request}"]
    for question, reply in asked:
        lines += [f"Assistant: {question}", f"User: {reply}"]
    return "\n".join([*lines, f"Assistant: {answer}"])


def session_text(goal: str, kept: str, questions: str, summary: str, recent: str) -> str:
    """A session from the parts that are not empty. `recent` are the exchanges that are quoted whole."""
    earlier = [
        f"The conversation began with this request:\n{goal}" if goal else "",
        f"The user said:\n{kept}" if kept else "",
        f"Still open:\n{questions}" if questions else "",
        f"Then, in short:\n{summary}" if summary else "",
    ]
    parts = [part for part in earlier if part]
    return "\n\n".join([*parts, f"Most recently:\n{recent}" if parts and recent else recent]).strip()


def listed(lines: Sequence[str], left_out: int = 0) -> str:
    """Lines as a list, with a note of how many older ones are left out."""
    note = [f"(older lines left out: {left_out})"] if left_out else []
    return "\n".join([*note, *(f"- {line}" for line in lines)])
