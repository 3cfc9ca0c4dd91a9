"""Tools that ask for a run of their own."""

from pathlib import Path

import pytest

from aeond.capabilities.templates.loading import TemplateFile, load_templates
from aeond.capabilities.templates.subtask_tools import DelegateTool, SubtaskTool, subtask_tools
from aeond.domain.plans.subtasks import SubtaskRequest, Template
from aeond.domain.tools import Recovery
from aeond.errors import InvalidInputError
from tests.support.tools import CONTEXT, call, invoker_of

POEM = SubtaskTool(
    TemplateFile(
        Template("poem", "Writes a poem.", ("verse",), ("subject",)),
        Path("poem.toml"),
        "Write a poem.",
        {"subject": "What it is about"},
        {"subject": "rain"},
    )
)


async def test_a_call_asks_for_a_run_by_its_template() -> None:
    """The request names the template and carries the arguments as the run's inputs."""
    result = await invoker_of(POEM).invoke(call("poem", subject="snow"), CONTEXT)
    assert result.request == SubtaskRequest("Write a poem.", {"subject": "snow"}, ("poem",))


async def test_a_call_without_an_input_is_refused() -> None:
    """The template's inputs are the tool's required arguments."""
    result = await invoker_of(POEM).invoke(call("poem"), CONTEXT)
    assert (result.success, result.reason) == (False, "ARGUMENTS_INVALID")


async def test_asking_again_after_a_crash_is_harmless() -> None:
    """The tool itself does nothing, so that a step which was cut asks again."""
    assert POEM.spec.recovery is Recovery.RERUN
    assert await POEM.reconcile({"subject": "snow"}, CONTEXT) is None


def test_every_template_is_a_tool_and_those_that_are_named_are_offered() -> None:
    """Clients' plans may use every template; models see those in the configuration."""
    tools = subtask_tools(load_templates(), ["research"])
    assert {tool.spec.name: tool.spec.offered for tool in tools} == {
        "compare": False,
        "extract": False,
        "research": True,
        "summarise": False,
    }
    with pytest.raises(
        InvalidInputError, match="template 'juggle' does not exist; existing templates are compare"
    ) as raised:
        subtask_tools(load_templates(), ["juggle"])
    assert (raised.value.reason, raised.value.field) == ("TEMPLATE_NOT_FOUND", "tools.subtasks")


DELEGATE = DelegateTool(("poem", "summarise"))


async def test_a_described_piece_of_work_asks_for_a_run() -> None:
    """The task and the text become the description of the request, which names no template."""
    invoker = invoker_of(DELEGATE)
    plain = await invoker.invoke(call("delegate", task="Write four lines about rain."), CONTEXT)
    assert plain.request == SubtaskRequest("Write four lines about rain.")
    whole = await invoker.invoke(call("delegate", task="Sum it up.", text="Long."), CONTEXT)
    assert whole.request == SubtaskRequest("Sum it up.\n\nLong.")


def test_delegate_names_the_kinds_of_work() -> None:
    """The description lists the templates, of very many only the first."""
    assert "poem, summarise" in DELEGATE.spec.description
    many = DelegateTool(tuple(f"kind{number}" for number in range(400)))
    assert len(many.spec.description) < 400


def test_delegate_is_offered_if_it_is_named() -> None:
    """Naming `delegate` in the configuration offers it to models."""
    tools = subtask_tools(load_templates(), ["delegate"])
    assert [tool.spec.name for tool in tools if tool.spec.offered] == ["delegate"]


async def test_delegating_again_after_a_crash_is_harmless() -> None:
    """A step that was interrupted may delegate again, since the tool itself has no effect."""
    assert DELEGATE.spec.recovery is Recovery.RERUN
    assert await DELEGATE.reconcile({"task": "Go."}, CONTEXT) is None
