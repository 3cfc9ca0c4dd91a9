"""Kernel transcripts: `Playbook() >> what happened << what is asked for`, one line of a story after another."""

from aeond.domain.commands import Command
from aeond.domain.events import Event, EventKind
from aeond.domain.runs import RunSnapshot
from aeond.kernel.decide import decide
from aeond.kernel.fold import fold


class Playbook:
    """Feeds events with `>>` and checks with `<<` that decide asks for exactly these commands."""

    def __init__(self, run_id: str = "run") -> None:
        self.run = RunSnapshot(run_id)

    def __rshift__(self, kind: EventKind) -> "Playbook":
        seq = self.run.seq + 1
        self.run = fold(
            self.run, Event(self.run.run_id, seq, time=float(seq), elapsed_seconds=0.0, kind=kind)
        )
        return self

    def __lshift__(self, commands: Command | tuple[Command, ...]) -> "Playbook":
        expected = commands if isinstance(commands, tuple) else (commands,)
        assert decide(self.run) == expected
        return self


WAIT: tuple[Command, ...] = ()
