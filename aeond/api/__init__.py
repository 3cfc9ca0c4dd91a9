"""The generated contract: needs grpcio and protobuf, and nothing of aeond."""
