"""The socket that clients connect to: peer identity, access control, HTTP/2 filtering and proxying.

Entry point: `door.Door`.
Must not know gRPC services or the service layer.
"""
