"""Makes the new file that a request names from what was read for it.

In the conversation of a decision a small model copies what it has read whole: a page with its menus, a table with all its rows (ADR 0125).
"""

from typing import Final

from aeond.domain.llm import LLMRequest
from aeond.domain.messages import Message
from aeond.domain.runs.budgets import Grant
from aeond.domain.runs.run import RunSnapshot
from aeond.domain.runs.situations import Situation
from aeond.domain.tools import ToolCall
from aeond.domain.values import display_json
from aeond.frozen import frozen
from aeond.orchestration.answer.equations import Computes, evaluated
from aeond.orchestration.budget.budgeted_llm import BudgetedLLM, is_cut
from aeond.orchestration.context.new_files import new_paths
from aeond.orchestration.context.prompt_fitting import fit_prompt, room_in
from aeond.orchestration.decision.conversations.results_reply import ResultsReply, shown_results
from aeond.orchestration.decision.interfaces import Offer
from aeond.orchestration.decision.results import executed, results_length
from aeond.orchestration.interfaces import discard_text
from aeond.orchestration.prompts.answer_prompts import text_messages
from aeond.ports import LLMAdapter, Validator

MAX_TEXT_TOKENS: Final = 900
MAX_RESULT_CHARS: Final = 8_000
MAX_PROMPT_TOKENS: Final = 3_000
SECONDS: Final = 300.0


@frozen
class NewFile:
    """Asks one model."""

    llm: LLMAdapter
    results: ResultsReply
    validator: Validator
    compute: Computes

    async def call(
        self, run: RunSnapshot, situation: Situation, offer: Offer, grant: Grant
    ) -> ToolCall | None:
        """The call that makes the one new file which the request names, with the text that the model writes below the results, for one call of
        the grant. None if the request names none or several, no tool makes files, or the model writes no text that is complete."""
        paths = new_paths(run, situation)
        spec = next((one for one in offer.tools if one.new_text), None)
        if len(paths) != 1 or spec is None or grant.left.llm_calls < 1:
            return None
        steps = self.results.selected(executed(run))

        def build(result_chars: int) -> tuple[Message, ...]:
            return text_messages(run, situation, shown_results(steps, result_chars))

        room = min(room_in(grant, self.llm), MAX_PROMPT_TOKENS)
        fitted = await fit_prompt(self.llm, build, min(results_length(steps), MAX_RESULT_CHARS), room)
        if fitted.value is None:
            return None
        request = LLMRequest(
            fitted.value.messages, max_tokens=MAX_TEXT_TOKENS, fixed=True, deadline_seconds=SECONDS
        )
        answered = (await BudgetedLLM(self.llm, grant).stream(request, discard_text)).value
        if answered is None or is_cut(answered):
            return None
        known = "\n".join([run.text, *(display_json(step.output) for step in steps)])
        text = evaluated(answered.text.strip(), self.compute, known)
        call = ToolCall(spec.name, {spec.new_name: paths[0], spec.new_text: text})
        return None if self.validator.validate_tool_call(call, spec) else call
