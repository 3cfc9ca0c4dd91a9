"""A scripted model answers, fails, breaks off and stalls as its script says."""

from pathlib import Path

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aeond.capabilities.llm.adapters.scripted import Rule, Script, ScriptedLLM, read_script, tokens_of
from aeond.domain.llm import LLMChunk, ToolSchema
from aeond.errors import InvalidInputError, LLMError, LLMGoneError
from tests.support.engine import ask
from tests.support.repository import ROOT


def scripted(*rules: Rule) -> ScriptedLLM:
    return ScriptedLLM(Script(rules=rules))


async def says(llm: ScriptedLLM, prompt: str) -> str:
    return (await llm.generate(ask(prompt))).text


async def test_the_first_rule_that_fits_answers() -> None:
    """Rules are tried in order, by substring and by pattern, and a used up one is passed over."""
    llm = scripted(
        Rule(contains="sum", text="first", times=1),
        Rule(contains="sum", json={"b": [1], "a": None}),
        Rule(pattern=r"(\d+) apples", text=r"\1 pears", expand=True),
        Rule(pattern="^Hi"),
    )
    assert [await says(llm, prompt) for prompt in ("sum", "a sum", "7 apples", "Hi")] == [
        "first",
        '{"a":null,"b":[1]}',
        "7 pears",
        "",
    ]


async def test_rules_see_the_whole_prompt() -> None:
    """A rule can ask for what stands in the system message as well as in the question."""
    llm = scripted(Rule(pattern="(?s)Be brief.*weather", text="Rain."), Rule(text="What?"))
    assert (await llm.generate(ask("The weather?", system="Be brief."))).text == "Rain."
    assert await says(llm, "The weather?") == "What?"


async def test_no_rule_is_an_error() -> None:
    """A prompt that the script did not foresee fails instead of being answered by chance."""
    with pytest.raises(LLMError) as failed:
        await says(scripted(Rule(contains="x", text="x")), "y")
    assert failed.value.reason == "SCRIPT_SILENT"


async def test_failures_are_the_ones_asked_for() -> None:
    """A rule can fail with a reason of its own, before the first piece or after some."""
    llm = scripted(
        Rule(contains="bad", fail="TOO_WARM"),
        Rule(contains="die", text="a long answer", gone=True, fail_after=1),
    )
    with pytest.raises(LLMError) as failed:
        await says(llm, "bad")
    assert (failed.value.reason, failed.value.retryable) == ("TOO_WARM", False)
    chunks: list[LLMChunk] = []
    with pytest.raises(LLMGoneError):
        chunks.extend([chunk async for chunk in llm.stream(ask("die"))])


async def test_a_retryable_failure_is_tried_three_times() -> None:
    """Like every adapter it tries three times in all, and the caller sees only the end."""
    two = scripted(Rule(fail="LLM_FAILED", retryable=True, times=2), Rule(text="third"))
    assert await says(two, "x") == "third"
    three = scripted(Rule(fail="LLM_FAILED", retryable=True, times=3), Rule(text="fourth"))
    with pytest.raises(LLMError):
        await says(three, "x")
    assert await says(three, "x") == "fourth"


async def test_a_stalled_answer_waits_for_its_release() -> None:
    """A stalled answer comes when it is released, without anybody having slept."""
    llm = scripted(Rule(text="at last", stall=True))
    answers: list[str] = []

    async def listen() -> None:
        answers.append(await says(llm, "x"))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(listen)
        await anyio.wait_all_tasks_blocked()
        assert (answers, llm.in_flight) == ([], 1)
        llm.release()
    assert (answers, llm.in_flight) == (["at last"], 0)


async def test_requests_are_kept_for_the_test() -> None:
    """A test can look at what was asked."""
    llm = scripted(Rule(text="x"))
    await says(llm, "one")
    await says(llm, "two")
    assert [request.messages[0].content for request in llm.requests] == ["one", "two"]


@given(st.text())
def test_tokens_join_to_the_text(text: str) -> None:
    """No character is lost or doubled by counting, and no text but the empty one is free."""
    assert "".join(tokens_of(text)) == text


@pytest.mark.parametrize("name", ["script.toml", "script.json"])
async def test_scripts_are_read_from_files(tmp_path: Path, name: str) -> None:
    """The same script can be written as TOML or as JSON."""
    written = {
        "script.toml": 'model = "m"\n[[rules]]\ncontains = "hi"\njson = {a = 1}\n',
        "script.json": '{"model": "m", "rules": [{"contains": "hi", "json": {"a": 1}}]}',
    }
    (tmp_path / name).write_text(written[name])
    llm = ScriptedLLM(read_script(tmp_path / name))
    assert (llm.model, await says(llm, "hi")) == ("m", '{"a":1}')


@pytest.mark.parametrize(
    ("text", "says_what"),
    [
        ("rules = 3", "rules"),
        ('[[rules]]\ntext = "a"\nanswer = "b"', "rules.0.answer"),
        ('[[rules]]\npattern = "("', "unterminated"),
        ("[[rules]]\ntimes = -1", "rules.0.times"),
        ("nonsense", "script.toml"),
    ],
)
def test_bad_scripts_name_their_fault(tmp_path: Path, text: str, says_what: str) -> None:
    """A script with a mistake is refused with the key at fault."""
    path = tmp_path / "script.toml"
    path.write_text(text)
    with pytest.raises(InvalidInputError) as refused:
        read_script(path)
    assert refused.value.reason == "SCRIPT_INVALID"
    assert says_what in refused.value.message


async def test_the_script_in_the_documentation_works(tmp_path: Path) -> None:
    """The script that the documentation shows is one, and answers as it says."""
    page = (ROOT / "docs" / "models.md").read_text(encoding="utf-8")
    path = tmp_path / "script.toml"
    shown = page.partition("## A model for tests\n")[2]
    path.write_text(shown.partition("```toml\n")[2].partition("```")[0], encoding="utf-8")
    llm = ScriptedLLM(read_script(path))
    assert "calculator" in await says(llm, "What is 17.5% of 2400?")
    assert await says(llm, "And the bonus?") == "The bonus is 420."


def test_a_missing_script_is_a_clear_error(tmp_path: Path) -> None:
    """The error for a missing script names its path."""
    with pytest.raises(InvalidInputError, match="nowhere"):
        read_script(tmp_path / "nowhere.toml")


async def test_a_script_calls_tools() -> None:
    """A rule's calls answer a request with tools, and its JSON one without; arguments may be no JSON at all."""
    rule = Rule(json={"now": {}}, text="Let me see.", calls=({"now": {"zone": "UTC"}}, {"now": "{"}))
    llm = ScriptedLLM(Script(rules=(rule,), tool_calls=True))
    tool = ToolSchema("now", "The time.", {"type": "object"})
    called = await llm.generate(ask("When?", tools=(tool,)))
    assert called.text == "Let me see."
    assert [(call.name, call.arguments) for call in called.tool_calls] == [
        ("now", '{"zone":"UTC"}'),
        ("now", "{"),
    ]
    plain = await llm.generate(ask("When?"))
    assert (plain.text, plain.tool_calls) == ('{"now":{}}', ())
    assert llm.capabilities.tool_calls


async def test_a_script_without_tool_calls_refuses_tools() -> None:
    """As with a server that cannot, the refusal has a reason; and tools and a schema exclude each other."""
    llm = scripted(Rule(text="Hi"))
    tool = ToolSchema("now", "The time.", {"type": "object"})
    with pytest.raises(LLMError) as raised:
        await llm.generate(ask("When?", tools=(tool,)))
    assert raised.value.reason == "TOOLS_UNSUPPORTED"
    with pytest.raises(InvalidInputError):
        await llm.generate(ask("When?", tools=(tool,), schema={"type": "object"}))
