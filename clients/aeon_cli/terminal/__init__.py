"""The terminal of aeonctl, handed over to a program of the daemon.

Entry point: `handover.hand_over`.
Must not know which program it is.
"""
