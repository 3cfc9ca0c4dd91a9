"""Hooks that run before the process of a cancelled call exits."""

from aeond.capabilities.sandbox.exit_hooks import before_exit, run_exit_hooks


def test_hooks_run_while_their_context_is_open() -> None:
    """A hook runs on an exit within its context, and not on one after it."""
    ran: list[str] = []
    with before_exit(lambda: ran.append("outer")):
        with before_exit(lambda: ran.append("inner")):
            run_exit_hooks()
        run_exit_hooks()
    run_exit_hooks()
    assert ran == ["outer", "inner", "outer"]
