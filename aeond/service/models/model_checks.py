"""Checks whether a model named by a client can be used."""

from aeond.errors import NotFoundError, WrongStateError
from aeond.ports import Engine


async def check_model(engine: Engine, model: str, *, may_download: bool = False) -> None:
    """No name ("") is always valid. NotFoundError (reason MODEL_NOT_FOUND) if the model does not exist.
    WrongStateError (reason MODEL_NOT_PRESENT) if it is an adapter whose files or base model are missing, or
    would have to be downloaded first: a person must decide that, because no other model answers meanwhile.
    """
    if not model:
        return
    for known in await engine.list_models():
        if known.name == model:
            if known.base_model and not known.present:
                raise WrongStateError(
                    f"the adapter {model!r} cannot be used: its files, or its base model"
                    f" {known.base_model!r}, are missing",
                    reason="MODEL_NOT_PRESENT",
                    field="model",
                )
            # Models without a size cannot be downloaded: a server's model, or a user's own.
            if known.present or may_download or not known.size_bytes:
                return
            raise WrongStateError(
                f"the model {model!r} is not downloaded: load it first (aeonctl models load {model})",
                reason="MODEL_NOT_PRESENT",
                field="model",
            )
    raise NotFoundError(
        f"model {model!r} does not exist: list the models to see the existing ones",
        reason="MODEL_NOT_FOUND",
        field="model",
    )
