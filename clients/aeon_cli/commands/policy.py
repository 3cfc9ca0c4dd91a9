"""`policy`: shows the policy, tests it, and decides past calls again."""

from pathlib import Path

import click

from aeon_cli.completion import complete_run
from aeon_cli.connection import connect, print_json, run_named
from aeon_cli.exits import Exit
from aeon_cli.options import InOrder, json_option, tool_call_arguments
from aeon_cli.text.printable import json_line, one_line
from aeon_cli.text.tables import print_table


@click.group(cls=InOrder)
def policy() -> None:
    """Show and test the policy, which decides about each tool call."""


@policy.command("explain")
@click.argument("run_id", required=False, metavar="[RUN]", shell_complete=complete_run)
@json_option
@click.pass_context
def explain(context: click.Context, /, run_id: str | None, as_json: bool) -> None:
    """Show the rules in force, or the decisions about the calls of RUN.

    Rules are listed by name with their conditions; those named builtin apply under every policy. RUN is a run id, or
    `last` for the newest run. With --json, one rule or decision per line.
    """
    if run_id is not None:
        _explain_run(context, run_id, as_json=as_json)
        return
    with connect(context) as client:
        found = client.get_policy()
    if as_json:
        print_json(found)
        return
    print(f"version  {one_line(found.version)}")
    print(f"profile  {one_line(found.profile)}")
    if found.file:
        print(f"file     {one_line(found.file)}")
    rows = [(rule.name, rule.verdict, _conditions(rule.conditions), rule.reason) for rule in found.rules]
    print_table(("RULE", "VERDICT", "CONDITIONS", "REASON"), rows)


def _conditions(conditions: object) -> str:
    return json_line(conditions) if conditions else ""


def _explain_run(context: click.Context, run_id: str, *, as_json: bool) -> None:
    from aeon_cli.runs.details import events_so_far
    from aeon_cli.text.encoding import plain
    from aeond_client.events import PolicyDecided, StepEnded, StepStarted

    with connect(context) as client:
        events = events_so_far(client, client.get_run(run_named(client, run_id)))
    decided: list[tuple[float, PolicyDecided]] = []
    tools: dict[str, str] = {}
    for event in events:
        match event.kind:
            case StepStarted(step=step):
                tools[step.step_id] = step.tool
            case PolicyDecided() as kind:
                decided.append((event.time, kind))
            case StepEnded(step_id=step_id, rule=rule, policy_version=version) if version:
                computed = PolicyDecided(
                    step_id, "allow", tools.get(step_id, ""), "pure", rule, version, reason="it only computes"
                )
                decided.append((event.time, computed))
    if as_json:
        for time, kind in decided:
            print_json({"time": time, **plain(kind)})
        return
    rows = [
        (
            kind.step_id,
            kind.tool,
            kind.verdict,
            kind.rule or "no rule",
            "tainted" if kind.tainted else "",
            kind.reason,
        )
        for _, kind in decided
    ]
    print_table(
        ("STEP", "TOOL", "VERDICT", "RULE", "TAINT", "REASON"),
        rows,
        nothing="No decision is recorded in this run.",
    )


@policy.command("test", context_settings={"ignore_unknown_options": True})
@tool_call_arguments
@click.option(
    "--taint",
    multiple=True,
    metavar="SOURCE",
    help="An untrusted source that the run has read, such as host:example.org:443; may be repeated.",
)
@json_option
@click.pass_context
def test(
    context: click.Context,
    /,
    tool: str,
    arguments: tuple[str, ...],
    workspace: str,
    taint: tuple[str, ...],
    as_json: bool,
) -> int:
    """Decide about a call as a step of a run, without carrying it out.

    The arguments are given as for `call`. Exits with 0 if the call is allowed, with 1 if it needs approval or is denied.

    \b
    aeonctl policy test write_file path=notes.md content=x
    aeonctl policy test remember key=door value=green --taint host:example.org:443
    """  # noqa: D301 - click's mark for lines that stay as they are
    from aeon_cli.plans import arguments_of

    given = arguments_of(arguments)
    folder = str(Path(workspace).absolute()) if workspace else ""
    with connect(context) as client:
        found = client.test_policy(tool, given, workspace=folder, taint=taint)
    decision = found.decision
    if as_json:
        print_json(found)
    else:
        print(f"verdict  {decision.verdict}")
        print(f"rule     {one_line(decision.rule) or '(none matches)'}")
        print(f"reason   {one_line(decision.reason)}")
        print(f"policy   {one_line(decision.version)}")
        print(f"facts    {json_line(found.facts)}")
    return Exit.ANSWERED if decision.verdict == "allow" else Exit.FAILED


@policy.command("replay")
@click.option(
    "--policy",
    "file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="A policy file. Without it, the policy in force decides.",
)
@click.option(
    "--all", "every", is_flag=True, help="Show all calls, not only those that are decided differently."
)
@click.argument("run_ids", nargs=-1, required=True, metavar="RUN...", shell_complete=complete_run)
@json_option
@click.pass_context
def replay(
    context: click.Context, /, file: Path | None, every: bool, run_ids: tuple[str, ...], as_json: bool
) -> int:
    """Decide about the calls of past runs again, and show the differences.

    Nothing is carried out. Exits with 1 if a call is decided differently. With --json, one call per line. RUN is a run
    id, or `last` for the newest run.
    """
    from aeon_cli.text.encoding import plain

    text = "" if file is None else file.read_text(encoding="utf-8")
    rows: list[tuple[str, ...]] = []
    differs = 0
    with connect(context) as client:
        for run_id in (run_named(client, name) for name in run_ids):
            for one in client.replay_policy(run_id, text).decisions:
                before = one.recorded.verdict if one.recorded else ""
                after = one.decided.verdict if one.decided else ""
                differs += before != after
                if before == after and not every:
                    continue
                if as_json:
                    print_json({"run_id": run_id, **plain(one)})
                rule = one.decided.rule if one.decided else ""
                rows.append(
                    (run_id, one.step_id, one.tool, before or "not recorded", after, rule or "no rule")
                )
    if not as_json:
        print_table(
            ("RUN", "STEP", "TOOL", "BEFORE", "NOW", "RULE"), rows, nothing="Every call is decided as before."
        )
    return Exit.FAILED if differs else Exit.ANSWERED


COMMANDS = {145: policy}
