"""The models that are named by their place on a hub."""

from aeond.capabilities.llm.models.catalogue import BUILT_IN, Catalogue, HubFile
from aeond.capabilities.llm.models.published import PUBLISHED

COMMIT_HEX = 40


def test_the_published_models_are_complete() -> None:
    """Every model has a free licence, pinned commits, the memory of its context, and says that it was not tried."""
    for entry in PUBLISHED:
        assert entry.licence == "Apache-2.0"
        assert entry.kv_bytes > 0
        assert entry.weights is not None
        assert len(bytes.fromhex(entry.weights.revision)) * 2 == COMMIT_HEX
        assert entry.context_length >= 32_768
        assert not entry.tried
        assert not entry.digest or len(bytes.fromhex(entry.digest)) == 32
        for place in entry.places:
            assert isinstance(place, HubFile)
            assert len(bytes.fromhex(place.revision)) * 2 == COMMIT_HEX
    Catalogue([*BUILT_IN, *PUBLISHED], "")
