"""Maps each enum of the domain to the wire enum of the same name, value by value."""

from enum import StrEnum
from typing import Generic, Protocol, TypeVar

from aeond.api.v1 import daemon_pb2, judgements_pb2, models_pb2, parts_pb2, sessions_pb2, tools_pb2
from aeond.domain.daemons import DaemonState
from aeond.domain.llm import EngineState, FinishReason, Priority
from aeond.domain.messages import Role
from aeond.domain.plans.evaluations import RefinementOperation, Severity
from aeond.domain.plans.plan import Clarity, StepState
from aeond.domain.plans.profiles import Breadth, ConfidenceLevel, Route, ToolUsage
from aeond.domain.plans.steps import StepMode
from aeond.domain.runs.run import Operation, Phase, PlanSource, Resolution, RunState, SuspendReason
from aeond.domain.tools import Effect, Recovery
from aeond.errors import InvalidInputError

Ours = TypeVar("Ours", bound=StrEnum)
Theirs = TypeVar("Theirs", bound=int)
Theirs_co = TypeVar("Theirs_co", bound=int, covariant=True)


class WireEnum(Protocol[Theirs_co]):
    """The interface of generated enums."""

    def Value(self, name: str) -> Theirs_co: ...  # noqa: N802 (the generated code's name)


class Names(Generic[Ours, Theirs]):
    """The mapping of one enum. Built on import, so that a value missing on either side is detected at
    once.
    """

    def __init__(self, ours: type[Ours], theirs: WireEnum[Theirs], prefix: str) -> None:
        self._unspecified = theirs.Value(f"{prefix}_UNSPECIFIED")
        self._theirs = {member: theirs.Value(f"{prefix}_{member.name}") for member in ours}
        self._ours = {number: member for member, number in self._theirs.items()}
        self._what = ", ".join(f"{prefix}_{member.name}" for member in ours)

    def wire(self, member: Ours | None) -> Theirs:
        """None is UNSPECIFIED."""
        return self._unspecified if member is None else self._theirs[member]

    def domain(self, number: Theirs, field: str) -> Ours:
        """InvalidInputError (reason UNKNOWN_VALUE) for UNSPECIFIED and for numbers that have no name."""
        member = self._ours.get(number)
        if member is None:
            raise InvalidInputError(
                f"{field} must be one of {self._what}, not {number}.", reason="UNKNOWN_VALUE", field=field
            )
        return member

    def domain_or(self, number: Theirs, field: str, default: Ours) -> Ours:
        """As `domain`, with a default for UNSPECIFIED."""
        return default if number == self._unspecified else self.domain(number, field)


RUN_STATES = Names(RunState, parts_pb2.RunState, "RUN_STATE")
PHASES = Names(Phase, parts_pb2.Phase, "PHASE")
STEP_STATES = Names(StepState, parts_pb2.StepState, "STEP_STATE")
STEP_MODES = Names(StepMode, parts_pb2.StepMode, "STEP_MODE")
CLARITIES = Names(Clarity, parts_pb2.Clarity, "CLARITY")
PLAN_SOURCES = Names(PlanSource, parts_pb2.PlanSource, "PLAN_SOURCE")
SUSPEND_REASONS = Names(SuspendReason, parts_pb2.SuspendReason, "SUSPEND_REASON")
RESOLUTIONS = Names(Resolution, parts_pb2.Resolution, "RESOLUTION")
EFFECTS = Names(Effect, tools_pb2.Effect, "EFFECT")
RECOVERIES = Names(Recovery, tools_pb2.Recovery, "RECOVERY")
ROLES = Names(Role, sessions_pb2.Role, "ROLE")
PRIORITIES = Names(Priority, models_pb2.Priority, "PRIORITY")
FINISH_REASONS = Names(FinishReason, models_pb2.FinishReason, "FINISH_REASON")
ENGINE_STATES = Names(EngineState, models_pb2.EngineState, "ENGINE_STATE")
DAEMON_STATES = Names(DaemonState, daemon_pb2.DaemonState, "DAEMON_STATE")
OPERATIONS = Names(Operation, judgements_pb2.Operation, "OPERATION")
ROUTES = Names(Route, judgements_pb2.Route, "ROUTE")
TOOL_USAGES = Names(ToolUsage, judgements_pb2.ToolUsage, "TOOL_USAGE")
BREADTHS = Names(Breadth, judgements_pb2.Breadth, "BREADTH")
CONFIDENCE_LEVELS = Names(ConfidenceLevel, judgements_pb2.ConfidenceLevel, "CONFIDENCE_LEVEL")
SEVERITIES = Names(Severity, judgements_pb2.Severity, "SEVERITY")
REFINEMENTS = Names(RefinementOperation, judgements_pb2.RefinementOperation, "REFINEMENT_OPERATION")
