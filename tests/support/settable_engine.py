"""An engine whose state a test sets."""

from aeond.capabilities.llm.adapters.scripted import Script, ScriptedLLM
from aeond.capabilities.llm.external.scripted_engine import ScriptedEngine
from aeond.domain.llm import EngineSnapshot, EngineState
from tests.support.doubles import ManualClock


class SettableEngine(ScriptedEngine):
    """Says of itself what `state` says; at first that it downloads its model."""

    def __init__(self) -> None:
        super().__init__(ScriptedLLM(Script()), ManualClock())
        self._state = EngineSnapshot(EngineState.STARTING, "tiny", "downloading", 0.25)

    @property
    def state(self) -> EngineSnapshot:
        return self._state

    @state.setter
    def state(self, state: EngineSnapshot) -> None:
        self._state = state
        self._changes.notify()

    def snapshot(self) -> EngineSnapshot:
        return self.state
