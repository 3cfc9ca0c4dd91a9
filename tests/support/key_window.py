"""A program with one X11 window that takes the focus and prints the symbol of each key that it gets, after its id.

usage: python -m tests.support.key_window [fullscreen]
"""

import sys
from typing import Any

import xcffib
import xcffib.xproto


def main() -> None:
    connect: Any = xcffib.connect
    connection = connect()
    setup = connection.get_setup()
    root = setup.roots[connection.pref_screen]
    mapping = connection.core.GetKeyboardMapping(
        setup.min_keycode, setup.max_keycode - setup.min_keycode + 1
    ).reply()
    window = connection.generate_id()
    mask = xcffib.xproto.EventMask.KeyPress | xcffib.xproto.EventMask.FocusChange
    connection.core.CreateWindow(
        0, window, root.root, 10, 10, 200, 100, 0, xcffib.xproto.WindowClass.InputOutput, root.root_visual,
        xcffib.xproto.CW.EventMask, [mask],
    )  # fmt: skip
    if "fullscreen" in sys.argv:
        state, fullscreen = (
            connection.core.InternAtom(False, len(name), name).reply().atom
            for name in ("_NET_WM_STATE", "_NET_WM_STATE_FULLSCREEN")
        )
        replace = xcffib.xproto.PropMode.Replace
        connection.core.ChangeProperty(replace, window, state, xcffib.xproto.Atom.ATOM, 32, 1, [fullscreen])
    connection.core.MapWindow(window)
    connection.flush()
    named = False
    while True:
        event = connection.wait_for_event()
        if isinstance(event, xcffib.xproto.FocusInEvent) and not named:
            named = True
            _say(str(window))
        elif isinstance(event, xcffib.xproto.KeyPressEvent):
            place = (event.detail - setup.min_keycode) * mapping.keysyms_per_keycode
            _say(hex(mapping.keysyms[place]))


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
