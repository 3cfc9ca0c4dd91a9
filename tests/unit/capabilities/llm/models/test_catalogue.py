"""The models that are known, and how they are found by name."""

from pathlib import Path

import pytest

from aeond.capabilities.llm.models.catalogue import BUILT_IN, QWEN_CODER_1_5B, Catalogue, Wheels, own_file
from aeond.errors import InvalidInputError, NotFoundError


def test_the_built_in_models_are_complete() -> None:
    """Every model that comes with the daemon has a digest, a size, a licence and a place to come from."""
    for entry in BUILT_IN:
        assert len(bytes.fromhex(entry.digest)) == 32
        assert entry.size_bytes > 90_000_000
        assert entry.licence == "Apache-2.0"
        assert entry.places
    assert len({entry.digest for entry in BUILT_IN}) == len(BUILT_IN)


def test_every_part_of_a_mirror_is_pinned() -> None:
    """A mirror names exact versions, each part once."""
    for entry in BUILT_IN:
        for place in entry.places:
            if isinstance(place, Wheels):
                requirements = [part.requirement for part in place.parts]
                assert all(requirement.count("==") == 1 for requirement in requirements)
                assert len(set(requirements)) == len(requirements)


def test_models_are_found_by_name() -> None:
    """A name finds its model, no name the default."""
    catalogue = Catalogue(BUILT_IN, "smollm2-135m-instruct")
    assert catalogue.get("qwen2.5-coder-1.5b-instruct") is QWEN_CODER_1_5B
    assert catalogue.get("").name == catalogue.default == "smollm2-135m-instruct"
    assert [entry.name for entry in catalogue] == [entry.name for entry in BUILT_IN]


def test_no_default_named_is_the_first() -> None:
    """A catalogue without a default of its own takes its first model."""
    assert Catalogue(BUILT_IN, "").default == "qwen2.5-coder-1.5b-instruct"


def test_unknown_names_tell_the_known_ones() -> None:
    """A name that there is not is answered with those that there are."""
    with pytest.raises(NotFoundError, match="smollm2-135m-instruct") as failed:
        Catalogue(BUILT_IN, "").get("gpt")
    assert (failed.value.reason, failed.value.field) == ("MODEL_NOT_FOUND", "model")
    with pytest.raises(NotFoundError):
        Catalogue(BUILT_IN, "gpt")


def test_names_are_unique() -> None:
    """A user's own model cannot take the place of a built-in one unnoticed."""
    with pytest.raises(InvalidInputError) as refused:
        Catalogue([*BUILT_IN, own_file(QWEN_CODER_1_5B.name, Path("mine.gguf"))], "")
    assert refused.value.reason == "MODEL_NAME_TAKEN"
