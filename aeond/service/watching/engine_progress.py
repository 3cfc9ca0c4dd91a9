"""Shows watchers of a run the progress of an engine that is starting."""

from aeond.domain.llm import EngineState
from aeond.domain.runs.live_updates import Progress
from aeond.ports import Engine
from aeond.service.watching.feed import HotFeed


class EngineProgress:
    """Sends progress of a starting engine to every watched run, and a final update when it is ready."""

    def __init__(self, engine: Engine, feed: HotFeed) -> None:
        self._engine = engine
        self._feed = feed
        self._shown = False

    def look(self) -> None:
        """Call a few times a second; costs nothing while the engine is not starting.

        An update without an activity ends the display of progress.
        """
        engine = self._engine.snapshot()
        starting = engine.state is EngineState.STARTING
        if starting or self._shown:
            activity = f"{engine.activity or 'starting'} the model" if starting else ""
            fraction = engine.progress if starting and engine.progress > 0 else -1.0
            for run_id in self._feed.watched_run_ids:
                self._feed.update(Progress(run_id, "", activity, fraction))
        self._shown = starting
