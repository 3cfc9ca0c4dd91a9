"""The tools git_status, git_diff and git_commit.

A repository's own configuration can name programs: hooks, filters, diff drivers, a file system monitor, an editor. Git
runs in the sandbox and with all of these switched off; reading, it cannot change anything, and for a commit it can
change the repository's data but neither its configuration nor its hooks.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, Final

from pydantic import BaseModel, Field

from aeond.capabilities.hands.commands import workspace_targets
from aeond.capabilities.hands.workshop import Program, Workshop
from aeond.capabilities.sandbox.conversing import Conditions
from aeond.capabilities.tools.files.path_matching import PathMatching, Wanted, proposing
from aeond.capabilities.tools.function_tool import FunctionTool, tool
from aeond.domain.plans.approvals import CallPreview
from aeond.domain.policy import Target
from aeond.domain.tools import Effect, RecordedEffect, ToolContext, ToolOutput
from aeond.errors import ToolError

GIT_SECONDS: Final = 60.0
CALL_SECONDS: Final = 150.0  # for up to three programs one after the other
MAX_TEXT_BYTES: Final = 32 << 10
MAX_DIFF_BYTES: Final = 256 << 10  # of a preview
MAX_LISTING_BYTES: Final = 2 << 20
MAX_MESSAGE_CHARS: Final = 4_000
MAX_SAID_CHARS: Final = 500
MAX_CHECKED: Final = 1_000  # files whose attributes are looked up
EMPTY_TREE: Final = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
PLAIN_DIFF: Final = ("--no-ext-diff", "--no-textconv", "--ignore-submodules=all")
READ_ONLY: Final = Conditions({"": False})
_OFF: Final = {
    "safe.directory": "*",
    "core.hooksPath": "/dev/null",
    "core.fsmonitor": "false",
    "core.pager": "cat",
    "core.editor": "false",
    "core.sshCommand": "false",
    "core.askPass": "false",
    "core.alternateRefsCommand": "false",
    "core.untrackedCache": "false",
    "credential.helper": "",
    "commit.gpgSign": "false",
    "tag.gpgSign": "false",
    "gpg.program": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "submodule.recurse": "false",
    "status.submoduleSummary": "false",
    "protocol.allow": "never",
    "color.ui": "false",
    "core.quotePath": "false",
}
_FIXED: Final = ("config", "config.worktree", "hooks", "info", "modules", "worktrees")


class NoArguments(BaseModel):
    """Nothing to say."""


class GitDiffArguments(BaseModel):
    """Which file."""

    path: Annotated[str, Field(max_length=1_000, description="One file; leave out for all")] = ""


class GitCommitArguments(BaseModel):
    """What the commit says."""

    message: Annotated[str, Field(min_length=1, max_length=MAX_MESSAGE_CHARS, description="Commit message")]


class GitText(BaseModel):
    """What git printed; empty if there is nothing to report."""

    text: str


class GitCommitted(BaseModel):
    """The new commit, and what it changed."""

    commit: str
    text: str


def git_tools(workshop: Workshop) -> Sequence[FunctionTool]:
    return git_status_tool(workshop), git_diff_tool(workshop), git_commit_tool(workshop)


def git_status_tool(workshop: Workshop) -> FunctionTool:
    @tool(effect=Effect.READ, example={}, targets=_read, timeout_seconds=CALL_SECONDS)
    async def git_status(_arguments: NoArguments, context: ToolContext) -> GitText:
        """Shows the branch and the files that differ from the last commit of the git repository."""
        status = ["status", "--short", "--branch", "--ignore-submodules=all"]
        (printed,) = await _git(workshop, context, [status])
        return GitText(text=printed.output)

    return git_status


def git_diff_tool(workshop: Workshop) -> FunctionTool:
    matching = PathMatching(workshop.files)

    @tool(
        effect=Effect.READ,
        example={"path": "poem.txt"},
        candidates={"path": proposing(workshop.files, workshop.threads, Wanted.FILE)},
        targets=_read,
        timeout_seconds=CALL_SECONDS,
    )
    async def git_diff(arguments: GitDiffArguments, context: ToolContext) -> GitText:
        """Shows the lines that differ from the last commit of the git repository."""
        path = arguments.path
        if path:
            path = await workshop.threads.run(
                lambda stopped: matching.find(arguments.path, context.workspace, Wanted.ANY, stopped)
            )
        return GitText(text=await diff_text(workshop, context, path, MAX_TEXT_BYTES))

    return git_diff


def git_commit_tool(workshop: Workshop) -> FunctionTool:
    async def touched(_arguments: GitCommitArguments, context: ToolContext) -> tuple[Target, ...]:
        return workspace_targets(context)

    async def preview(_arguments: GitCommitArguments, context: ToolContext) -> CallPreview:
        diff = await diff_text(workshop, context, "", MAX_DIFF_BYTES)
        return CallPreview(diff=diff, target=context.workspace)

    @tool(
        effect=Effect.WRITE_CONTAINED,
        example={"message": "Correct the second verse"},
        targets=touched,
        preview=preview,
        timeout_seconds=CALL_SECONDS,
    )
    async def git_commit(arguments: GitCommitArguments, context: ToolContext) -> ToolOutput[GitCommitted]:
        """Commits all changes in the working folder to its git repository."""
        keys = await _config_keys(workshop, context)
        conditions = await _committing(workshop, context)
        off = {key: "false" if key.endswith(".required") else "" for key in keys if key.startswith("filter.")}
        await _require_unfiltered(workshop, context, off)
        if not {"user.name", "user.email"} <= keys:
            off |= {"user.name": "aeond", "user.email": "aeond@localhost"}
        status = ["status", "--porcelain", "--ignore-submodules=all"]
        *_, changed = await _git(workshop, context, [["add", "--all", "--", "."], status], conditions, off)
        if not changed.output:
            raise ToolError("nothing differs from the last commit", reason="NOTHING_TO_COMMIT")
        commit = ["commit", "--no-verify", "--no-gpg-sign", "--quiet", "-m", arguments.message]
        identity = ["show", "--no-patch", "--format=%H"]
        summary = ["show", "--stat", *PLAIN_DIFF, "--format=%h %s"]
        _, made, shown = await _git(workshop, context, [commit, identity, summary], conditions, off)
        done = GitCommitted(commit=made.output.strip(), text=shown.output)
        subject = arguments.message.partition("\n")[0]
        return ToolOutput(done, (RecordedEffect("git.committed", done.commit, subject),))

    return git_commit


async def diff_text(workshop: Workshop, context: ToolContext, path: str, most_bytes: int) -> str:
    """The differences from the last commit; from nothing if there is none yet."""
    paths = ["--", *([path] if path else [])]
    born = ["rev-parse", "--verify", "--quiet", "HEAD"]
    first = await _run(workshop, context, [born, ["diff", "HEAD", *PLAIN_DIFF, *paths]], most_bytes)
    if len(first) == 1:
        return (await _git(workshop, context, [["diff", "--cached", EMPTY_TREE, *PLAIN_DIFF, *paths]]))[
            0
        ].output
    return _succeeded(first)[-1].output


async def listed_files(workshop: Workshop, context: ToolContext) -> frozenset[str] | None:
    """The files of the repository and those that it does not ignore; None if the folder is no repository."""
    listing = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        (listed,) = _succeeded(await _run(workshop, context, [listing], MAX_LISTING_BYTES))
    except ToolError as error:
        if error.reason == "NOT_A_REPOSITORY":
            return None
        raise
    return frozenset(filter(None, listed.output.split("\0")))


async def _read(_arguments: BaseModel, context: ToolContext) -> tuple[Target, ...]:
    return workspace_targets(context)[:1]


async def _config_keys(workshop: Workshop, context: ToolContext) -> frozenset[str]:
    """The keys that the repository's configuration sets."""
    (listed,) = await _git(workshop, context, [["config", "--list", "--name-only", "-z"]])
    return frozenset(filter(None, listed.output.split("\0")))


async def _require_unfiltered(workshop: Workshop, context: ToolContext, off: Mapping[str, str]) -> None:
    """ToolError (reason GIT_FILTERED) if a changed file must pass a filter, without which a commit would be wrong."""
    listing = ["ls-files", "-z", "--modified", "--others", "--exclude-standard"]
    (listed,) = await _git(workshop, context, [listing], settings=off)
    names = list(filter(None, listed.output.split("\0")))[:MAX_CHECKED]
    if not names:
        return
    (checked,) = await _git(workshop, context, [["check-attr", "-z", "filter", "--", *names]])
    for value in checked.output.split("\0")[2::3]:
        if value not in ("unspecified", "unset"):
            raise ToolError(
                f"the repository passes files through the program of filter {value!r:.100}: let the user commit",
                reason="GIT_FILTERED",
            )


async def _committing(workshop: Workshop, context: ToolContext) -> Conditions:
    """The workspace is read-only but for the repository's data."""

    def there(name: str) -> bool:
        return workshop.files.is_folder(f".git/{name}", context.workspace) is not None

    fixed = await workshop.threads.run(lambda _stopped: [name for name in _FIXED if there(name)])
    return Conditions({"": False, ".git": True, **{f".git/{name}": False for name in fixed}})


async def _git(
    workshop: Workshop,
    context: ToolContext,
    commands: Sequence[Sequence[str]],
    conditions: Conditions = READ_ONLY,
    settings: Mapping[str, str] = MappingProxyType({}),
) -> Sequence[Program]:
    """The outcome of each command. ToolError (reason GIT_FAILED, with what git says) if one fails."""
    return _succeeded(await _run(workshop, context, commands, MAX_TEXT_BYTES, conditions, settings))


def _succeeded(programs: Sequence[Program]) -> Sequence[Program]:
    last = programs[-1]
    if last.exit_code:
        said = "it was stopped" if last.stopped else (last.errors or last.output).strip()
        raise ToolError(f"git failed: {said[-MAX_SAID_CHARS:]}", reason="GIT_FAILED")
    return programs


async def _run(
    workshop: Workshop,
    context: ToolContext,
    commands: Sequence[Sequence[str]],
    most_bytes: int,
    conditions: Conditions = READ_ONLY,
    settings: Mapping[str, str] = MappingProxyType({}),
) -> Sequence[Program]:
    """ToolError (reason NOT_A_REPOSITORY)."""
    is_folder = await workshop.threads.run(
        lambda _stopped: workshop.files.is_folder(".git", context.workspace)
    )
    if not is_folder:
        raise ToolError(
            "the working folder is not the top folder of a git repository: work there, or run git init",
            reason="NOT_A_REPOSITORY",
        )
    ran = await workshop.run(
        context,
        [["git", *command] for command in commands],
        GIT_SECONDS,
        most_bytes,
        conditions,
        environment=_environment({**_OFF, **settings}),
        merged=False,
    )
    return ran.programs


def _environment(settings: Mapping[str, str]) -> Mapping[str, str]:
    """Settings that outweigh every configuration file, of which only the repository's own is read."""
    environment = {
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_CONFIG_COUNT": str(len(settings)),
    }
    for number, (key, value) in enumerate(settings.items()):
        environment |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return environment
