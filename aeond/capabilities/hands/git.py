"""The tools git_status, git_diff and git_commit.

A repository's own configuration can name programs: hooks, filters, diff drivers, a file system monitor, an editor. Git
runs in the sandbox and with all of these switched off; reading, it cannot change anything, and for a commit it can
change the repository's data but neither its configuration nor its hooks.

The preview of a commit adds the same files as the commit, to a copy of the index in the scratch folder.
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
CALL_SECONDS: Final = 150.0  # for up to four requests to the sandbox one after the other
MAX_TEXT_BYTES: Final = 32 << 10
MAX_LISTING_BYTES: Final = 2 << 20
MAX_MESSAGE_CHARS: Final = 4_000
MAX_SAID_CHARS: Final = 500
IGNORE_DIRTY: Final = "--ignore-submodules=dirty"  # shows moved submodules without running git in them
PLAIN_DIFF: Final = ("--no-ext-diff", "--no-textconv", "--submodule=short", IGNORE_DIRTY)
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
# The repository is read-only here: the index and the object of an empty new file are written to the scratch folder.
_PREVIEW: Final = """\
export GIT_INDEX_FILE="$TMPDIR/index" GIT_OBJECT_DIRECTORY="$TMPDIR/objects"
export GIT_ALTERNATE_OBJECT_DIRECTORIES=.git/objects
mkdir "$GIT_OBJECT_DIRECTORY" || exit
if test -e .git/index; then cp .git/index "$GIT_INDEX_FILE" || exit; fi
git add --intent-to-add -- . || exit
base=$(git rev-parse --verify --quiet HEAD) || base=$(git hash-object -t tree /dev/null) || exit
exec git diff "$@" "$base" --
"""
_LARGE_FILES: Final = {"core.bigFileThreshold": "8m"}  # named in a preview and not compared
# Of each changed file: its name, the attribute's name and value. A pipe would hide a failure of the first program.
_FILTERS: Final = """\
git ls-files -z --modified --others --exclude-standard > "$TMPDIR/names" || exit
exec git check-attr -z --stdin filter < "$TMPDIR/names"
"""
_LIST_KEYS: Final = ("git", "config", "--list", "--name-only", "-z")
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
        status = ["status", "--short", "--branch", IGNORE_DIRTY]
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
        return GitText(text=await _diff_text(workshop, context, path))

    return git_diff


def git_commit_tool(workshop: Workshop) -> FunctionTool:
    async def touched(_arguments: GitCommitArguments, context: ToolContext) -> tuple[Target, ...]:
        return workspace_targets(context)

    async def preview(_arguments: GitCommitArguments, context: ToolContext) -> CallPreview:
        settings = {**await _commit_settings(workshop, context), **_LARGE_FILES}
        preview = ["sh", "-c", _PREVIEW, "preview", *PLAIN_DIFF]
        filters, diff = await _listings(workshop, context, [["sh", "-c", _FILTERS], preview], settings)
        _require_unfiltered(filters)
        return CallPreview(diff=diff.output, target=context.workspace)

    @tool(
        effect=Effect.WRITE_CONTAINED,
        example={"message": "Correct the second verse"},
        targets=touched,
        preview=preview,
        timeout_seconds=CALL_SECONDS,
    )
    async def git_commit(arguments: GitCommitArguments, context: ToolContext) -> ToolOutput[GitCommitted]:
        """Commits all changes in the working folder to its git repository."""
        settings = await _commit_settings(workshop, context)
        (filters,) = await _listings(workshop, context, [["sh", "-c", _FILTERS]], settings)
        _require_unfiltered(filters)
        conditions = await _committing(workshop, context)
        status = ["status", "--porcelain", IGNORE_DIRTY]
        add = ["add", "--all", "--", "."]
        *_, changed = await _git(workshop, context, [add, status], conditions, settings)
        if not changed.output:
            raise ToolError("nothing differs from the last commit", reason="NOTHING_TO_COMMIT")
        commit = ["commit", "--no-verify", "--no-gpg-sign", "--quiet", "-m", arguments.message]
        identity = ["show", "--no-patch", "--format=%H"]
        summary = ["show", "--stat", *PLAIN_DIFF, "--format=%h %s"]
        _, made, shown = await _git(workshop, context, [commit, identity, summary], conditions, settings)
        done = GitCommitted(commit=made.output.strip(), text=shown.output)
        subject = arguments.message.partition("\n")[0]
        return ToolOutput(done, (RecordedEffect("git.committed", done.commit, subject),))

    return git_commit


async def _diff_text(workshop: Workshop, context: ToolContext, path: str) -> str:
    """The differences from the last commit; what is staged if there is none yet."""
    options = [*PLAIN_DIFF, "--", *([path] if path else [])]
    born = ["git", "rev-parse", "--verify", "--quiet", "HEAD"]
    first = await _run(workshop, context, [born, ["git", "diff", "HEAD", *options]], MAX_TEXT_BYTES)
    if len(first) > 1:
        return _succeeded(first)[-1].output
    (staged,) = await _git(workshop, context, [["diff", "--cached", *options]])
    return staged.output


async def listed_files(workshop: Workshop, context: ToolContext) -> frozenset[str] | None:
    """The files of the repository and those that it does not ignore; None if the folder is no repository."""
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        (listed,) = await _listings(workshop, context, [listing])
        return frozenset(_entries(listed))
    except ToolError as error:
        if error.reason == "NOT_A_REPOSITORY":
            return None
        raise


async def _read(_arguments: BaseModel, context: ToolContext) -> tuple[Target, ...]:
    return workspace_targets(context)[:1]


async def _commit_settings(workshop: Workshop, context: ToolContext) -> Mapping[str, str]:
    """The settings for a commit: a name if the repository has none. ToolError (reason MERGE_UNRESOLVED)."""
    conflicts = ["git", "ls-files", "-z", "--unmerged"]
    listed, unmerged = await _listings(workshop, context, [_LIST_KEYS, conflicts])
    if found := _entries(unmerged):
        name = found[0].partition("\t")[2]
        raise ToolError(
            f"a merge left a conflict in {name!r:.200}: let the user resolve it and run git add",
            reason="MERGE_UNRESOLVED",
        )
    named = {"user.name", "user.email"} <= {*_entries(listed)}
    return {} if named else {"user.name": "aeond", "user.email": "aeond@localhost"}


def _require_unfiltered(filters: Program) -> None:
    """ToolError (reason GIT_FILTERED) if a changed file must pass a filter, without which a commit would be wrong."""
    for value in _entries(filters)[2::3]:
        if value not in ("unspecified", "unset"):
            raise ToolError(
                f"the repository passes files through the program of filter {value!r:.100}: let the user commit",
                reason="GIT_FILTERED",
            )


async def _listings(
    workshop: Workshop,
    context: ToolContext,
    argvs: Sequence[Sequence[str]],
    settings: Mapping[str, str] = MappingProxyType({}),
) -> Sequence[Program]:
    """The outcomes of programs with long output."""
    return _succeeded(await _run(workshop, context, argvs, MAX_LISTING_BYTES, settings=settings))


def _entries(listing: Program) -> Sequence[str]:
    """What a program printed with a zero byte after each entry. ToolError (reason GIT_OUTPUT_TOO_LARGE) if some are missing."""
    if listing.clipped:
        raise ToolError(
            f"git lists more than {MAX_LISTING_BYTES >> 20} MiB of names, too many for this tool: let the user do it",
            reason="GIT_OUTPUT_TOO_LARGE",
        )
    return listing.output.split("\0")[:-1]


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
    argvs = [["git", *command] for command in commands]
    return _succeeded(await _run(workshop, context, argvs, MAX_TEXT_BYTES, conditions, settings))


def _succeeded(programs: Sequence[Program]) -> Sequence[Program]:
    last = programs[-1]
    if last.exit_code or last.stopped:
        said = "it was stopped" if last.stopped else (last.errors or last.output).strip()
        raise ToolError(f"git failed: {said[-MAX_SAID_CHARS:]}", reason="GIT_FAILED")
    return programs


async def _run(
    workshop: Workshop,
    context: ToolContext,
    argvs: Sequence[Sequence[str]],
    most_bytes: int,
    conditions: Conditions = READ_ONLY,
    settings: Mapping[str, str] = MappingProxyType({}),
) -> Sequence[Program]:
    """With all filters of the repository switched off. ToolError (reason NOT_A_REPOSITORY, and as `_filters_off`)."""
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
        argvs,
        GIT_SECONDS,
        most_bytes,
        conditions,
        environment=_environment({**_OFF, **await _filters_off(workshop, context), **settings}),
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


async def _filters_off(workshop: Workshop, context: ToolContext) -> Mapping[str, str]:
    """Settings that switch off the filters of the repository's configuration: comparing files runs them as well. ToolError
    (reason GIT_FILTERED) for one whose name cannot be passed on, and as `_entries`."""
    ran = await workshop.run(
        context,
        [_LIST_KEYS],
        GIT_SECONDS,
        MAX_LISTING_BYTES,
        READ_ONLY,
        environment=_environment(_OFF),
        merged=False,
    )
    keys = [key for key in _entries(_succeeded(ran.programs)[-1]) if key.startswith("filter.")]
    if any("\N{REPLACEMENT CHARACTER}" in key for key in keys):
        raise ToolError(
            "the filters in the repository's configuration cannot be switched off: let the user run git",
            reason="GIT_FILTERED",
        )
    return {key: "false" if key.endswith(".required") else "" for key in keys}
