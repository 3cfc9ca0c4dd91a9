"""Makes the new file that a request names from what was read for it.

In the conversation of a decision a small model copies what it has read whole: a page with its menus, a table with all its rows (ADR 0125).
"""

from collections.abc import Sequence
from typing import Final

from aeond.domain.llm import LLMRequest
from aeond.domain.messages import Message
from aeond.domain.plans.plan import StepState
from aeond.domain.runs.budgets import Grant
from aeond.domain.runs.run import RunSnapshot
from aeond.domain.runs.situations import Situation
from aeond.domain.tools import ToolCall
from aeond.domain.values import display_json
from aeond.orchestration.answer.equations import evaluated
from aeond.orchestration.budget.budgeted_llm import BudgetedLLM, is_cut
from aeond.orchestration.context.new_files import names_file, new_paths
from aeond.orchestration.context.prompt_fitting import fit_prompt, room_in
from aeond.orchestration.decision.conversations.odds import odds_of
from aeond.orchestration.decision.conversations.results_reply import shown_results
from aeond.orchestration.decision.interfaces import Offer
from aeond.orchestration.decision.means import Means
from aeond.orchestration.decision.results import executed, results_length
from aeond.orchestration.interfaces import discard_text
from aeond.orchestration.prompts.answer_prompts import FOUND_THERE, text_messages
from aeond.orchestration.prompts.subject_prompts import NAMING, NEW_FILE
from aeond.ports import LLMAdapter

MAX_TEXT_TOKENS: Final = 900
MAX_RESULT_CHARS: Final = 8_000
MAX_PROMPT_TOKENS: Final = 3_000
SECONDS: Final = 300.0
_CALLS: Final = 2
_NEW_FROM: Final = 0.0  # log-odds that something is to be written under a name


async def new_file_call(
    means: Means, run: RunSnapshot, situation: Situation, offer: Offer, found: str, grant: Grant
) -> ToolCall | None:
    """The call that makes the one new file which the request names, with the text that the model writes below the results and the answer
    from them, for up to two calls of the grant. None if the request names none or several, or its name most likely means something
    else, a step failed, no tool makes files, or the model writes no text that is complete."""
    paths = new_paths(run, situation)
    spec = next((one for one in offer.tools if one.new_text), None)
    done = means.results.informative(executed(run))
    failed = any(step.state is not StepState.SUCCEEDED for step in done)
    if len(paths) != 1 or spec is None or failed or grant.left.llm_calls < _CALLS:
        return None
    existing = [path for path, _ in situation.files if names_file(run, path)]
    if existing and not await _is_for_new_file(means.llm, existing, paths[0], run, grant):
        return None
    steps = means.results.selected(done)

    def build(result_chars: int) -> tuple[Message, ...]:
        shown = [*shown_results(steps, result_chars), *([(FOUND_THERE, found)] if found else [])]
        return text_messages(run, situation, shown)

    room = min(room_in(grant, means.llm), MAX_PROMPT_TOKENS)
    fitted = await fit_prompt(means.llm, build, min(results_length(steps), MAX_RESULT_CHARS), room)
    if fitted.value is None:
        return None
    request = LLMRequest(
        fitted.value.messages, max_tokens=MAX_TEXT_TOKENS, fixed=True, deadline_seconds=SECONDS
    )
    answered = (await BudgetedLLM(means.llm, grant).stream(request, discard_text)).value
    if answered is None or is_cut(answered) or not answered.text.strip():
        return None
    known = "\n".join([run.text, *(display_json(step.output) for step in steps)])
    text = evaluated(answered.text.strip(), means.composer.compute, known)
    call = ToolCall(spec.name, {spec.new_name: paths[0], spec.new_text: text})
    return None if means.composer.validator.validate_tool_call(call, spec) else call


async def _is_for_new_file(
    llm: LLMAdapter, existing: Sequence[str], name: str, run: RunSnapshot, grant: Grant
) -> bool:
    """Whether something is to be written under the name, and not only the name into a file that exists."""
    odds = await odds_of(NEW_FILE, NAMING, llm, grant, ", ".join(existing), name, run.text)
    return odds >= _NEW_FROM
