"""The tools aider and apply_changes, in the real sandbox with a stand-in for Aider."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from aeond.capabilities.aider.drafts import explanation_of
from aeond.daemon.config.paths import usual_build
from aeond.domain.policy import Access, Origin
from aeond.domain.runs.budgets import Amounts, Grant
from aeond.domain.tools import Recovery, ToolCall
from tests.support.aider import RIGHT, SAID, TASK, TEST, WRONG, Desk, needs_aider
from tests.support.bubblewrap import needs_bubblewrap
from tests.support.hands import git

pytestmark = [needs_bubblewrap, pytest.mark.slow]


def answers(text: str) -> list[dict[str, Any]]:
    return [{"text": text}]


def file_answer(path: str, content: str) -> list[dict[str, Any]]:
    return answers(f"{path}\n```\n{content}```\n")


async def test_a_test_becomes_green_after_approval(tmp_path: Path) -> None:
    """The change is made and tested in a private copy, shown as a diff, applied by the second call, and can be undone."""
    desk = Desk(tmp_path, answers(SAID))
    made = await desk.done("aider", task=TASK, test=[*TEST])
    assert (made["files"], made["test"]["before"], made["test"]["after"]) == (["calc.py"], 1, 0)
    assert (made["message"], made["ready"], made["note"]) == ("Let add return the sum", True, "")
    assert "-    return a - b\n+    return a + b\n" in made["diff"]
    assert "FAILED (failures=1)" in "".join(desk.hands.shown)
    assert (desk.hands.text("calc.py"), git(desk.project, "status", "--short"), desk.copies) == (
        WRONG,
        "",
        [],
    )
    call = ToolCall("apply_changes", {"proposal": made["proposal"]})
    assert (await desk.invoker.preview(call, desk.hands.context)).diff == made["diff"]
    applied = await desk.done("apply_changes", "call2", proposal=made["proposal"])
    assert applied == {"files": ["calc.py"], "message": "Let add return the sum"}
    assert desk.hands.text("calc.py") == RIGHT
    await desk.hands.undo()
    assert desk.hands.text("calc.py") == WRONG


async def test_the_usual_test_is_found(tmp_path: Path) -> None:
    """Without a command the tests that the repository has are run, their program is named to the policy, and a change that leaves them
    red is not ready."""
    desk = Desk(tmp_path, file_answer("calc.py", "def add(a, b):\n    return 0\n"))
    targets = await desk.editor.tools()[0].targets({"task": TASK}, desk.hands.context)
    assert [target.name for target in targets or ()][:2] == ["aider", "python3"]
    made = await desk.done("aider", task=TASK)
    assert (made["test"]["before"], made["test"]["after"], made["ready"]) == (1, 1, False)
    assert f"apply_changes proposal={made['proposal']}" in made["note"]


def test_an_explanation_has_no_files() -> None:
    """What the model said is kept without the files below their names, and with other code; the last answer that says something counts."""
    listing = "`a.py`:\n\n````\nx = 1\n```\n````"
    usage = "Call it so:\n```\npython a.py\n```"
    assert explanation_of([f"First.\n\na.py\n```\nx = 1\n```\n\n\nThen.\n{usage}", "b.py\n```\ny = 2"]) == (
        f"First.\n\nThen.\n{usage}"
    )
    assert explanation_of([f"Said.\n{listing}"]) == "Said."
    assert explanation_of([]) == ""


@needs_aider
async def test_the_real_aider_does_it(tmp_path: Path) -> None:
    """Aider itself, in its environment and without network, makes the change that the model writes."""
    (tmp_path / "project").mkdir()
    (tmp_path / "project/.aider.conf.yml").write_text("dry-run: true\n", encoding="utf-8")
    (tmp_path / "project/.env").write_text("AIDER_DRY_RUN=true\n", encoding="utf-8")
    desk = Desk(tmp_path, answers(SAID), usual_build("aider"))
    made = await desk.done("aider", task=TASK, test=[*TEST])
    assert (made["files"], made["test"]["after"]) == (["calc.py"], 0)
    assert len(desk.llm.requests) == 1


async def test_model_calls_are_taken_from_the_grant(tmp_path: Path) -> None:
    """Each request to the model is counted in the step's budget, and none is answered beyond it."""
    desk = Desk(tmp_path, answers(SAID))
    desk.grant = Grant(Amounts(llm_calls=1, tokens=3_000))
    await desk.done("aider", task=TASK)
    assert desk.grant.used.llm_calls == 1
    assert 0 < desk.grant.used.tokens < 3_000
    refused = await desk.call("aider", "call2", task=TASK)
    assert (refused.success, refused.reason) == (False, "BUDGET_SPENT")


async def test_a_repeated_call_returns_its_proposal(tmp_path: Path) -> None:
    """A call repeated after a crash finds the proposal that it made, and one with another task makes another."""
    desk = Desk(tmp_path, answers(SAID))
    first = await desk.done("aider", task=TASK)
    assert await desk.done("aider", task=TASK) == first
    assert len(desk.llm.requests) == 1
    await desk.done("aider", task="Another task.")
    assert len(desk.llm.requests) == 2


async def test_a_file_changed_meanwhile_is_left_alone(tmp_path: Path) -> None:
    """A proposal is refused as a whole if one of its files was changed after it was made; its preview says so."""
    said = f"{SAID}\nnew.py\n```\nx = 1\n```\n"
    desk = Desk(tmp_path, answers(said))
    made = await desk.done("aider", task=TASK)
    assert made["files"] == ["calc.py", "new.py"]
    (desk.project / "new.py").write_text("mine\n", encoding="utf-8")
    refused = await desk.call("apply_changes", "call2", proposal=made["proposal"])
    assert refused.reason == "FILE_CHANGED"
    assert (desk.hands.text("calc.py"), desk.hands.text("new.py")) == (WRONG, "mine\n")
    call = ToolCall("apply_changes", {"proposal": made["proposal"]})
    assert "was changed" in (await desk.invoker.preview(call, desk.hands.context)).problem


async def test_an_application_that_was_cut_is_finished(tmp_path: Path) -> None:
    """The repeated call of an application that was cut makes the rest of the changes and reports all."""
    desk = Desk(tmp_path, answers(f"{SAID}\nnew.py\n```\nx = 1\n```\n"))
    made = await desk.done("aider", task=TASK)
    await desk.done("apply_changes", "call2", proposal=made["proposal"])
    (desk.project / "new.py").unlink()  # as if the crash had come before it
    again = await desk.call("apply_changes", "call2", proposal=made["proposal"])
    assert again.success, again.error
    assert [(effect.kind, effect.target) for effect in again.effects] == [
        ("file.changed", "calc.py"),
        ("file.created", "new.py"),
    ]
    assert desk.hands.text("new.py") == "x = 1\n"


async def test_a_proposal_belongs_to_its_user_and_folder(tmp_path: Path) -> None:
    """Only its owner applies a proposal, only to its own workspace, and none is found by another digest."""
    desk = Desk(tmp_path, answers(SAID))
    made = await desk.done("aider", task=TASK)
    context = desk.hands.context
    for changed in ({"uid": 4711}, {"workspace": str(tmp_path)}):
        call = ToolCall("apply_changes", {"proposal": made["proposal"]}, "call2")
        assert (await desk.invoker.invoke(call, replace(context, **changed))).reason == "PROPOSAL_NOT_FOUND"
    unknown = await desk.call("apply_changes", "call2", proposal="0" * 32)
    assert unknown.reason == "PROPOSAL_NOT_FOUND"
    assert unknown.candidates == (made["proposal"],)


@pytest.mark.parametrize(
    ("origin", "taint", "reason"),
    [
        (Origin.MODEL, (), "PROPOSAL_TAINTED"),
        (Origin.CLIENT, (), "PROPOSAL_TAINTED"),
        (Origin.MODEL, ("host:a:443",), ""),
        (Origin.DIRECT, (), ""),
    ],
)
async def test_a_proposal_keeps_its_taint(
    tmp_path: Path, origin: Origin, taint: tuple[str, ...], reason: str
) -> None:
    """A proposal of a run that had read untrusted data is not applied by another run that had not, whose changes the policy
    would not ask about: only by one that is tainted alike, or by its user directly."""
    desk = Desk(tmp_path, answers(SAID))
    context = desk.hands.context
    made = await desk.invoker.invoke(
        ToolCall("aider", {"task": TASK}, "call1"), replace(context, call_id="call1", taint=("host:a:443",))
    )
    assert isinstance(made.data, dict), made.error
    call = ToolCall("apply_changes", {"proposal": made.data["proposal"]}, "call2")
    applied = await desk.invoker.invoke(call, replace(context, call_id="call2", origin=origin, taint=taint))
    assert (applied.reason, applied.success) == (reason, not reason)


async def test_dangerous_names_are_left_out(tmp_path: Path) -> None:
    """Files that run code or hold keys are neither copied nor proposed."""
    desk = Desk(tmp_path, answers(f"{SAID}\n.envrc\n```\ntouch ran\n```\n"))
    (desk.project / ".env").write_text("KEY=secret\n", encoding="utf-8")
    made = await desk.done("aider", task=TASK, test=["sh", "-c", "ls -a; false"])
    assert (made["files"], ".envrc" in made["note"]) == (["calc.py"], True)
    assert ".env\n" not in made["test"]["output"]


async def test_files_that_the_test_writes_are_no_changes(tmp_path: Path) -> None:
    """What the test leaves before Aider begins is not proposed, and what Aider makes of it is."""
    desk = Desk(tmp_path, answers(f"{SAID}\nmade.txt\n```\nx\n```\n"))
    made = await desk.done("aider", task=TASK, test=["sh", "-c", "touch left.txt made.txt; false"])
    assert made["files"] == ["calc.py", "made.txt"]


async def test_changes_that_are_all_left_out_are_named(tmp_path: Path) -> None:
    """A call whose changes cannot be proposed fails, and says which they are and why."""
    desk = Desk(tmp_path, file_answer(".envrc", "touch ran\n"))
    result = await desk.call("aider", task=TASK)
    assert (result.reason, result.error) == (
        "NOTHING_CHANGED",
        "none of Aider's changes can be proposed: left out, because the names can run code or hold keys: '.envrc'",
    )


async def test_nothing_changed_is_a_failure(tmp_path: Path) -> None:
    """An answer without a change, and a call without a folder, fail with their reasons."""
    desk = Desk(tmp_path, answers("I do not know."))
    assert (await desk.call("aider", task=TASK)).reason == "NOTHING_CHANGED"
    assert desk.copies == []
    assert (await desk.call("aider", "call2", task=TASK, files=["../x.py"])).reason == "FILE_NOT_FOUND"


async def test_no_network_and_no_daemon_files_inside(tmp_path: Path) -> None:
    """A test command reaches neither the network nor anything of the daemon or of the machine's users."""
    desk = Desk(tmp_path, answers(SAID))
    secret = desk.state / "secret"
    secret.parent.mkdir(exist_ok=True)
    secret.write_text("s3cret", encoding="utf-8")
    code = (
        "import os, socket\n"
        f"print('seen' if os.path.exists({str(secret)!r}) else 'hidden')\n"
        f"print('seen' if os.path.exists({str(desk.project)!r}) else 'hidden')\n"
        "try:\n socket.create_connection(('192.0.2.1', 80), 5)\n"
        "except OSError as error:\n print(error.strerror)\n"
    )
    made = await desk.done("aider", task=TASK, test=["python3", "-c", code])
    assert made["test"]["output"] == "hidden\nhidden\nNetwork is unreachable\n"


async def test_a_key_of_the_daemon_in_the_project_is_not_copied(tmp_path: Path) -> None:
    """A test command does not find a key file of the daemon that lies in the project, even one that git tracks."""
    desk = Desk(tmp_path, answers(SAID), hidden=["keys/openai"])
    key = desk.project / "keys/openai"
    key.parent.mkdir()
    key.write_text("s3cret", encoding="utf-8")
    git(desk.project, "add", "keys/openai")
    made = await desk.done("aider", task=TASK, test=["sh", "-c", "ls keys; cat keys/openai"])
    assert "No such file" in made["test"]["output"]
    assert "s3cret" not in made["test"]["output"]


def test_the_rules_of_the_tools(tmp_path: Path) -> None:
    """A call of aider leaves nothing behind, so that it may be interrupted and repeated; one of apply_changes is resumed."""
    desk = Desk(tmp_path, [])
    aider, _interactive, apply = desk.editor.tools()
    assert (aider.spec.recovery, apply.spec.recovery) == (Recovery.RERUN, Recovery.RECONCILE)


async def test_targets_name_every_file(tmp_path: Path) -> None:
    """The policy decides about the application by each file that it writes, and about aider by what it executes."""
    desk = Desk(tmp_path, answers(SAID))
    made = await desk.done("aider", task=TASK)
    aider, _interactive, apply = desk.editor.tools()
    (target,) = await apply.targets({"proposal": made["proposal"]}, desk.hands.context) or ()
    assert (target.name, target.access) == (str(desk.project / "calc.py"), Access.WRITE)
    found = await aider.targets({"task": TASK, "test": ["sh"]}, desk.hands.context) or ()
    assert [target.name for target in found] == ["aider", "sh", f"{desk.project}/"]


@pytest.mark.parametrize(
    ("task", "message"),
    [
        ("Fix it.", "Fix it"),
        ("Fix it\nand more", "Fix it\n\nFix it\nand more"),
        ("word " * 30, f"{'word ' * 12}word...\n\n{('word ' * 30).strip()}"),
    ],
)
async def test_messages_begin_with_the_task(tmp_path: Path, task: str, message: str) -> None:
    """The message for the commit has a short subject, and the task if there is more of it."""
    desk = Desk(tmp_path, answers(SAID))
    assert (await desk.done("aider", task=task))["message"] == message
