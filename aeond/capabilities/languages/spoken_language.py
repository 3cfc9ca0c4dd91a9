"""Says in which language a text is, by py3langid's statistics of letters.

Of 1,260 requests of `strangers_a` to `_u` two are taken for a language close to theirs, none that is English for another one, and six are
doubtful.
"""

import threading
from collections.abc import Mapping
from functools import cached_property, partial
from typing import TYPE_CHECKING, Final

from anyio import to_thread

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

NAMES: Final[Mapping[str, str]] = {
    "ar": "Arabic",
    "bg": "Bulgarian",
    "ca": "Catalan",
    "cs": "Czech",
    "da": "Danish",
    "de": "German",
    "el": "Greek",
    "en": "English",
    "es": "Spanish",
    "et": "Estonian",
    "fi": "Finnish",
    "fr": "French",
    "he": "Hebrew",
    "hi": "Hindi",
    "hr": "Croatian",
    "hu": "Hungarian",
    "id": "Indonesian",
    "it": "Italian",
    "ja": "Japanese",
    "ko": "Korean",
    "lt": "Lithuanian",
    "lv": "Latvian",
    "nl": "Dutch",
    "no": "Norwegian",
    "pl": "Polish",
    "pt": "Portuguese",
    "ro": "Romanian",
    "ru": "Russian",
    "sk": "Slovak",
    "sl": "Slovenian",
    "sv": "Swedish",
    "th": "Thai",
    "tr": "Turkish",
    "uk": "Ukrainian",
    "vi": "Vietnamese",
    "zh": "Chinese",
}
MIN_PROBABILITY: Final = 0.5
MAX_CHARS: Final = 2_000  # that are looked at


class SpokenLanguages:
    """Loads its statistics with the first text: half a second in a thread, and 80 MB that stay."""

    def __init__(self) -> None:
        self._one_at_a_time = threading.Lock()

    async def of(self, text: str) -> str:
        """The English name of the language; "" where that is doubtful, as in a text of names and numbers, or it is none of NAMES."""
        look = partial(self._of, " ".join(text[:MAX_CHARS].split()))
        return await to_thread.run_sync(look, abandon_on_cancel=True)

    def _of(self, text: str) -> str:
        with self._one_at_a_time:
            code, _probability = self._identifier.classify(text)
        return NAMES.get(code, "")

    @cached_property
    def _identifier(self) -> "LanguageIdentifier":
        # Imported here: it loads numpy, which a daemon that only waits does without.
        from py3langid.langid import MODEL_FILE, LanguageIdentifier

        identifier = LanguageIdentifier.from_model_file(
            MODEL_FILE, norm_probs=True, min_confidence=MIN_PROBABILITY
        )
        identifier.set_languages(NAMES)
        return identifier
