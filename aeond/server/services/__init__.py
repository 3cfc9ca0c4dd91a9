"""The gRPC services of the contract, one module each: check, translate, call the service layer.

Entry point: `runs.RunShim` and its siblings, bound by `aeond.server.binding`.
Must not know the kernel, capabilities or sockets.
"""
