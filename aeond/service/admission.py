"""Whether the daemon takes on work: one answer for every call that would begin some."""

from enum import StrEnum

from aeond.errors import UnavailableError


class AdmissionState(StrEnum):
    """The place of the daemon between its start and its end, as far as new work is concerned."""

    STARTING = "starting"
    OPEN = "open"
    DRAINING = "draining"


class Admission:
    """Goes from STARTING to OPEN to DRAINING, and never back."""

    def __init__(self) -> None:
        self._state = AdmissionState.STARTING

    @property
    def state(self) -> AdmissionState:
        return self._state

    def open(self) -> None:
        """Work is taken on from now, unless the daemon drains already."""
        if self._state is AdmissionState.STARTING:
            self._state = AdmissionState.OPEN

    def drain(self) -> None:
        """Nothing new is taken on from now."""
        self._state = AdmissionState.DRAINING

    def check(self) -> None:
        """UnavailableError (reason STARTING or DRAINING) unless work is taken on."""
        match self._state:
            case AdmissionState.OPEN:
                return
            case AdmissionState.STARTING:
                raise UnavailableError(
                    "the daemon is starting: try again in a moment",
                    reason="STARTING",
                    retry_after_seconds=0.5,
                )
            case AdmissionState.DRAINING:
                raise UnavailableError(
                    "the daemon is stopping: try again once it is back",
                    reason="DRAINING",
                    retry_after_seconds=2.0,
                )
