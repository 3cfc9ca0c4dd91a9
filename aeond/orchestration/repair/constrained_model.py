"""One question to a model under a schema: the reply is checked and repaired in form, or it is a problem."""

from collections.abc import Sequence
from typing import Final

from aeond.domain.llm import LLMRequest
from aeond.domain.messages import Message
from aeond.domain.outcome import Outcome, Problem, failure
from aeond.domain.runs.budgets import Grant
from aeond.domain.values import JsonObject, JsonValue
from aeond.frozen import frozen
from aeond.orchestration.budget.budgeted_llm import BudgetedLLM, is_cut
from aeond.orchestration.repair.strict_json import read_json
from aeond.orchestration.repair.supervisor import Supervisor
from aeond.ports import LLMAdapter, Validator

ASKING_SECONDS: Final = 300.0


@frozen
class ConstrainedModel:
    """An LLMAdapter that is asked for JSON, with the Supervisor behind it."""

    llm: LLMAdapter
    supervisor: Supervisor
    validator: Validator

    async def ask(
        self,
        messages: Sequence[Message],
        schema: JsonObject,
        max_tokens: int,
        grant: Grant,
        deadline_seconds: float = ASKING_SECONDS,
    ) -> Outcome[JsonValue]:
        """JSON that satisfies the schema, for one call of the grant.

        Output that does not goes to the Supervisor, which has what is left of the grant; it is not asked
        for again. A model that fails, a grant that is spent and an answer that was cut (ANSWER_CUT: half
        of what was meant is not what was meant) are problems, with the value None.
        """
        request = LLMRequest(
            tuple(messages),
            max_tokens=max_tokens,
            schema=schema,
            deadline_seconds=deadline_seconds,
        )
        answered = await BudgetedLLM(self.llm, grant).generate(request)
        if answered.value is None:
            return answered.failed(None)
        if is_cut(answered.value):
            return failure(Problem("ANSWER_CUT", f"the answer was cut after {max_tokens} tokens"), None)
        text = answered.value.text
        read = read_json(text)
        if read.ok and not self.validator.validate_output(read.value, schema):
            return read
        repaired = await self.supervisor.repair_json(text, schema, grant)
        return repaired if repaired.ok else repaired.failed(None)
