"""Whether a model that a client names can be asked."""

from aeond.errors import NotFoundError, WrongStateError
from aeond.ports import Engine


async def check_model(engine: Engine, model: str, *, may_download: bool = False) -> None:
    """No name ("") is always right. NotFoundError (reason MODEL_NOT_FOUND) when there is no such model,
    WrongStateError (reason MODEL_NOT_PRESENT) when it is an adapter whose files or base are not there, or would have
    to be downloaded first: that is for a person to decide, because meanwhile no other model answers.
    """
    if not model:
        return
    for known in await engine.list_models():
        if known.name == model:
            if known.base_model and not known.present:
                raise WrongStateError(
                    f"the adapter {model!r} cannot be used: its files, or its base {known.base_model!r}, are not there",
                    reason="MODEL_NOT_PRESENT",
                    field="model",
                )
            # Without a size there is nothing to download: a server's model, or a user's own.
            if known.present or may_download or not known.size_bytes:
                return
            raise WrongStateError(
                f"the model {model!r} is not on this machine: load it first (aeonctl models load {model})",
                reason="MODEL_NOT_PRESENT",
                field="model",
            )
    raise NotFoundError(
        f"there is no model {model!r}: list the models to see which there are",
        reason="MODEL_NOT_FOUND",
        field="model",
    )
