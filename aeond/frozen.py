"""`@frozen` declares the value types of aeond: frozen dataclasses with slots that are fast to define.

`dataclass` compiles six methods for each class; for two hundred classes that takes a quarter of the daemon's
start-up time. Here each class gets its own `__init__` and shares the other methods. The result is a dataclass
in all respects: `replace`, `fields`, `asdict` and pydantic work on it.
"""

from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, fields
from operator import attrgetter
from typing import Any, Never, TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(cls: type[T]) -> type[T]:
    """Makes a class a frozen dataclass with slots; two objects are equal if class and fields are equal, apart
    from those declared with `compare=False`."""
    made: Any = dataclass(init=False, repr=False, eq=False, slots=True)(cls)
    declared = fields(made)
    if hasattr(made, "__post_init__") or any(one.kw_only or not one.init for one in declared):
        raise TypeError(
            f"{cls.__qualname__} uses a feature that @frozen does not support: make it a dataclass"
        )
    made.__values__ = _reader_of(tuple(one.name for one in declared if one.compare))
    for name, method in (_SHARED | {"__init__": _init_of(made, declared)}).items():
        if name not in vars(cls):
            setattr(made, name, method)
    return made  # type: ignore[no-any-return]  # the same class again, with slots


def _init_of(made: Any, declared: tuple[Field[Any], ...]) -> Any:
    """Builds an `__init__` that accepts fields by position or name and fills the slots."""
    known: dict[str, Any] = {"_MADE": _MADE}
    parameters, lines = ["self"], ["pass"]
    for one in declared:
        name = one.name
        parameter, value = name, name
        if one.default_factory is not MISSING:
            known[f"_new_{name}"] = one.default_factory
            parameter, value = f"{name}=_MADE", f"_new_{name}() if {name} is _MADE else {name}"
        elif one.default is not MISSING:
            known[f"_default_{name}"] = one.default
            parameter = f"{name}=_default_{name}"
        known[f"_set_{name}"] = getattr(made, name).__set__
        parameters.append(parameter)
        lines.append(f"_set_{name}(self, {value})")
    text = f"def __init__({', '.join(parameters)}):\n " + "\n ".join(lines)
    exec(text, known)  # noqa: S102 - made of the names of fields alone
    return known["__init__"]


_MADE = object()  # no argument given: created for each instance


def _reader_of(names: tuple[str, ...]) -> Callable[[object], object]:
    """Builds a function that reads all fields at once, for comparing and hashing."""
    return attrgetter(*names) if names else _nothing


def _nothing(_value: object) -> object:
    return ()


def _eq(self: Any, other: Any) -> Any:
    if other.__class__ is not self.__class__:
        return NotImplemented
    return self.__class__.__values__(self) == self.__class__.__values__(other)


def _hash(self: Any) -> int:
    return hash(self.__class__.__values__(self))


def _repr(self: Any) -> str:
    shown = ", ".join(f"{one.name}={getattr(self, one.name)!r}" for one in fields(self) if one.repr)
    return f"{self.__class__.__qualname__}({shown})"


def _keep(_self: object, name: str, *_value: object) -> Never:
    raise FrozenInstanceError(f"cannot change {name!r}")


def _reduce(self: Any) -> tuple[type, tuple[Any, ...]]:
    return self.__class__, tuple(getattr(self, one.name) for one in fields(self))


_SHARED = {
    "__eq__": _eq,
    "__hash__": _hash,
    "__repr__": _repr,
    "__setattr__": _keep,
    "__delattr__": _keep,
    "__reduce__": _reduce,
}
