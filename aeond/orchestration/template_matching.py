"""Which Template fits a subtask: by the words of its hints, and by how words are spelled, without a model.

A request that names a template gets that one. Any other is compared with each template's name, hints and
description: as words without their endings, and as runs of three letters, so that `summarising`, `summary`
and `sumarise` are near each other. What few templates say weighs more than what most say. Hints carry
the meaning: a template is found by the words that people use for it, so those belong into its hints.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Final

from aeond.domain.outcome import Outcome, Problem, failure, success
from aeond.domain.subtasks import SubtaskRequest, Template
from aeond.frozen import frozen

LEAST_LIKENESS: Final = 0.16
MAX_COMPARED_CHARS: Final = 600  # what a request says about itself; what it works on is not compared

_WORD: Final = re.compile(r"[^\W_]+")
_COMMON: Final = frozenset(
    [
        "a",
        "an",
        "and",
        "any",
        "are",
        "as",
        "at",
        "be",
        "been",
        "but",
        "by",
        "can",
        "could",
        "did",
        "do",
        "does",
        "for",
        "from",
        "get",
        "give",
        "gives",
        "had",
        "has",
        "have",
        "he",
        "her",
        "here",
        "him",
        "his",
        "how",
        "i",
        "if",
        "in",
        "into",
        "is",
        "it",
        "its",
        "just",
        "let",
        "like",
        "make",
        "may",
        "me",
        "more",
        "most",
        "my",
        "need",
        "of",
        "on",
        "one",
        "or",
        "our",
        "out",
        "over",
        "please",
        "she",
        "so",
        "some",
        "task",
        "than",
        "that",
        "the",
        "their",
        "them",
        "then",
        "there",
        "these",
        "they",
        "this",
        "those",
        "to",
        "up",
        "us",
        "use",
        "want",
        "was",
        "we",
        "were",
        "what",
        "when",
        "where",
        "which",
        "who",
        "will",
        "with",
        "would",
        "you",
        "your",
    ]
)
_ENDINGS: Final = (
    ("isations", "is"), ("izations", "is"), ("isation", "is"), ("ization", "is"), ("ising", "is"),
    ("izing", "is"), ("ised", "is"), ("ized", "is"), ("ises", "is"), ("izes", "is"), ("ise", "is"),
    ("ize", "is"), ("ements", ""), ("ement", ""), ("ments", ""), ("ment", ""), ("ations", ""),
    ("ation", ""), ("ings", ""), ("ing", ""), ("ions", ""), ("ion", ""), ("ies", "y"), ("ied", "y"),
    ("ers", ""), ("er", ""), ("ed", ""), ("es", ""), ("ly", ""), ("s", ""), ("e", ""),
)  # fmt: skip
_LEAST_STEM: Final = 3
_WORD_WEIGHT: Final = 1.0
_GRAM_WEIGHT: Final = 0.3

Features = Mapping[str, float]


@frozen
class _Known:
    """A template and its features: of everything that it says, and of each of its hints."""

    template: Template
    whole: Features
    hints: tuple[Features, ...]

    def likeness(self, asked: Features) -> float:
        # A hint is short, so that one rare word in common makes it very like: the whole keeps that in check.
        return _likeness(asked, self.whole) + 0.5 * sum(_likeness(asked, hint) for hint in self.hints)


class TemplateLibrary:
    """The Templates over those that it was given; what they say is taken apart when first asked for."""

    def __init__(self, templates: Sequence[Template]) -> None:
        self._by_name = {template.name: template for template in templates}

    def match(self, request: SubtaskRequest) -> Outcome[Template | None]:
        """The template that a hint names, or else the likest one that gets all the inputs it wants."""
        for hint in request.hints:
            named = self._by_name.get(hint)
            if named is not None:
                return _with_its_inputs(named, request)
        like = [template for template, likeness in self.rank(request) if likeness >= LEAST_LIKENESS]
        fitting = [template for template in like if not _missing_inputs(template, request)]
        if fitting:
            return success(fitting[0])
        if like:
            return _with_its_inputs(like[0], request)
        known = ", ".join(sorted(self._by_name)) or "none"
        message = f"no template fits '{request.description:.80}'; there are: {known}"
        return failure(Problem("TEMPLATE_NOT_FOUND", message), None)

    def rank(self, request: SubtaskRequest) -> Sequence[tuple[Template, float]]:
        """All templates with how like the request they are (0 for not at all), the likest first."""
        asked = self._weighed([request.description[:MAX_COMPARED_CHARS], *request.hints])
        found = [(known.template, known.likeness(asked)) for known in self._known]
        return sorted(found, key=lambda pair: (-pair[1], pair[0].name))

    @cached_property
    def _rarity(self) -> Mapping[str, float]:
        return _rarity([_features(_said(template)) for template in self._by_name.values()])

    @cached_property
    def _known(self) -> Sequence[_Known]:
        return [
            _Known(
                template,
                self._weighed(_said(template)),
                tuple(self._weighed([hint]) for hint in template.hints),
            )
            for template in self._by_name.values()
        ]

    def _weighed(self, texts: Iterable[str]) -> Features:
        """The features of these texts, each by how rarely templates say it; of length 1."""
        counts = _features(texts)
        weighed = {
            name: (1.0 + math.log(count)) * _weight(name) * self._rarity.get(name, self._rarity[""])
            for name, count in counts.items()
        }
        length = math.sqrt(sum(value * value for value in weighed.values()))
        return {name: value / length for name, value in weighed.items()} if length else {}


def _with_its_inputs(template: Template, request: SubtaskRequest) -> Outcome[Template | None]:
    missing = _missing_inputs(template, request)
    if missing:
        message = f"template '{template.name}' wants {', '.join(missing)}, which the request does not give"
        return failure(Problem("TEMPLATE_INPUT_MISSING", message), None)
    return success(template)


def _missing_inputs(template: Template, request: SubtaskRequest) -> list[str]:
    return [name for name in template.inputs if name not in request.inputs]


def _said(template: Template) -> list[str]:
    return [template.name, template.description, *template.hints]


def _features(texts: Iterable[str]) -> Counter[str]:
    """How often each stem (`=stem`) and each run of three letters occurs."""
    counts: Counter[str] = Counter()
    for text in texts:
        for word in _WORD.findall(text.casefold()):
            if word in _COMMON:
                continue
            counts[f"={_stem(word)}"] += 1
            framed = f"<{word}>"
            counts.update(framed[i : i + 3] for i in range(len(framed) - 2))
    return counts


def _stem(word: str) -> str:
    """The word without what English hangs on to it."""
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _LEAST_STEM:
            stem = word.removesuffix(ending) + instead
            return stem[:-1] if len(stem) > _LEAST_STEM and stem[-1] == stem[-2] else stem
    return word


def _rarity(documents: Sequence[Mapping[str, int]]) -> Mapping[str, float]:
    """How telling each feature is; under "" the value of what no template says."""
    total = len(documents)
    seen: Counter[str] = Counter(name for document in documents for name in document)
    rarity = {name: math.log(1.0 + total / count) for name, count in seen.items()}
    return {**rarity, "": math.log(1.0 + total)}


def _weight(name: str) -> float:
    return _WORD_WEIGHT if name.startswith("=") else _GRAM_WEIGHT


def _likeness(one: Features, other: Features) -> float:
    shorter, longer = (one, other) if len(one) <= len(other) else (other, one)
    return sum(value * longer[name] for name, value in shorter.items() if name in longer)
