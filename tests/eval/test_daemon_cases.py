"""Cases are judged through a real daemon, here with a scripted model."""

import json
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from aeond.orchestration.execution.tool_visibility import MAX_SHOWN
from aeond_client.events import RouteChosen
from tests.eval.__main__ import chosen_sets, judge_set, parser, summary
from tests.eval.bfcl.data import AcceptedCall, Function, Question
from tests.eval.bfcl.judging import answered
from tests.eval.case_files import Placed, find_open, read_case_file
from tests.eval.cases import Case
from tests.eval.engine_rates import EngineRates
from tests.eval.everyday import judge_placed, worked
from tests.eval.extra_tools import MOST
from tests.eval.known_sets import SETS, set_of_file
from tests.eval.scenarios.judging import judged
from tests.eval.scenarios.scenario import Scenario
from tests.eval.subjects import EngineChoice, Subject, opened_subject
from tests.eval.verdicts import Effort, EvalSet, OnVerdict, Terms, Verdict

TERMS = Terms(wall_seconds=60)
CAPITAL = Case(says="What is the capital of Portugal?", group="no tool", answer=("Lisbon",))
SET = """
[workspace]
"a.txt" = "one"
[memory]
code = "4471"
[[case]]
group = "no tool"
language = "de"
says = "Hauptstadt von Portugal?"
answer = ["Lisbon"]
remembered = { tea = "oolong" }
[[case]]
group = "files"
says = "Count."
answer = ["7"]
given = { "b/c.txt" = "two" }
"""


@pytest.fixture
async def subject(tmp_path: Path) -> AsyncIterator[Subject]:
    """An engine that answers every prompt with the same words."""
    script = tmp_path / "script.json"
    script.write_text(json.dumps({"rules": [{"json": {"answer": "It is Lisbon."}}]}), encoding="utf-8")
    async with opened_subject(EngineChoice("scripted", script=str(script)), tmp_path / "engine") as subject:
        yield subject


async def test_a_case_is_judged_by_what_a_daemon_did(subject: Subject) -> None:
    """A right answer passes, with its model calls and tokens counted and its time taken."""
    verdict = await worked(subject, Placed(CAPITAL), TERMS)
    assert verdict.missed == ()
    assert "Lisbon" in verdict.said
    assert verdict.effort.calls >= 1
    assert verdict.effort.prompt_tokens > verdict.effort.completion_tokens > 0
    assert verdict.effort.seconds > 0


async def test_cases_of_a_file_start_from_its_workspace_and_memory(subject: Subject, tmp_path: Path) -> None:
    """Each case gets the common files and facts and its own, in its language, and nothing of the case before."""
    file = tmp_path / "set.toml"
    file.write_text(SET, encoding="utf-8")
    first, second = read_case_file(file)
    assert (first.language, second.language) == ("de", "en")
    assert (first.memory, second.memory) == ({"code": "4471", "tea": "oolong"}, {"code": "4471"})
    assert second.workspace == {"a.txt": "one", "b/c.txt": "two"}
    verdicts: list[Verdict] = []
    await judge_placed((first, second), subject, Terms(parallel=2), verdicts.append)
    assert {(v.language, v.right) for v in verdicts} == {("de", True), ("en", False)}


async def test_a_repository_is_proved_afterwards(subject: Subject) -> None:
    """The files are committed before the run, what git keeps is no change, and the proof sees the repository."""
    proof = (
        "import subprocess\nlog = subprocess.run(['git', 'log', '--format=%s'], capture_output=True, check=True)"
        "\nassert HISTORY and log.stdout == b'First\\n'\n"
    )
    says, answer = CAPITAL.says, CAPITAL.answer
    kept = Scenario(says=says, group="g", answer=answer, given={"a.py": "1"}, repository=True, proof=proof)
    broken = kept.model_copy(update={"proof": f"{proof}assert False, 'not repaired'"})
    assert (await judged(subject, kept, TERMS)).missed == ()
    (wrong,) = (await judged(subject, broken, TERMS)).missed
    assert "not repaired" in wrong


async def test_terms_choose_among_the_cases(subject: Subject) -> None:
    """A pattern, a stride and a limit each leave fewer cases."""
    placed = [Placed(Case(says=f"Number {n}?", group="g", answer=("x",))) for n in range(6)]

    async def judged(terms: Terms) -> list[str]:
        verdicts: list[Verdict] = []
        await judge_placed(placed, subject, terms, verdicts.append)
        return [verdict.case for verdict in verdicts]

    assert await judged(Terms("4|5", limit=1)) == ["Number 4?"]
    assert await judged(Terms(stride=3)) == ["Number 0?", "Number 3?"]


async def test_a_function_is_offered_as_a_tool(subject: Subject) -> None:
    """A question of the leaderboard that is answered without a call is right only where no function fits."""
    add = Function("Math.add", "Adds numbers.", {"type": "object", "properties": {}})
    wanted = (AcceptedCall("Math.add", {}),)
    irrelevant = await answered(subject, Question("q", "irrelevance", CAPITAL.says, (add,)), TERMS)
    missing = await answered(subject, Question("q", "simple_python", CAPITAL.says, (add,), wanted), TERMS)
    assert irrelevant.missed == ()
    assert missing.missed == ("0 calls, 1 wanted",)


async def one_of_each(subject: Subject, terms: Terms, on_verdict: OnVerdict) -> None:
    for words, missed, held in (("seen", (), False), ("seen, wrong", ("it",), False), ("unseen", (), True)):
        if terms.admit(words, held):
            on_verdict(Verdict(words, "group", "told", missed, held, Effort(2, 30, 0, 4, 1.0)))


@pytest.mark.parametrize(
    ("flags", "quiet", "shown"),
    [
        ((), False, ("seen", "seen, wrong")),
        (("--held",), False, ("seen", "seen, wrong", "unseen")),
        ((), True, ()),
        (("--cases",), True, ("seen", "seen, wrong")),
        (("--only", "SEEN", "--held"), False, ("seen", "seen, wrong")),
    ],
)
async def test_single_cases_are_shown_to_those_who_ask(
    flags: Sequence[str],
    quiet: bool,
    shown: Sequence[str],
    subject: Subject,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Held cases and those of a quiet set are only counted; a pattern never selects held ones."""
    one = EvalSet("set", 0.6, one_of_each, quiet)
    arguments = parser().parse_args(flags)
    verdicts = await judge_set(one, subject, Terms(arguments.only), arguments)
    assert summary(one, verdicts, EngineRates(10, 10)) is ("--only" not in flags)
    printed = capsys.readouterr().out
    assert [words for words in ("seen", "seen, wrong", "unseen") if f"'{words}'" in printed] == list(shown)
    assert f"set: {len([v for v in verdicts if v.right])} of {len(verdicts)}" in printed


def test_the_independent_set_is_named_when_it_is_absent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the file of the open set the error says where it was expected and how to name it."""
    monkeypatch.setenv("EVAL_OPEN", str(tmp_path / "none.toml"))
    with pytest.raises(FileNotFoundError, match=r"none\.toml: name its file with --open"):
        chosen_sets(parser().parse_args(["open"]))
    assert find_open().parts[-3:] == ("shared", "eval", "everyday_open.toml")


def test_unknown_sets_are_refused() -> None:
    """A set that does not exist is refused by name, together with those that do."""
    with pytest.raises(ValueError, match="unknown set 'opne'; there are everyday, "):
        chosen_sets(parser().parse_args(["opne"]))


def test_files_of_cases_are_sets_of_their_own(tmp_path: Path) -> None:
    """A file of the format is judged as a set that has the file's name."""
    file = tmp_path / "strangers.toml"
    file.write_text(SET, encoding="utf-8")
    (one,) = chosen_sets(parser().parse_args(["--set-file", str(file)]))
    assert one.name == "strangers"
    assert set_of_file("open", file, quiet=True).quiet


def test_every_set_has_a_name_of_its_own() -> None:
    """No two sets have one name, and the product's own must not fall below 80 %."""
    assert len({one.name for one in SETS}) == len(SETS)
    assert next(one for one in SETS if one.name == "everyday").least_share == 0.80


async def test_extra_tools_crowd_the_usual_ones(tmp_path: Path) -> None:
    """With extra tools a run is shown some of all, and a call of one of these fails."""
    script = tmp_path / "script.json"
    script.write_text(json.dumps({"rules": [{"json": {"answer": "It is Lisbon."}}]}), encoding="utf-8")
    choice = EngineChoice("scripted", script=str(script), extra_tools=MOST)
    async with (
        opened_subject(choice, tmp_path / "engine") as subject,
        subject.daemon(tmp_path / "daemon") as judged_daemon,
    ):
        client = judged_daemon.client
        names = {tool.name for tool in await client.list_tools()}
        assert len(names) > MOST
        assert {"calculator", "clipboard_read"} <= names
        run = await client.create_run("Read the clipboard")
        async for event in client.watch(run.run_id):
            if isinstance(event.kind, RouteChosen):
                assert len(event.kind.shown) == MAX_SHOWN
        assert (await client.call_tool("clipboard_read", {"text": "all"})).reason == "NOT_CONNECTED"
