"""`aeonctl aider`: one run at the terminal, then one that applies what it proposes."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aeon_cli.exits import Exit
from aeon_cli.runs.following import Showing, follow
from aeon_cli.terminal.handover import Handover
from aeond_client.calls.run_calls import RunOptions
from aeond_client.events import Event, StepEnded, StepStarted
from aeond_client.records.runs import Budget, Plan, PlanStep

if TYPE_CHECKING:
    from aeond_client.client import Client

# An evening of work; the daemon's own limits hold if they are lower.
BUDGET = Budget(llm_calls=400, tokens=2_000_000, wall_seconds=12 * 3_600)
PROPOSED = "changes.proposed"
REQUEST = "Work with Aider."


@dataclass(frozen=True, slots=True)
class Pairing:
    """What the user works on with Aider."""

    task: str
    files: tuple[str, ...]
    test: tuple[str, ...]
    folder: str
    session_id: str
    patience_seconds: float


def pair(client: "Client", work: Pairing) -> Exit:
    """Hands the terminal over until Aider ends; then applies the changes, as the policy allows or the user decides."""
    given = {"task": work.task, "files": [*work.files], "test": [*work.test]}
    arguments = {name: value for name, value in given.items() if value}

    run_id = _begun(client, work, work.task or REQUEST, "aider_interactive", arguments)
    handover = Handover(run_id, str(client.socket.path))

    def lend(event: Event) -> bool:
        if isinstance(event.kind, StepStarted):
            handover.begin()
        elif isinstance(event.kind, StepEnded):
            handover.end()
        return handover.active

    try:
        ended = follow(client, run_id, Showing(work.patience_seconds, lend=lend))
    finally:
        handover.end()
    answer = client.get_run(run_id).answer
    proposals = [effect.target for effect in answer.effects if effect.kind == PROPOSED] if answer else []
    if ended is not Exit.ANSWERED or not proposals:
        return ended
    applying = _begun(
        client, work, "Apply the changes made with Aider.", "apply_changes", {"proposal": proposals[-1]}
    )
    return follow(client, applying, Showing(work.patience_seconds))


def _begun(client: "Client", work: Pairing, request: str, tool: str, arguments: dict[str, Any]) -> str:
    plan = Plan(request, (PlanStep("s1", tool=tool, arguments=arguments),))
    options = RunOptions(plan=plan, budget=BUDGET, workspace=work.folder, session_id=work.session_id)
    return client.create_run(request, options).run_id
