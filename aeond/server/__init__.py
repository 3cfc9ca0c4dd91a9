"""The API: the socket's door, gRPC services, streams, errors as status codes.

Entry point: `api.Api`.
Must not know the kernel, orchestration or capabilities: it calls the service layer through `calls`.
"""
