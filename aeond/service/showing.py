"""Shows those who watch a run what its model is doing while it is not there yet."""

from aeond.domain.events import Progress
from aeond.domain.llm import EngineState
from aeond.ports import Engine
from aeond.service.feed import HotFeed


class EngineShowing:
    """Tells every watched run about an engine that is starting, and once when that is over."""

    def __init__(self, engine: Engine, feed: HotFeed) -> None:
        self._engine = engine
        self._feed = feed
        self._shown = False

    def look(self) -> None:
        """To be called a few times a second; costs nothing while the engine is not starting.

        An update without an activity says that nothing special is waited for any more.
        """
        engine = self._engine.snapshot()
        starting = engine.state is EngineState.STARTING
        if starting or self._shown:
            activity = f"{engine.activity or 'starting'} the model" if starting else ""
            fraction = engine.progress if starting and engine.progress > 0 else -1.0
            for run_id in self._feed.watched_run_ids:
                self._feed.update(Progress(run_id, "", activity, fraction))
        self._shown = starting
