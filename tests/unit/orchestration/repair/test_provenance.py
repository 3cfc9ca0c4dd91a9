import pytest
from hypothesis import given
from hypothesis import strategies as st

from aeond.domain.values import JsonValue, display_json
from aeond.orchestration.repair.provenance import Material


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ('{"path": "notes.txt"}', ["notes.txt"]),
        ("{'n': 5.0, 'yes': True}", {"n": 5, "ok": True}),
        (r'{"text": "one\ntwo \u00e9"}', "one\ntwo é"),
        ("path=notes.txt, n=-3", {"path": "notes.txt", "n": -3}),
        ('"1e3"', 1000),
        ('{"a": "", "b": null}', ["", None]),
        ('{"text": "spread\n   over lines"}', "spread over lines"),
        ('{"n": "12"}', 12),
    ],
)
def test_values_that_stand_in_the_source_are_not_new(source: str, value: JsonValue) -> None:
    """The same value in another form, type or spacing is no new meaning."""
    assert Material(source).invented(value) == ()


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ('{"tool": "delete_all"}', "delete"),
        ('{"tool": "read"}', "write"),
        ('{"n": 12}', 1),
        ('{"n": 12}', 120),
        ('{"a": 1}', None),
        ('{"a": "falsehood"}', False),
        ('{"a": }', ""),
        ('{"path": "a.txt"}', "/etc/a.txt.old"),
    ],
)
def test_values_that_the_source_lacks_are_found(source: str, value: JsonValue) -> None:
    """A value that the source does not hold by itself is reported as an invention."""
    assert Material(source).invented({"x": [value]}) != ()


@given(
    st.recursive(st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner))
)
def test_a_value_invents_nothing_beyond_itself(value: JsonValue) -> None:
    """Whatever is read back from its own text counts as the same."""
    source = display_json([value])
    assert [leaf for leaf in Material(source).invented(value) if leaf.strip("'\" ")] == []


def test_names_are_counted() -> None:
    """A name may be used as often as it stands in the source, and no oftener."""
    material = Material('[{"tool": "look"}, {"tool": "look"}, {"tool": "store"}]')
    assert material.holds_each(["look", "store", "look"])
    assert not material.holds_each(["look", "look", "look"])
