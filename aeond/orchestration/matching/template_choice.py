"""Chooses the Template for a subtask: by name, or by asking the model, which may say that none fits.

A request that names a template in its hints gets that one. For any other, the model picks one template or none by
their descriptions, in one constrained call. Of a library with more than MAX_LISTED templates it sees those that
are nearest to the request by their hints and descriptions. If the model cannot be asked, the nearest one is taken if
it is near enough. No limit on nearness decides otherwise: docs/evaluation.md has the measurements.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from aeond.domain.outcome import Outcome, Problem, failure, success
from aeond.domain.plans.subtasks import SubtaskRequest, Template
from aeond.domain.runs.budgets import Grant
from aeond.frozen import frozen
from aeond.orchestration.matching.text_ranking import Described, TextRanking
from aeond.orchestration.prompts.template_prompts import NONE, choice_messages, choice_schema
from aeond.orchestration.repair.constrained_model import ConstrainedModel

MAX_LISTED: Final = 24
ANSWER_TOKENS: Final = 32
LEAST_BY_MEANING: Final = 0.45  # scores from which the nearest template is taken without a model
LEAST_BY_WORDS: Final = 0.10


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
    """The SubtaskChooser port over a library."""

    library: TemplateLibrary
    ranking: TextRanking
    model: ConstrainedModel

    async def choose(self, request: SubtaskRequest, grant: Grant) -> Outcome[SubtaskRequest]:
        named = self.library.match(request)
        if named.value is not None or (named.problem and named.problem.reason != "TEMPLATE_NOT_FOUND"):
            return success(request) if named.value is not None else failure(_problem(named), request)
        fitting = [one for one in self.library.templates if not missing_inputs(one, request)]
        name = await self._decide(wording_of(request), fitting, grant) if fitting else ""
        if not name:
            return failure(self.library.no_fit(request), request)
        return success(replace(request, hints=(name, *request.hints)))

    async def _decide(self, wording: str, fitting: Sequence[Template], grant: Grant) -> str:
        """The name of a template, "" if none fits."""
        listed = await self._listed(wording, fitting)
        picked = await self.model.ask(
            choice_messages(wording, listed), choice_schema(listed), ANSWER_TOKENS, grant
        )
        if isinstance(picked.value, dict):
            answer = str(picked.value["helper"])
            return "" if answer == NONE else answer
        ranking = await self.ranking.rank(wording, [describe_template(one) for one in fitting])
        name, score = ranking.scores[0]
        return name if score >= (LEAST_BY_MEANING if ranking.by_meaning else LEAST_BY_WORDS) else ""

    async def _listed(self, wording: str, fitting: Sequence[Template]) -> Sequence[Template]:
        """The templates for the model to see; a library that is listed whole is always listed in the same order."""
        if len(fitting) <= MAX_LISTED:
            return fitting
        ranking = await self.ranking.rank(wording, [describe_template(one) for one in fitting])
        by_name = {template.name: template for template in fitting}
        return [by_name[name] for name, _ in ranking.scores[:MAX_LISTED]]


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


def _problem(outcome: Outcome[Template | None]) -> Problem:
    return outcome.problem or Problem("TEMPLATE_NOT_FOUND", "no template fits")
