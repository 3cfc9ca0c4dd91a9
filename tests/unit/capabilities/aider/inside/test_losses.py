"""Definitions that a rewritten file has lost."""

import pytest

from aeond.capabilities.aider.inside.losses import lost_names


@pytest.mark.parametrize(
    ("before", "lost"),
    [
        ("def one(a):\n    pass\nasync def two(): ...\nclass Three(One):\n", {"one", "two", "Three"}),
        ("class A:\n    def run(self): ...\nclass B:\n    def run(self): ...\n", {"A", "B", "run"}),
        (
            "export async function one() {}\nconst two = (a) => a\nlet three = x => x\n",
            {"one", "two", "three"},
        ),
        ("func (s *Store) Get(key string) string {\nfunc New() {\n", {"Get", "New"}),
        ("pub(crate) const fn one() {\nimpl Two {\npub struct Three;\n", {"one", "Three"}),
        ("  def self.one\nfun <T> two(a: T) {\ndata class Three(val a: Int)\n", {"one", "Three"}),
        ("# the class of boats\nIt is a function that returns\nclass methods are fine\n", set()),
        ("const total = (a + b) * 2\nx = 1\n", set()),
    ],
)
def test_definitions_are_known_by_their_lines(before: str, lost: set[str]) -> None:
    """Functions and classes count in many languages, and prose and values do not."""
    assert lost_names({"a": before}, {"a": ""}, "") == lost


def test_what_is_elsewhere_or_named_is_not_lost() -> None:
    """A definition that was moved to another file is kept, one of two with the same name is lost, and what the task names may go."""
    before = {"a.py": "def one():\ndef two():\n", "b.py": "def two():\n"}
    after = {"a.py": "def two():\n", "c.py": "def one():\n"}
    assert lost_names(before, after, "") == {"two"}
    assert lost_names(before, after, "Remove two from b") == set()
