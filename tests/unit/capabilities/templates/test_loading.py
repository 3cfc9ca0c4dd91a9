"""Templates from files."""

import os
from pathlib import Path

import pytest

from aeond.capabilities.templates.loading import (
    MAX_TEMPLATES,
    check_agents,
    check_names,
    check_tools,
    load_templates,
    read_template,
)
from aeond.capabilities.templates.subtask_tools import SubtaskTool
from aeond.capabilities.tools.registry import check
from aeond.errors import InvalidInputError
from tests.support.outsiders import OTHER_UID

GOOD = """
description = "Writes a poem."
task = "Write a poem about the subject."
hints = ["a poem", "verse"]
instructions = "You write four lines."
tools = ["echo"]
example = { subject = "rain" }

[inputs.subject]
description = "What it is about"

[budget]
ttl = 3
wall_seconds = 60.0
"""


def test_the_shipped_templates_make_usable_tools() -> None:
    """Each template that comes with aeond can be registered as a tool, its example included."""
    files = load_templates()
    assert [file.template.name for file in files] == ["compare", "extract", "research", "summarise"]
    for file in files:
        assert check(SubtaskTool(file)).spec.name == file.template.name


def test_a_users_file_says_all_of_a_template(tmp_path: Path) -> None:
    """Name, inputs, instructions, tools and bounds are read as they are written."""
    (tmp_path / "poem.toml").write_text(GOOD)
    file = read_template(tmp_path / "poem.toml")
    template = file.template
    assert (template.name, template.inputs, template.tools) == ("poem", ("subject",), ("echo",))
    assert (template.budget.ttl, template.budget.wall_seconds, template.budget.tokens) == (3, 60.0, None)
    assert template.instructions == "You write four lines."
    assert file.task == "Write a poem about the subject."


def test_a_users_template_takes_the_place_of_a_shipped_one(tmp_path: Path) -> None:
    """A file of the same name in a folder of the user's is used instead; others are beside the shipped."""
    (tmp_path / "summarise.toml").write_text(GOOD)
    (tmp_path / "poem.toml").write_text(GOOD)
    (tmp_path / "notes.txt").write_text("no template")
    by_name = {file.template.name: file for file in load_templates([tmp_path])}
    assert sorted(by_name) == ["compare", "extract", "poem", "research", "summarise"]
    assert by_name["summarise"].template.description == "Writes a poem."


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (GOOD.replace('task = "Write', 'tusk = "Write'), "tusk: unknown key 'tusk'"),
        (GOOD.replace('task = "Write a poem about the subject."', ""), "task: it is missing"),
        (GOOD.replace('["a poem", "verse"]', "[]"), "hints: it is empty"),
        (GOOD.replace("hints =", "hint ="), "hint: unknown key 'hint'"),
        (GOOD.replace("ttl = 3", 'ttl = "three"'), "budget.ttl"),
        (GOOD.replace("ttl = 3", "ttl = 0"), "budget.ttl"),
        (GOOD.replace("[budget]", "[budgets]"), "budgets: unknown key 'budgets'"),
        (
            GOOD.replace('{ subject = "rain" }', '{ topic = "rain" }'),
            "its example must have a value for each input",
        ),
        (GOOD.replace("hints =", "hints"), "it is not valid TOML"),
    ],
)
def test_a_wrong_file_is_refused_with_its_place(tmp_path: Path, text: str, said: str) -> None:
    """An error in a file is reported with file and key, and prevents a start."""
    path = tmp_path / "poem.toml"
    path.write_text(text)
    with pytest.raises(InvalidInputError) as raised:
        load_templates([tmp_path])
    assert raised.value.reason == "TEMPLATE_BROKEN"
    assert raised.value.field == "tools.templates"
    assert str(path) in raised.value.message
    assert said in raised.value.message


def test_a_file_that_anybody_may_change_is_refused(tmp_path: Path) -> None:
    """A template that other users can modify is rejected."""
    path = tmp_path / "poem.toml"
    path.write_text(GOOD)
    path.chmod(0o666)
    with pytest.raises(InvalidInputError) as raised:
        read_template(path)
    assert raised.value.reason == "TEMPLATE_UNSAFE"


def test_a_file_that_others_can_replace_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another user's template, and one in a folder that everybody may write to, are refused like a tool's file."""
    path = tmp_path / "poem.toml"
    path.write_text(GOOD)
    tmp_path.chmod(0o777)
    with pytest.raises(InvalidInputError, match="chmod o-w on the folder") as replaceable:
        read_template(path)
    tmp_path.chmod(0o1777)
    assert read_template(path).template.name == "poem"
    owner = path.stat().st_uid
    monkeypatch.setattr("os.geteuid", lambda: owner + 1)
    if owner == 0:  # root's is everybody's
        os.chown(path, OTHER_UID, -1)
    with pytest.raises(InvalidInputError, match="another user") as foreign:
        read_template(path)
    assert {replaceable.value.reason, foreign.value.reason} == {"TEMPLATE_UNSAFE"}


def test_a_template_named_like_a_tool_is_reported_with_its_place(tmp_path: Path) -> None:
    """The file that has to be renamed is named."""
    (tmp_path / "echo.toml").write_text(GOOD)
    with pytest.raises(InvalidInputError, match="a tool named echo exists already") as raised:
        check_names(load_templates([tmp_path]), ["echo"])
    assert raised.value.reason == "TEMPLATE_BROKEN"
    assert str(tmp_path / "echo.toml") in raised.value.message


def test_unusable_places_are_reported(tmp_path: Path) -> None:
    """A folder that is not there, a name that cannot be a tool's, and a file beyond all bounds."""
    with pytest.raises(InvalidInputError) as raised:
        load_templates([tmp_path / "none"])
    assert raised.value.reason == "TEMPLATE_FOLDER_MISSING"
    named = tmp_path / "My Poem.toml"
    named.write_text(GOOD)
    with pytest.raises(InvalidInputError, match="a-z, 0-9"):
        read_template(named)
    large = tmp_path / "large.toml"
    large.write_text(GOOD + "#" * (64 * 1024))
    with pytest.raises(InvalidInputError, match="64 KiB"):
        read_template(large)


def test_too_many_templates_are_refused(tmp_path: Path) -> None:
    """A folder of more templates than anybody can choose from ends the start with their bound."""
    for number in range(MAX_TEMPLATES):
        (tmp_path / f"poem{number}.toml").write_text(GOOD)
    with pytest.raises(InvalidInputError, match=f"more than {MAX_TEMPLATES} templates") as raised:
        load_templates([tmp_path])
    assert raised.value.reason == "TEMPLATE_TOO_MANY"


def test_a_template_may_only_name_tools_that_there_are(tmp_path: Path) -> None:
    """An unknown tool is reported together with the known ones."""
    (tmp_path / "poem.toml").write_text(GOOD)
    files = [read_template(tmp_path / "poem.toml")]
    check_tools(files, ["echo", "now"])
    with pytest.raises(InvalidInputError, match="unknown tool 'echo'; known tools are now") as raised:
        check_tools(files, ["now"])
    assert raised.value.reason == "TEMPLATE_TOOL_UNKNOWN"


def test_a_template_may_only_name_an_agent_that_there_is(tmp_path: Path) -> None:
    """An unknown agent is reported together with the known ones; a template without one needs none."""
    (tmp_path / "poem.toml").write_text(GOOD)
    (tmp_path / "ode.toml").write_text(GOOD.replace("tools = ", 'agent = "poet"\ntools = '))
    poem, ode = (read_template(tmp_path / name) for name in ("poem.toml", "ode.toml"))
    assert (poem.template.agent, ode.template.agent) == ("", "poet")
    check_agents([poem], [])
    check_agents([poem, ode], ["poet"])
    with pytest.raises(InvalidInputError, match="unknown agent 'poet'; known agents are reader") as raised:
        check_agents([poem, ode], ["reader"])
    assert raised.value.reason == "TEMPLATE_AGENT_UNKNOWN"
