"""The tool notify on a real session bus."""

import os

from aeond.capabilities.hands.desktop import desktop_tools, find_desktop
from aeond.capabilities.tools.files.contained_files import ContainedFiles
from aeond.capabilities.tools.files.safe_open import resolve_in_kernel
from aeond.capabilities.tools.worker_threads import WorkerThreads
from aeond.domain.tools import RecordedEffect, ToolCall
from tests.support.desktop_bus import Notifications
from tests.support.desktop_session import Session
from tests.support.tools import CONTEXT, invoker_of


async def test_a_notification_reaches_the_desktop(session: Session) -> None:
    """A notification is shown as it was written; what could be markup is escaped."""
    environment = {"DBUS_SESSION_BUS_ADDRESS": session.bus, "PATH": os.environ["PATH"]}
    desktop = find_desktop(environment, ContainedFiles(resolve_in_kernel), WorkerThreads())
    assert desktop is not None
    call = ToolCall("notify", {"title": "--Tea", "text": "<b>1 & 2</b>"}, "call1")
    with Notifications(session) as notifications:
        result = await invoker_of(*desktop_tools(desktop)).invoke(call, CONTEXT)
        assert result.effects == (RecordedEffect("notification.shown", "--Tea"),), result.error
        shown = notifications.next()
    assert (shown.summary, shown.body) == ("--Tea", "&lt;b&gt;1 &amp; 2&lt;/b&gt;")
