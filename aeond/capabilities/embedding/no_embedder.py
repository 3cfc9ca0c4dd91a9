"""The Embedder port where comparing by meaning is turned off."""

from collections.abc import Sequence

from aeond.ports.embedding import Vector


class NoEmbedder:
    """Has no vectors."""

    name = ""
    available = False

    async def embed(self, texts: Sequence[str]) -> Sequence[Vector]:
        return ()
