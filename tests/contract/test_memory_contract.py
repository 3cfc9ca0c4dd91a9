"""Guarantees of every memory implementation."""

import math
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aeond.capabilities.memory.sqlite_memory import SqliteMemory
from aeond.domain.facts import FactSource
from aeond.domain.values import JsonValue
from aeond.errors import InvalidInputError
from aeond.ports import Memory
from tests.support.memory import InMemoryMemory

KEYS = st.text(
    st.characters(exclude_categories=["Cc", "Cf", "Cs", "Zl", "Zp"])
    | st.sampled_from("aA%_\u200d\U0010ffff\ud7ff\ue000"),
    min_size=1,
    max_size=6,
)


@pytest.fixture(params=["in_memory", "sqlite"])
async def memory(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Memory]:
    if request.param == "in_memory":
        yield InMemoryMemory()
        return
    async with SqliteMemory(tmp_path / "memory.db") as on_disk:
        yield on_disk


VALUES = [
    None,
    True,
    False,
    0,
    -7,
    2**80,
    0.1,
    -0.0,
    1e300,
    "",
    "☃ \x00 \U0001f600",
    [],
    {},
    [1, "1", 1.0, None, [True]],
    {"": {"a": [{"b": None}]}, "z": 1, "a": 2},
]


@pytest.mark.parametrize("value", VALUES, ids=repr)
async def test_a_value_comes_back_as_it_went_in(memory: Memory, value: object) -> None:
    """A stored value is read back with its type, any number of times."""
    await memory.write("key", value)  # type: ignore[arg-type]  # the values above are JSON
    for _ in range(2):
        there = await memory.read("key")
        assert (there, type(there)) == (value, type(value))


async def test_the_order_of_names_is_kept(memory: Memory) -> None:
    """An object's names come back in the order in which they were written."""
    await memory.write("key", {"z": 1, "a": {"y": 2, "b": 3}})
    there = await memory.read("key")
    assert isinstance(there, dict)
    assert list(there) == ["z", "a"]


async def test_an_unknown_key_reads_as_none(memory: Memory) -> None:
    """A key that is not there reads as None and is not deleted."""
    assert await memory.read("nothing") is None
    assert await memory.delete("nothing") is False


async def test_a_key_holds_its_last_value(memory: Memory) -> None:
    """A second write to a key takes the place of the first."""
    await memory.write("key", 1)
    await memory.write("key", [2])
    assert await memory.read("key") == [2]
    assert list(await memory.search("")) == [("key", [2])]


async def test_a_deleted_key_is_gone(memory: Memory) -> None:
    """A key that was deleted is neither read nor found, and deleting it again finds nothing."""
    await memory.write("key", 1)
    await memory.write("other", 2)
    assert await memory.delete("key") is True
    assert await memory.read("key") is None
    assert await memory.delete("key") is False
    assert list(await memory.search("")) == [("other", 2)]


async def test_a_fact_keeps_where_it_came_from(memory: Memory) -> None:
    """The run that wrote a fact and the untrusted sources that it had read are kept until the fact is written again."""
    source = FactSource("run-1", ("file:/mnt/a", "host:a:1"))
    await memory.write("tip", "buy", source)
    await memory.write("name", "Ann")
    assert await memory.sources(["tip", "name", "none"]) == {"tip": source}
    await memory.write("tip", "sell")
    assert await memory.sources(["tip"]) == {}
    await memory.write("tip", "buy", source)
    await memory.delete("tip")
    await memory.write("tip", "hold")
    assert await memory.sources(["tip"]) == {}


async def test_values_are_copies(memory: Memory) -> None:
    """Changing what was written, or what was read, changes nothing in memory."""
    value = {"list": [1]}
    await memory.write("key", value)
    value["list"].append(2)
    there = await memory.read("key")
    assert there == {"list": [1]}
    assert isinstance(there, dict)
    there["more"] = 3
    assert await memory.read("key") == {"list": [1]}


@pytest.mark.parametrize(
    ("prefix", "found"),
    [
        ("", ["%", "%_", "A", "Ab", "_", "a", "a%", "a_", "ab", "abc", "b", "é", "ﬀ", "😀"]),
        ("a", ["a", "a%", "a_", "ab", "abc"]),
        ("ab", ["ab", "abc"]),
        ("A", ["A", "Ab"]),
        ("%", ["%", "%_"]),
        ("a_", ["a_"]),
        ("_", ["_"]),
        ("*", []),
        ("é", ["é"]),
        ("e", []),
        ("É", []),
        ("😀", ["😀"]),
        ("abcd", []),
    ],
)
async def test_a_search_is_exact(memory: Memory, prefix: str, found: list[str]) -> None:
    """A search finds the keys that start with the prefix, letter for letter, in order."""
    for key in ("b", "a", "ab", "A", "abc", "Ab", "a%", "a_", "%", "%_", "_", "é", "ﬀ", "😀"):
        await memory.write(key, key)
    assert list(await memory.search(prefix)) == [(key, key) for key in found]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(keys=st.sets(KEYS, max_size=8), prefix=st.text(st.characters(exclude_categories=["Cs"]), max_size=3))
async def test_a_search_finds_what_python_would_find(memory: Memory, keys: set[str], prefix: str) -> None:
    """For any keys and any prefix, a search gives what sorting and startswith would give, also
    page by page."""
    for key, _ in await memory.search("", 1_000):
        await memory.delete(key)
    for key in keys:
        await memory.write(key, len(key))
    for tried in (prefix, *(key[:2] for key in keys)):
        expected = [(key, len(key)) for key in sorted(keys) if key.startswith(tried)]
        assert list(await memory.search(tried)) == expected
        paged: list[tuple[str, object]] = []
        while page := await memory.search(tried, 2, after=paged[-1][0] if paged else ""):
            paged += page
        assert paged == expected


@pytest.mark.parametrize(("limit", "found"), [(1, 1), (3, 3), (100, 5), (0, 1), (-1, 1), (10**9, 5)])
async def test_a_search_is_bounded(memory: Memory, limit: int, found: int) -> None:
    """A search gives the first so many keys, and at least one."""
    for number in range(5):
        await memory.write(f"k{number}", number)
    assert list(await memory.search("k", limit)) == [(f"k{number}", number) for number in range(found)]


async def test_a_search_is_bounded_whatever_is_asked_for(memory: Memory) -> None:
    """A search ends once about 4 MiB of values were found."""
    for number in range(20):
        await memory.write(f"k{number:02}", "x" * 250_000)
    assert len(await memory.search("k", 1_000)) == 17
    assert [key for key, _ in await memory.search("k", after="k16")] == ["k17", "k18", "k19"]


@pytest.mark.parametrize(
    ("key", "reason"),
    [("", "EMPTY_KEY"), ("k" * 513, "KEY_TOO_LONG"), ("a\ud800", "KEY_NOT_TEXT")],
    ids=["empty", "long", "surrogate"],
)
async def test_a_key_that_is_none_is_refused(memory: Memory, key: str, reason: str) -> None:
    """An empty, endless or broken key is refused in every operation, by name."""
    for attempt in (memory.write(key, 1), memory.read(key), memory.delete(key)):
        with pytest.raises(InvalidInputError) as refused:
            await attempt
        assert (refused.value.reason, refused.value.field) == (reason, "key")


@pytest.mark.parametrize("key", ["a\nb", "\x1b[2Ja", "a\x9b", "a\u202eb"])
async def test_a_key_with_control_characters_is_not_written(memory: Memory, key: str) -> None:
    """A key that would control a terminal, or look like another one, is refused."""
    with pytest.raises(InvalidInputError) as refused:
        await memory.write(key, 1)
    assert (refused.value.reason, refused.value.field) == ("KEY_NOT_TEXT", "key")


async def test_the_longest_key_is_a_key(memory: Memory) -> None:
    """A key of 512 characters of any width is kept."""
    await memory.write("😀" * 512, 1)
    assert await memory.read("😀" * 512) == 1


def nested(levels: int) -> object:
    value: object = 1
    for _ in range(levels):
        value = {"a": [value]}
    return value


NO_VALUES = {
    "nan": math.nan,
    "infinite": [math.inf],
    "bytes": b"x",
    "set": {1},
    "object": object(),
    "names": {"a": {1: 2}},
    "surrogate": "\ud800",
    "surrogate name": {"\ud800": 1},
    "deep": nested(60),
    "very deep": nested(20_000),
    "endless": 10**5_000,
}


@pytest.mark.parametrize("value", NO_VALUES.values(), ids=NO_VALUES.keys())
async def test_a_value_that_is_not_json_is_rejected(memory: Memory, value: object) -> None:
    """A value that is not JSON, or nested past reading, is refused, and the key keeps what it had."""
    await memory.write("key", "before")
    with pytest.raises(InvalidInputError) as refused:
        await memory.write("key", value)  # type: ignore[arg-type]  # that is the test
    assert (refused.value.reason, refused.value.field) == ("VALUE_NOT_JSON", "value")
    assert await memory.read("key") == "before"


async def test_a_value_has_a_bound(memory: Memory) -> None:
    """A value of 256 KiB as JSON is kept; one byte more is refused, and the key keeps what it had."""
    most = "x" * ((256 << 10) - 2)
    await memory.write("key", most)
    with pytest.raises(InvalidInputError) as refused:
        await memory.write("key", most + "y")
    assert refused.value.reason == "VALUE_TOO_LARGE"
    with pytest.raises(InvalidInputError):
        await memory.write("key", "é" * (128 << 10))
    assert await memory.read("key") == most


async def test_writers_do_not_disturb_each_other(memory: Memory) -> None:
    """Many writes and deletes at once leave what each alone would have left."""

    async def work(number: int) -> None:
        await memory.write(f"k{number:02}", [number] * number)
        await memory.write(f"gone{number}", number)
        assert await memory.delete(f"gone{number}")

    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            for number in range(30):
                group.start_soon(work, number)
    assert list(await memory.search("")) == [(f"k{n:02}", [n] * n) for n in range(30)]


@pytest.mark.parametrize(
    ("asked", "key"),
    [
        ("gate_code", "gate_code"),
        ("Gate Code", "gate_code"),
        ("GATECODE", "gate_code"),
        ("annas birthday", None),
        ("anna birthday", "Anna's birthday"),
        ("Anna\N{RIGHT SINGLE QUOTATION MARK}s Birthday", "Anna's birthday"),
        ("cafe", "Café"),
        ("code gate", None),
        ("...", None),
        ("!", "!"),
    ],
)
async def test_a_fact_is_found_by_its_name_in_any_form(memory: Memory, asked: str, key: str | None) -> None:
    """Case, accents, spacing, punctuation and a possessive s do not hide a fact; other words are another name."""
    for number, written in enumerate(("gate_code", "Anna's birthday", "Café", "!")):
        await memory.write(written, number)
    fact = await memory.find(asked)
    assert (fact and fact.key) == key


async def test_the_exact_name_is_found_first(memory: Memory) -> None:
    """Among facts of one form the one with exactly this key is found, else the first by code point."""
    for key in ("gate code", "Gate Code", "gate_code"):
        await memory.write(key, key)
    for asked, key in (("gate_code", "gate_code"), ("gate code", "gate code"), ("GATE CODE", "Gate Code")):
        fact = await memory.find(asked)
        assert fact is not None
        assert (fact.key, fact.value) == (key, key)


FACTS: dict[str, JsonValue] = {
    "wifi_password": "blue harbour 22",
    "Anna's birthday": "14 March",
    "dentist": {"name": "Dr Moreau", "phone": "555 0182"},
    "bike lock": 4711,
    "Lieblingscafé": "Café Krümel",
    "車の鍵": "玄関の棚の上",
    "numer_buta": "41",
}


@pytest.mark.parametrize(
    ("query", "key"),
    [
        ("what is the wifi password?", "wifi_password"),
        ("WIFI", "wifi_password"),
        ("when is Anna's birthday", "Anna's birthday"),
        ("birthdays", "Anna's birthday"),
        ("phone number of Dr Moreau", "dentist"),
        ("lock of my bike", "bike lock"),
        ("4711", "bike lock"),
        ("krumel", "Lieblingscafé"),
        ("車の鍵はどこ", "車の鍵"),
        ("jaki jest numer buta", "numer_buta"),
    ],
)
async def test_a_fact_is_recalled_by_its_words(memory: Memory, query: str, key: str) -> None:
    """A question in any language recalls the fact that shares its words or parts of them first."""
    for name, value in FACTS.items():
        await memory.write(name, value)
    best = (await memory.recall(query, limit=3))[0]
    assert (best.key, best.value) == (key, FACTS[key])
    assert 0 < best.score <= 1


async def test_few_facts_are_all_recalled(memory: Memory) -> None:
    """Up to the limit all facts are recalled, those without any word of the query last; of more, only others."""
    assert list(await memory.recall("anything")) == []
    for name in ("red door", "blue door", "window"):
        await memory.write(name, 1)
    assert [fact.key for fact in await memory.recall("door", limit=3)] == ["blue door", "red door", "window"]
    assert [fact.key for fact in await memory.recall("door", limit=2)] == ["blue door", "red door"]
    assert [fact.key for fact in await memory.recall("window", limit=2)] == ["window"]
    assert len(await memory.recall("", limit=3)) == 3
    assert list(await memory.recall("roof", limit=2)) == []


async def test_a_changed_fact_is_recalled_by_its_new_value(memory: Memory) -> None:
    """A changed fact is recalled by its new value only, a deleted one not at all."""
    for number in range(3):
        await memory.write(f"filler {number}", "x")
    await memory.write("colour", "green")
    await memory.write("colour", "purple")
    assert [fact.key for fact in await memory.recall("purple", limit=1)] == ["colour"]
    assert list(await memory.recall("green", limit=1)) == []
    await memory.delete("colour")
    assert list(await memory.recall("purple", limit=1)) == []


@pytest.mark.parametrize(
    "query", ['"', "a OR b", "NEAR(", "*", "-", "x" * 100_000, "\ud800", "\0", "'); DROP TABLE"]
)
async def test_any_text_is_a_query(memory: Memory, query: str) -> None:
    """A query is never read as a language of its own."""
    await memory.write("key", "value")
    assert [fact.key for fact in await memory.recall(query)] == ["key"]


async def test_long_values_are_shown_from_their_beginning(memory: Memory) -> None:
    """A search and a recall give as much of a value as is asked for, and all of one that is short or wholly asked for."""
    long: list[JsonValue] = ["winter tyres " * 1_000, 1]
    await memory.write("cellar", long)
    await memory.write("gate", 7)
    for facts in (
        await memory.search("", most_chars=8),
        [(fact.key, fact.value) for fact in await memory.recall("winter", most_chars=8)],
    ):
        assert dict(facts) == {"cellar": ["winter"], "gate": 7}
    assert dict(await memory.search(""))["cellar"] == long
    assert (await memory.recall("winter"))[0].value == long


async def test_many_facts_are_recalled_by_words(memory: Memory) -> None:
    """Among two thousand facts the right one is recalled, also by a part of a word."""
    for number in range(2_000):
        await memory.write(f"shelf {number}", f"box {number * 7}")
    await memory.write("車の鍵", "棚")
    await memory.write("winter tyres", "in the cellar")
    assert (await memory.recall("where are the tyres of winter"))[0].key == "winter tyres"
    assert (await memory.recall("wintertyres"))[0].key == "winter tyres"
    assert (await memory.recall("車の鍵はどこ"))[0].key == "車の鍵"
