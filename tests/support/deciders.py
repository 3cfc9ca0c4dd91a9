"""A Decider over a scripted model, for tests of what it asks and chooses."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from aeond.capabilities.embedding.no_embedder import NoEmbedder
from aeond.capabilities.llm.adapters.scripted import Rule, Script, ScriptedLLM
from aeond.capabilities.tools.registry import Registry
from aeond.domain.runs.run import RunSnapshot
from aeond.domain.runs.situations import Situation
from aeond.domain.tools import CompositionView, ToolCall, ToolContext
from aeond.orchestration.context.file_search import FileSearch
from aeond.orchestration.decision.conversations.composing import Composer
from aeond.orchestration.decision.conversations.correction import Corrections
from aeond.orchestration.decision.decider import Decider
from aeond.orchestration.decision.forms.constrained import ConstrainedDecisions
from aeond.orchestration.decision.means import Means
from aeond.orchestration.decision.offers import Offers
from aeond.orchestration.matching.text_ranking import TextRanking
from aeond.orchestration.planning.validator import PlanValidator
from aeond.orchestration.prompts.subject_prompts import INTENT_WORDS, SUBJECT_WORDS
from aeond.orchestration.repair.supervisor import Supervisor
from tests.support.doubles import PlainInvoker
from tests.support.strategy import SpecTool

NOWHERE = Situation()
INTENT = "Say in one word what the person does"
SMALL_TALK = "an assistant that remembers what it is told"
IS_WANTED = "Say in one word what the person wants"
FITTING = "Say which of the tools in view"
EXACT = "A tool is at hand"
ARGUMENTS = "Write the arguments of the tool's calls"
PAGES = "with the address of a web page"
READS_ALL = "Say in one word what is to be read"
SEARCHES = "A person looks for something in their own files"
TRANSLATES = "An assistant has answered a person"
CORRECTS = "Say the letter of the one that the person corrects"


@dataclass
class Composing(PlainInvoker):
    """Proposes these values for every argument, and shows this view of every call."""

    values: tuple[str, ...] = ()
    view_of: CompositionView | None = None

    async def candidates(
        self, tool: str, argument: str, context: ToolContext, limit: int, near: str = ""
    ) -> tuple[str, ...]:
        return self.values

    async def composition_view(
        self, call: ToolCall, context: ToolContext, request: str
    ) -> CompositionView | None:
        return self.view_of


class WholeTool(SpecTool):
    """Has the functions that its specification names."""

    async def candidates(self, *_: object) -> tuple[str, ...]:
        return ()

    async def composition_view(self, *_: object) -> None:
        return None


@dataclass(frozen=True)
class Seen:
    """Situations that are always the same, with the files that are near by words which these have, and the languages of whole texts."""

    situation: Situation
    near: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    languages: Mapping[str, str] = field(default_factory=dict)

    async def observe(self, run: RunSnapshot) -> Situation:
        return self.situation

    async def nearest(self, run: RunSnapshot, words: str) -> tuple[str, ...]:
        return next((files for word, files in self.near.items() if word in words), ())

    async def language(self, text: str) -> str:
        return self.languages.get(text, "")


def words(**given: float) -> dict[str, float]:
    """The logarithms of these words' shares, and of a little for each of all others that say what a request is about and what the person
    does."""
    return {word: math.log(given.get(word, 0.0005)) for word in (*SUBJECT_WORDS, *INTENT_WORDS)}


def unanswered(rules: tuple[Rule, ...]) -> tuple[Rule, ...]:
    """Rules for what the person does, for small talk, for the tool that fits, for whether an answer is wanted and pages or files are to be read for it, if
    there are none."""
    given = {rule.contains for rule in rules}
    return tuple(
        Rule(contains=one, text="?")
        for one in (INTENT, SMALL_TALK, FITTING, IS_WANTED, PAGES, READS_ALL, SEARCHES, CORRECTS)
        if one not in given
    )


def decider_of(
    rules: tuple[Rule, ...],
    tools: Registry,
    situation: Situation = NOWHERE,
    invoker: PlainInvoker | None = None,
) -> tuple[Decider, ScriptedLLM]:
    """The Decider, and the model that answers by the rules, and neither what the person does nor which tool fits, unless a rule says it."""
    llm = ScriptedLLM(Script(rules=(*unanswered(rules), *rules)))
    check = PlanValidator(tools, ())
    decisions = ConstrainedDecisions(Supervisor(llm, check))
    invoker = invoker or PlainInvoker({})
    composer = Composer(llm, invoker, check, Corrections(TextRanking(NoEmbedder())))
    search = FileSearch(llm, Seen(situation))
    return Decider(Means(lambda: decisions, llm, Offers(tools, invoker), search, composer)), llm


def observing(decider: Decider, situations: Seen) -> Decider:
    """The same Decider in other situations."""
    search = replace(decider.means.search, situations=situations)
    return Decider(replace(decider.means, search=search))
