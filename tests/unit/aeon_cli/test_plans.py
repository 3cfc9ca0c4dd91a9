"""Plans and arguments that a person writes."""

import io
import json
from pathlib import Path
from typing import Any

import click
import pytest

from aeon_cli.plans import arguments_of, json_value, plan_of, read_plan

PLAN = {
    "goal": "a sum",
    "steps": [
        {"step_id": "s1", "tool": "calculator", "arguments": {"expression": "1+1"}},
        {"step_id": "s2", "agent": "llm", "description": "say it", "depends_on": ["s1"]},
    ],
}
TOML = """
goal = "a sum"
[[steps]]
step_id = "s1"
tool = "calculator"
arguments = { expression = "1+1" }
[[steps]]
step_id = "s2"
agent = "llm"
description = "say it"
depends_on = ["s1"]
"""


def test_json_and_toml_say_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A plan may be written in either form, in a file or on standard input."""
    (tmp_path / "plan.json").write_text(json.dumps(PLAN))
    (tmp_path / "plan.toml").write_text(TOML)
    (tmp_path / "plan").write_text(TOML)
    plans = [read_plan(str(tmp_path / name)) for name in ("plan.json", "plan.toml", "plan")]
    for text in (TOML, json.dumps(PLAN)):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        plans.append(read_plan("-"))
    assert plans == [plan_of(PLAN)] * 5
    assert plans[0].steps[1].depends_on == ("s1",)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ([], "the plan must be a table"),
        ({"steps": 1}, "`steps` must be a list"),
        ({"steps": [], "step": []}, "the plan has unknown key `step`"),
        ({"steps": [7]}, r"steps\[0\] must be a table"),
        ({"steps": [{"id": "s1"}]}, r"steps\[0\] has unknown key `id`; known keys are agent"),
        ({"steps": [{"step_id": 1}]}, r"steps\[0\].step_id must be a string"),
        ({"steps": [{"arguments": []}]}, r"steps\[0\].arguments must be a table"),
        ({"steps": [{"depends_on": "s1"}]}, r"steps\[0\].depends_on must be a list of strings"),
        ({"steps": [{"provides": [1]}]}, r"steps\[0\].provides must be a list of strings"),
        ({"steps": [], "goal": 1}, "the plan.goal must be a string"),
    ],
)
def test_a_wrong_plan_names_the_place(wrong: Any, words: str) -> None:
    """An invalid plan is rejected with the error and its position."""
    with pytest.raises(ValueError, match=words):
        plan_of(wrong)


@pytest.mark.parametrize(
    "content", [b"{", b"not = [toml", b"\xff\xfe", b"[" * 100_000, b"{" + b'"a":{' * 5_000, b""]
)
def test_an_unreadable_plan_is_a_usage_error(tmp_path: Path, content: bytes) -> None:
    """No content of a file makes a traceback."""
    path = tmp_path / "plan.json"
    path.write_bytes(content)
    with pytest.raises(click.UsageError, match="plan"):
        read_plan(str(path))


@pytest.mark.parametrize("content", ["[]", "", "[[steps]]"])
def test_a_file_named_json_is_read_as_json(tmp_path: Path, content: str) -> None:
    """Errors in a .json file mention JSON or the plan, never TOML."""
    path = tmp_path / "plan.json"
    path.write_text(content)
    with pytest.raises(
        click.UsageError, match=r"Invalid plan in .*plan\.json: (the plan must be a table|Expecting value)"
    ):
        read_plan(str(path))


@pytest.mark.parametrize(
    ("name", "value"), [("plan.json", "NaN"), ("plan.toml", "inf"), ("plan.toml", "2026-01-01")]
)
def test_arguments_that_are_no_json_name_the_place(tmp_path: Path, name: str, value: str) -> None:
    """A number or a date that JSON does not have is refused with the file and the step that hold it."""
    path = tmp_path / name
    json_form = f'{{"steps": [{{"tool": "echo", "arguments": {{"text": {value}}}}}]}}'
    path.write_text(
        json_form
        if name.endswith(".json")
        else f'steps = [{{tool = "echo", arguments = {{text = {value}}}}}]'
    )
    with pytest.raises(
        click.UsageError,
        match=rf"Invalid plan in .*{name}: steps\[0\].arguments cannot be converted to JSON: ",
    ):
        read_plan(str(path))


def test_a_plan_that_is_not_there(tmp_path: Path) -> None:
    """A missing file is reported with its name and the system's error."""
    with pytest.raises(click.UsageError, match=r"none\.json: No such file"):
        read_plan(str(tmp_path / "none.json"))


@pytest.mark.parametrize(
    ("words", "arguments"),
    [
        ((), {}),
        (('{"a": [1, null]}',), {"a": [1, None]}),
        (
            ("a=1", "b=true", "c=text", 'd={"x": 2}', "e=", "f=a=b"),
            {"a": 1, "b": True, "c": "text", "d": {"x": 2}, "e": "", "f": "a=b"},
        ),
        (("zip=007", "n=NaN", "v=1.5.0"), {"zip": "007", "n": "NaN", "v": "1.5.0"}),
        (("a:=[1]",), {"a": [1]}),
    ],
)
def test_arguments_are_json_or_words(words: tuple[str, ...], arguments: dict[str, Any]) -> None:
    """A value that is JSON is that value, anything else the text itself."""
    assert arguments_of(words) == arguments


@pytest.mark.parametrize("words", [("a",), ("=1",), ("{",), ("{}", "a=1"), ("a:=text",)])
def test_wrong_arguments_are_usage_errors(words: tuple[str, ...]) -> None:
    """Words that are neither form are refused, and never sent as something else."""
    with pytest.raises(click.UsageError):
        arguments_of(words)


def test_deep_json_is_a_text_or_a_usage_error() -> None:
    """Nesting beyond reason does no harm."""
    deep = "[" * 200_000
    assert json_value(deep) == deep
    with pytest.raises(click.UsageError):
        json_value(deep, strict=True)
