"""Translation of domain values to and from protobuf messages, one module for each area.

Entry point: The functions of each module.
Must not know gRPC calls or the service layer.
"""
