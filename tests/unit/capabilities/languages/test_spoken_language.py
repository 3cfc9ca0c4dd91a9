import pytest

from aeond.capabilities.languages.spoken_language import MAX_CHARS, SpokenLanguages


@pytest.fixture(scope="module")
def languages() -> SpokenLanguages:
    return SpokenLanguages()


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("who has the key of the boathouse?", "English"),
        ("tell Jürgen that the Straße is closed", "English"),
        ("wer hat den Schlüssel vom Bootshaus?", "German"),
        ("qui a la clé du hangar à bateaux ?", "French"),
        ("¿quién tiene la llave del cobertizo?", "Spanish"),
        ("kto ma klucz do hangaru?", "Polish"),
        ("vem har nyckeln till båthuset?", "Swedish"),
        ("где находится ближайшая лодка?", "Russian"),
        ("ボートハウスの鍵は誰が持っていますか", "Japanese"),
    ],
)
async def test_the_language_of_a_request_is_named(
    languages: SpokenLanguages, text: str, language: str
) -> None:
    """A short text is enough, names from elsewhere in it do not count, nor does white space, and of a long one only the beginning is looked at."""
    assert await languages.of(text) == language
    assert await languages.of(f"\n {text}".ljust(MAX_CHARS) + "wo ist das? " * MAX_CHARS) == language


@pytest.mark.parametrize("text", ["", "2+2", "Ida?", "ok", "WLAN", "\ud800", "\0"])
async def test_a_text_without_a_language_is_doubtful(languages: SpokenLanguages, text: str) -> None:
    """Numbers, names and single words are in no language for sure, and no text is refused."""
    assert await languages.of(text) == ""
