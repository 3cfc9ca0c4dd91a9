"""Tools that clients serve: registered for one user while the client is connected, executed in the client's process.

Entry point: `tool_serving.RegisteredServing`.
Must not know the wire, the policy or the kernel.
"""
