"""Tasks of an object that live as long as it is entered."""

from types import TracebackType

import anyio


class BackgroundTasks:
    """Base class of objects with tasks of their own: a subclass enters `_tasks` and starts them when it is entered;
    on exit they are cancelled and waited for."""

    def __init__(self) -> None:
        self._tasks = anyio.create_task_group()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._tasks.cancel_scope.cancel()
        # The block's own error passes by the task group, which would wrap it.
        await self._tasks.__aexit__(None, None, None)
