"""An API of its own for each test, and a client of it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.api_world import ApiWorld, Stubs, api_world


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[ApiWorld]:
    async with api_world(tmp_path) as world:
        yield world


@pytest.fixture
async def client(world: ApiWorld) -> AsyncIterator[Stubs]:
    async with world.channel() as channel:
        yield Stubs(channel)
