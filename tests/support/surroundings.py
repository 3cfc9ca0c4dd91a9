"""Decisions without surroundings: no situation, and no example uses."""

from aeond.capabilities.embedding.no_embedder import NoEmbedder
from aeond.orchestration.assembly import Surroundings
from aeond.orchestration.null_objects import NoSituations

BARE = Surroundings(NoSituations(), NoEmbedder())
