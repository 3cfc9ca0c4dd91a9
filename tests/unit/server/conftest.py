"""An API of its own for each test, and a client of it."""

from tests.support.api_world import admin, client, world

__all__ = ["admin", "client", "world"]
