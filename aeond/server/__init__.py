"""The API: door, gRPC shims, errors as status codes."""
