"""Chooses the Template for a subtask: by name, or by finding the nearest one and asking the model whether it fits.

A request that names a template in its hints gets that one. For any other, the model restates the request as a kind of
work, in one English sentence; the templates whose texts are nearest to request and sentence are the candidates. The model
then says of each whether the request asks for what its description says: the one with the most probable "yes" is taken
if that is probable enough, so that a request that nothing fits starts no run. Without vectors the model picks one candidate
by the descriptions. If the model cannot be asked, the nearest template is taken if it is near enough. docs/evaluation.md
has the measurements.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from aeond.domain.llm import LikelyToken, LLMRequest
from aeond.domain.outcome import Outcome, Problem, failure, success
from aeond.domain.plans.subtasks import SubtaskRequest, Template
from aeond.domain.runs.budgets import Grant
from aeond.frozen import frozen
from aeond.orchestration.budget.budgeted_llm import BudgetedLLM
from aeond.orchestration.decision.conversations.odds import answer_to, is_answered, log_odds
from aeond.orchestration.matching.text_ranking import Described, Ranking, TextRanking
from aeond.orchestration.prompts.decision_prompts import YES
from aeond.orchestration.prompts.template_prompts import (
    FIT,
    NONE,
    choice_messages,
    choice_schema,
    restating_messages,
)
from aeond.orchestration.repair.supervisor import Supervisor
from aeond.ports import LLMAdapter

RESTATED_TOKENS: Final = 24
CERTAIN: Final = 20.0
"""The log-odds of a reply whose probability the server does not report."""

MAX_LISTED: Final = 24
ANSWER_TOKENS: Final = 32
MAX_JUDGED: Final = 3
LEAST_ODDS: Final = 1.75  # the log-odds of "yes" from which a template fits; chosen on requests for tuning
LEAST_BY_MEANING: Final = 0.45  # scores from which the nearest template is taken without a model
LEAST_BY_WORDS: Final = 0.10


@frozen
class TemplateJudge:
    """Asks one model; each question is one call of the grant. None if it cannot be asked or gives no reply."""

    llm: LLMAdapter

    async def restated(self, wording: str, grant: Grant) -> str | None:
        """The kind of work, in one English sentence: descriptions of templates are compared with it."""
        request = LLMRequest(restating_messages(wording), max_tokens=RESTATED_TOKENS, fixed=True)
        answered = (await BudgetedLLM(self.llm, grant).generate(request)).value
        return answered.text.strip().partition("\n")[0] or None if answered else None

    async def fits(self, wording: str, template: Template, grant: Grant) -> float | None:
        """The log-odds that the template does what the request asks for."""
        answered = await answer_to(FIT, self.llm, grant, wording, template.description)
        if answered is None:
            return None
        likely = answered.likely or (LikelyToken(answered.text, 0.0),)
        if not is_answered(likely, FIT):
            return None
        odds = log_odds(likely, FIT.read, YES)
        return odds if math.isfinite(odds) else math.copysign(CERTAIN, odds)


class TemplateLibrary:
    """The Templates by name."""

    def __init__(self, templates: Sequence[Template]) -> None:
        self._by_name: Mapping[str, Template] = {template.name: template for template in templates}

    @property
    def templates(self) -> Sequence[Template]:
        return tuple(self._by_name.values())

    def match(self, request: SubtaskRequest) -> Outcome[Template | None]:
        """The template that a hint names, if the request gives what it needs (see `missing_inputs`)."""
        for hint in request.hints:
            named = self._by_name.get(hint)
            if named is None:
                continue
            if missing := missing_inputs(named, request):
                wanted = ", ".join(missing)
                message = f"template '{named.name}' needs {wanted}, which the request does not give"
                return failure(Problem("TEMPLATE_INPUT_MISSING", message), None)
            return success(named)
        return failure(self.no_fit(request), None)

    def no_fit(self, request: SubtaskRequest) -> Problem:
        known = ", ".join(sorted(self._by_name)) or "none"
        message = f"no template fits '{request.description:.80}'; there are: {known}"
        return Problem("TEMPLATE_NOT_FOUND", message)


@frozen
class TemplateChooser:
    """The SubtaskChooser port over a library. A choice takes two to four calls of the model, as the grant allows: each
    candidate beyond the first needs one."""

    library: TemplateLibrary
    ranking: TextRanking
    model: Supervisor

    async def choose(self, request: SubtaskRequest, grant: Grant) -> Outcome[SubtaskRequest]:
        named = self.library.match(request)
        if named.value is not None or (named.problem and named.problem.reason != "TEMPLATE_NOT_FOUND"):
            return success(request) if named.value is not None else named.failed(request)
        fitting = {one.name: one for one in self.library.templates if not missing_inputs(one, request)}
        chosen = await self._decide(wording_of(request), fitting, grant) if fitting else None
        if chosen is None:
            return failure(self.library.no_fit(request), request)
        return success(replace(request, hints=(chosen.name, *request.hints)))

    async def _decide(self, wording: str, fitting: Mapping[str, Template], grant: Grant) -> Template | None:
        """The template that fits, None if none does."""
        ranking = await self.ranking.rank(wording, [describe_template(one) for one in fitting.values()])
        nearest, near = ranking.scores[0]
        judge = TemplateJudge(self.model.llm)
        if ranking.by_meaning:
            names = await self._nearest(ranking, await judge.restated(wording, grant), fitting)
        else:
            names = [await self._picked(wording, ranking, fitting, grant)]
        if NONE in names:
            return None
        judged: dict[str, float] = {}
        for name in names[: max(1, min(MAX_JUDGED, grant.left.llm_calls))]:
            odds = await judge.fits(wording, fitting[name], grant)
            if odds is not None:
                judged[name] = odds
        if not judged:
            enough = LEAST_BY_MEANING if ranking.by_meaning else LEAST_BY_WORDS
            return fitting[nearest] if near >= enough else None
        surest = max(judged, key=lambda name: judged[name])
        return fitting[surest] if judged[surest] >= LEAST_ODDS else None

    async def _nearest(
        self, by_request: Ranking, restated: str | None, fitting: Mapping[str, Template]
    ) -> Sequence[str]:
        """The templates by their nearness to the request and its restatement together, the nearest first."""
        scores = dict(by_request.scores)
        if restated is not None:
            by_kind = await self.ranking.rank(restated, [describe_template(one) for one in fitting.values()])
            if by_kind.by_meaning:
                scores = {name: scores[name] + score for name, score in by_kind.scores}
        return sorted(scores, key=lambda name: -scores[name])

    async def _picked(
        self, wording: str, ranking: Ranking, fitting: Mapping[str, Template], grant: Grant
    ) -> str:
        """The template that the model picks by its description, or NONE. It sees a library of at most MAX_LISTED
        templates whole and always in the same order; of a larger one the nearest. If it cannot be asked: the nearest."""
        listed = list(fitting.values())
        if len(listed) > MAX_LISTED:
            listed = [fitting[name] for name, _ in ranking.scores[:MAX_LISTED]]
        picked = await self.model.ask(
            choice_messages(wording, listed), choice_schema(listed), ANSWER_TOKENS, grant
        )
        return str(picked.value["helper"]) if isinstance(picked.value, dict) else ranking.scores[0][0]


def wording_of(request: SubtaskRequest) -> str:
    """What a request is compared by: the first paragraph of its description, and its hints. What follows is material
    to work on."""
    return "\n".join([request.description.partition("\n\n")[0], *request.hints])


def missing_inputs(template: Template, request: SubtaskRequest) -> list[str]:
    """The inputs that the template needs and the request lacks. A request without any inputs lacks none: its
    description has everything."""
    return [name for name in template.inputs if name not in request.inputs] if request.inputs else []


def describe_template(template: Template) -> Described:
    return Described(template.name, (template.description, *template.hints))
