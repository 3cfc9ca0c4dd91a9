"""Tools that clients serve and execute for one user while they are connected, and terminals that they lend to runs.

Entry point: `tool_serving.RegisteredServing`, `terminals.RunTerminals`.
Must not know the wire, the policy or the kernel.
"""
