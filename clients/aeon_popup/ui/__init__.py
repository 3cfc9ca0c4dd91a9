"""The window: Qt widgets that draw the state and pass the user's choices on.

Entry point: `popup.Popup`.
Must not know gRPC, D-Bus, or how the state changes.
"""
