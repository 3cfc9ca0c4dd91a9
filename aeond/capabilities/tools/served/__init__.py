"""Tools that clients serve, registered for one user while the client is connected and executed in the client's process; and
terminals that clients lend to their runs.

Entry point: `tool_serving.RegisteredServing`, `terminals.RunTerminals`.
Must not know the wire, the policy or the kernel.
"""
