"""Admission control: whether the daemon accepts new work, for every call that would start some."""

from enum import StrEnum

from aeond.errors import UnavailableError


class AdmissionState(StrEnum):
    """The states of admission between start and exit of the daemon."""

    STARTING = "starting"
    OPEN = "open"
    DRAINING = "draining"


class Admission:
    """Moves from STARTING to OPEN to DRAINING, and never back."""

    def __init__(self) -> None:
        self._state = AdmissionState.STARTING

    @property
    def state(self) -> AdmissionState:
        return self._state

    def open(self) -> None:
        """Accepts work from now on, unless the daemon is draining already."""
        if self._state is AdmissionState.STARTING:
            self._state = AdmissionState.OPEN

    def drain(self) -> None:
        """Rejects new work from now on."""
        self._state = AdmissionState.DRAINING

    def check(self) -> None:
        """UnavailableError (reason STARTING or DRAINING) unless work is accepted."""
        match self._state:
            case AdmissionState.OPEN:
                return
            case AdmissionState.STARTING:
                raise UnavailableError(
                    "the daemon is starting: retry in a few seconds",
                    reason="STARTING",
                    retry_after_seconds=0.5,
                )
            case AdmissionState.DRAINING:
                raise UnavailableError(
                    "the daemon is stopping: retry once it is back",
                    reason="DRAINING",
                    retry_after_seconds=2.0,
                )
