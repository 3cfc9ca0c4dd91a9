from dataclasses import replace

from aeond.capabilities.llm.adapters.scripted import Rule, Script, ScriptedLLM
from aeond.domain.runs.situations import Situation
from aeond.orchestration.context.file_search import FileSearch
from tests.support.deciders import SEARCHES, Seen
from tests.support.strategy import grant, run_of

FILES = Situation(files=(("lock.txt", ""), ("boat.txt", "")))
NEAR = {"boat, ship": ("boat.txt",)}
RUN = run_of(request="Wie lang ist das Schiff?")


def searching(*rules: Rule) -> tuple[FileSearch, ScriptedLLM]:
    """The search over a model that answers by these rules."""
    llm = ScriptedLLM(Script(rules=rules))
    return FileSearch(llm, Seen(FILES, NEAR)), llm


async def test_files_are_found_by_words_of_the_same_meaning() -> None:
    """The words are asked for once for each request, and the file that they are in is the nearest one."""
    search, llm = searching(Rule(contains=SEARCHES, text="length; boat, ship"))
    for _ in range(2):
        assert await search.widened(RUN, FILES, grant(10)) == replace(FILES, nearest=("boat.txt",))
    assert len(llm.requests) == 1
    assert (await search.widened(replace(RUN, run_id="other"), FILES, grant(10))).nearest
    assert len(llm.requests) == 2


async def test_words_are_asked_for_only_where_no_file_is_near() -> None:
    """Neither where a file shares words with the request, nor where there is none, nor with the last call of the grant."""
    search, llm = searching(Rule(contains=SEARCHES, text="boat, ship"))
    for situation in (Situation(), replace(FILES, nearest=("lock.txt",))):
        assert await search.widened(RUN, situation, grant(10)) == situation
    assert await search.widened(RUN, FILES, grant(1)) == FILES
    assert not llm.requests


async def test_a_model_that_gives_no_words_finds_no_file() -> None:
    """The situation stays as it is if the model says nothing, or fails; one that failed is asked again."""
    search, _ = searching(Rule(contains=SEARCHES, text=""))
    assert await search.widened(RUN, FILES, grant(10)) == FILES
    failing, llm = searching(Rule(contains=SEARCHES, fail="MODEL_ERROR"))
    for _ in range(2):
        assert await failing.widened(RUN, FILES, grant(10)) == FILES
    assert len(llm.requests) == 2
