"""aeond: a bounded AI orchestration kernel as a Linux daemon."""

__version__ = "0.1.0"
