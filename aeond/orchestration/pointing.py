"""Whether a request may point back into its conversation: by its form alone, rather too often than not."""

import re
from typing import Final

# Longer requests that hold none of the words below say by themselves what they are about.
MAX_ELLIPTIC_WORDS: Final = 6
_SELF_CONTAINED_WORDS: Final = 5

POINTING_WORDS: Final = frozenset(
    re.findall(
        r"\S+",
        """
        it its itself that this these those they them their theirs he him his she her hers there here then thus
        one ones same again once another other others else both either neither each all none former latter first
        second third fourth fifth last next previous earlier before above below now today also too instead more
        less longer shorter bigger smaller better rather still yet already back so such likewise similar similarly
        the result answer total sum rest above-mentioned we us our where meant mean my mine yours
        """,
    )
)
_CONTINUING: Final = re.compile(
    r"^\W*(and|but|or|so|then|plus|minus|times|no|yes|ok(ay)?|what about|how about|why|sorry|only|in|into|by|to|"
    r"for|from|of|with|without|as|at|on)\b",
    re.IGNORECASE,
)
_REPEATING: Final = re.compile(
    r"\b(again|once more|same|another|too|also|likewise|similarly|instead|rather|other way|i meant?|meant)\b",
    re.IGNORECASE,
)
# "Sorry, his name is Tim.": a statement that puts right what an earlier request said. "No, delete it." does not.
_CORRECTING: Final = re.compile(
    r"^\W*(no|sorry|wait|oh)\W+(he|she|it|they|that|this|these|those|his|her|its|their)\b.*[^?\s]\s*$",
    re.IGNORECASE | re.DOTALL,
)
_STANDING_FOR: Final = frozenset(
    re.findall(
        r"\S+", "it its that this these those they them their he him his she her hers there former latter"
    )
)
_MAX_CONTINUING_WORDS: Final = 4
_OPENING_QUESTION: Final = re.compile(
    r"^\W*(what|who|whose|whom|which|when|where|how|is|are|was|were|do|does|did|can|could)\b", re.IGNORECASE
)
_WORD: Final = re.compile(r"[^\W_]+(?:['\u2019-][^\W_]+)*")


def words_of(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def may_point_back(request: str) -> bool:
    """True for a request with a word that may point back, one that goes on where another ended, and one too
    short to be told from one that leaves something out."""
    words = words_of(request)
    if not POINTING_WORDS.isdisjoint(words) or _CONTINUING.search(request):
        return True
    if _OPENING_QUESTION.search(request):
        return len(words) < _SELF_CONTAINED_WORDS
    return len(words) <= MAX_ELLIPTIC_WORDS


def goes_on(request: str) -> bool:
    """Whether a request that may point back goes on from an earlier one and says what is different, rather
    than point at something with a word that stands for it."""
    words = words_of(request)
    if _CORRECTING.search(request):
        return True
    if not _STANDING_FOR.isdisjoint(words) and not _REPEATING.search(request):
        return False
    if _REPEATING.search(request) or _CONTINUING.search(request):
        return True
    return len(words) <= _MAX_CONTINUING_WORDS and "the" not in words
