"""What decisions are made with: a model, the tools and files of a run, and what the model has answered about the last runs."""

from collections.abc import Callable
from dataclasses import field

from aeond.domain.runs.budgets import Grant
from aeond.domain.runs.run import RunSnapshot
from aeond.domain.runs.situations import Situation
from aeond.frozen import frozen
from aeond.orchestration.context.file_search import FileSearch
from aeond.orchestration.decision.conversations.composing import Composer
from aeond.orchestration.decision.conversations.correction import Correction
from aeond.orchestration.decision.conversations.fitting import FittingTools
from aeond.orchestration.decision.conversations.redirection import Redirection
from aeond.orchestration.decision.conversations.results_reply import ResultsReply, translated
from aeond.orchestration.decision.conversations.subject import Subject, Subjects
from aeond.orchestration.decision.interfaces import DecisionModel
from aeond.orchestration.decision.next_action import NextAction
from aeond.orchestration.decision.offers import Offers
from aeond.orchestration.last_runs import LastRuns
from aeond.ports import LLMAdapter


def is_unrestricted(run: RunSnapshot) -> bool:
    """Whether the run follows no instructions and is not confined to certain tools, as the run of a Template is."""
    return not run.request.instructions and run.request.tools is None


@frozen
class Answered:
    """Kept while runs are suspended, so that a run which waited for a person asks nothing twice and forgets nothing that it found out.

    `findings` holds the results of looks in runs that go on, by run; `questions` what is asked besides a change, by run and request; `words` and `files` those of searches, by run and request;
    `corrections` the facts that requests correct, by run and request; `unwritten` the conversations in which a model did not write an argument, by run, tool and view;
    `odds` those that what a call reads has what is wanted, by run, tool and arguments.
    """

    subjects: Subjects = field(default_factory=Subjects)
    fitting: FittingTools = field(default_factory=FittingTools)
    findings: LastRuns[str, str] = field(default_factory=LastRuns)
    questions: LastRuns[tuple[str, str], str] = field(default_factory=LastRuns)
    words: LastRuns[tuple[str, str], str] = field(default_factory=LastRuns)
    files: LastRuns[tuple[str, str], tuple[str, ...]] = field(default_factory=LastRuns)
    corrections: LastRuns[tuple[str, str], Correction | None] = field(default_factory=LastRuns)
    unwritten: LastRuns[tuple[str, str, str], None] = field(default_factory=LastRuns)
    odds: LastRuns[tuple[str, str, str], float] = field(default_factory=LastRuns)


@frozen
class Means:
    """`models` returns the form of decisions that suits the model that is loaded."""

    models: Callable[[], DecisionModel]
    llm: LLMAdapter
    offers: Offers
    search: FileSearch
    composer: Composer
    answered: Answered = field(default_factory=Answered)

    @property
    def redirection(self) -> Redirection:
        return Redirection(self.llm, self.answered.subjects, self.composer.corrections)

    @property
    def action(self) -> NextAction:
        return NextAction(
            self.models,
            self.llm,
            self.offers,
            self.search,
            self.composer,
            self.redirection,
            self.answered.findings,
        )

    @property
    def results(self) -> ResultsReply:
        return ResultsReply(self.llm, self.offers.selects, self.composer.compute)

    def asks_about(self, run: RunSnapshot) -> bool:
        """Whether the run is unrestricted, and its model is a small one that needs to be asked what the request is about."""
        return is_unrestricted(run) and self.redirection.possible

    def can_ask_about(self, run: RunSnapshot, grant: Grant) -> bool:
        """Whether that leaves a call for the decision."""
        return is_unrestricted(run) and self.redirection.can_ask(grant)

    async def subject(self, run: RunSnapshot, situation: Situation, grant: Grant) -> Subject:
        """What the run's request is about, as `Subjects.of` says it."""
        return await self.answered.subjects.of(self.llm, run, situation, grant)

    async def refusal(self, run: RunSnapshot, text: str, grant: Grant) -> str:
        """The refusal as the person reads it: that of a small model, whose examples refuse in English, is translated where it is not in the language
        of the request."""
        if not self.asks_about(run):
            return text
        language = await self.search.situations.language(run.request.text)
        if not language or await self.search.situations.language(text) == language:
            return text
        return await translated(self.llm, run, text, language, grant)
