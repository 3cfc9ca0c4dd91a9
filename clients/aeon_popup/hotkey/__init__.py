"""The global hotkey: through the desktop's portal on Wayland, by a key grab on X11.

Entry point: `chord.parse`, `x11.Grab`, `portal.PortalShortcut`.
Must not know Qt or the window.
"""
