"""State of the popup, as pure functions from state and happening to state.

Entry point: `session.after`.
Must not know Qt, gRPC, D-Bus, threads or clocks.
"""
