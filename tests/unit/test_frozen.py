"""Values are dataclasses in all respects."""

import copy
import pickle
from dataclasses import FrozenInstanceError, asdict, field, fields, is_dataclass, replace
from typing import ClassVar

import pytest
from pydantic import TypeAdapter

from aeond.frozen import frozen


@frozen
class Empty:
    """Nothing to compare."""


@frozen
class Point:
    x: int
    tags: list[str] = field(default_factory=list)
    secret: str = field(default="", repr=False)
    kind: ClassVar = "point"


@frozen
class Named(Point):
    name: str = "origin"

    def __repr__(self) -> str:
        return f"<{self.name}>"


@frozen
class Noted:
    name: str
    note: str = field(compare=False)


def test_fields_are_taken_by_place_and_by_name() -> None:
    """Fields are given in order or by name, and those left out have their defaults."""
    assert Point(1, ["a"]) == Point(x=1, tags=["a"], secret="")


def test_a_missing_field_is_refused() -> None:
    """A field without a default must be given, and one that does not exist is refused."""
    with pytest.raises(TypeError, match="'x'"):
        Point()  # type: ignore[call-arg]  # what is tested
    with pytest.raises(TypeError, match="'y'"):
        Point(1, y=2)  # type: ignore[call-arg]  # what is tested


def test_defaults_are_made_again() -> None:
    """Default values from a factory are not shared between instances."""
    assert Point(1).tags is not Point(1).tags


def test_only_the_same_class_is_equal() -> None:
    """Values are equal when class and all fields are, and then their hashes are too."""
    assert Point(1) != Point(2)
    assert Point(1) != Named(1)
    assert Empty() == Empty()
    assert hash(Empty()) == hash(Empty())
    assert Named.__hash__(Named(1, tags=())) == hash(Named(1, tags=()))  # type: ignore[arg-type]  # hashable


def test_a_field_may_be_left_out_of_the_comparison() -> None:
    """Values that differ in a field declared with `compare=False` alone are equal."""
    assert Noted("a", "b") == Noted("a", "c")
    assert hash(Noted("a", "b")) == hash(Noted("a", "c"))


def test_nothing_can_be_changed() -> None:
    """Fields can be neither set nor deleted, and no other attribute can be added."""
    point = Point(1)
    for name in ("x", "other"):
        with pytest.raises(FrozenInstanceError):
            setattr(point, name, 2)
    with pytest.raises(FrozenInstanceError):
        del point.x
    assert point == Point(1)
    assert not hasattr(point, "__dict__")


def test_secrets_are_not_shown() -> None:
    """The text of a value names its fields, without those that must not be shown."""
    assert repr(Point(1, secret="key")) == "Point(x=1, tags=[])"


def test_a_text_of_its_own_stays() -> None:
    """A class that says how it is shown is shown so."""
    assert repr(Named(1, name="home")) == "<home>"


def test_the_tools_for_dataclasses_work() -> None:
    """Replacing, listing fields, turning into a dictionary and matching work as for any dataclass."""
    point = Named(1, ["a"], name="n")
    assert is_dataclass(point)
    assert [one.name for one in fields(point)] == ["x", "tags", "secret", "name"]
    assert replace(point, x=2) == Named(2, ["a"], name="n")
    assert asdict(point) == {"x": 1, "tags": ["a"], "secret": "", "name": "n"}
    match point:
        case Named(x, name="n"):
            assert x == 1
        case _:
            pytest.fail("does not match")


def test_values_can_be_copied() -> None:
    """A deep copy and a pickled one are equal to the original, and the deep copy shares nothing with it."""
    point = Point(1, ["a"])
    assert copy.deepcopy(point) == point == pickle.loads(pickle.dumps(point))
    assert copy.deepcopy(point).tags is not point.tags


def test_unsupported_definitions_are_rejected() -> None:
    """A class with a field by name only, one that is not given, or a look at itself is refused when it is defined."""

    class ByName:
        x: int = field(kw_only=True)

    class NotGiven:
        x: int = field(init=False, default=1)

    class Looking:
        def __post_init__(self) -> None: ...

    for cls in (ByName, NotGiven, Looking):
        with pytest.raises(TypeError, match=cls.__name__):
            frozen(cls)


def test_pydantic_reads_values() -> None:
    """pydantic validates into them and writes them like any dataclass."""
    adapter = TypeAdapter(Named)
    point = adapter.validate_python({"x": "1", "tags": ["a"]})
    assert point == Named(1, ["a"])
    assert adapter.dump_python(point) == asdict(point)
