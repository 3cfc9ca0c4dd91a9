"""Whether a model that a client names can be asked."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from aeond.capabilities.llm.adapters.scripted import Script, ScriptedLLM
from aeond.capabilities.llm.external.scripted_engine import ScriptedEngine
from aeond.domain.llm import ModelInfo
from aeond.errors import NotFoundError, WrongStateError
from aeond.service.models.model_checks import check_model
from tests.support.doubles import ManualClock


class Catalogue(ScriptedEngine):
    """The model `here`, one to be downloaded, one of a server, and adapters with and without their files."""

    async def list_models(self) -> Sequence[ModelInfo]:
        (here,) = await super().list_models()
        far = replace(here, name="far", present=False, size_bytes=1)
        served = replace(here, name="served", present=False)
        adapter = replace(here, name="adapter", base_model="here")
        return here, far, served, adapter, replace(adapter, name="torn", present=False)


@pytest.fixture
def engine() -> Catalogue:
    return Catalogue(ScriptedLLM(Script(model="here")), ManualClock())


@pytest.mark.parametrize("name", ["", "here", "served", "adapter"])
async def test_present_models_pass(engine: Catalogue, name: str) -> None:
    """No name, a model on this machine, one of a server and an adapter with its files are all right."""
    await check_model(engine, name)


async def test_a_download_is_for_a_person_to_decide(engine: Catalogue) -> None:
    """Only an explicit load may download a model; requests are rejected."""
    with pytest.raises(WrongStateError, match="models load far") as refused:
        await check_model(engine, "far")
    assert refused.value.reason == "MODEL_NOT_PRESENT"
    await check_model(engine, "far", may_download=True)


@pytest.mark.parametrize("may_download", [False, True])
async def test_an_adapter_needs_its_files(engine: Catalogue, may_download: bool) -> None:
    """An adapter without its files is refused before its engine hears of it."""
    with pytest.raises(WrongStateError, match="here") as refused:
        await check_model(engine, "torn", may_download=may_download)
    assert refused.value.reason == "MODEL_NOT_PRESENT"


async def test_other_names_are_not_found(engine: Catalogue) -> None:
    """A name that nothing has is not found."""
    with pytest.raises(NotFoundError) as refused:
        await check_model(engine, "nobody")
    assert refused.value.reason == "MODEL_NOT_FOUND"
