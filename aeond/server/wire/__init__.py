"""Translation between domain values and protobuf messages, and checks of the form of requests.

Entry point: `events`, `records`, `checks`.
Must not know gRPC calls, sockets or the service layer.
"""
