"""Times in their wire format."""

import math

from google.protobuf.timestamp_pb2 import Timestamp


def timestamp(seconds: float) -> Timestamp:
    """A Unix time, with the precision of a double."""
    fraction, whole = math.modf(seconds)
    return Timestamp(seconds=int(whole), nanos=min(round(fraction * 1e9), 999_999_999))
