"""The text of pages."""

from typing import Any

import pytest

from aeond.capabilities.hands.inside.pages import TOOLS
from tests.support.tools import CONTEXT

PAGE = """<!DOCTYPE html><html><head><title> Opening
hours </title><style>p {}</style><script>alert(1)</script></head><body>
<nav><a href="/">Home</a></nav><h1>Library</h1><!-- hidden --><p>Open <b>daily</b> from 9&nbsp;to 5.</p>
<table><tr><td>Sunday</td><td>closed</td></tr></table>
<a href="plan.html#top">Floor <i>plan</i></a> <a href="plan.html">again</a> <a href="mailto:a@b.example">Mail</a>
<a href="javascript:x()">No</a> <a href="http://[">No</a> <a>No</a></body></html>"""


async def read(html: str, offset: int = 0, most: int = 1_000, most_links: int = 0) -> Any:
    given: dict[str, Any] = {"html": html, "base": "https://lib.example/de/", "offset": offset, "most": most}
    return await TOOLS[0].execute({**given, "most_links": most_links}, CONTEXT)


async def test_a_page_is_read() -> None:
    """Title and visible text are read, without scripts, styles and comments; cells and inline marks stay readable."""
    found = await read(PAGE)
    assert (found["title"], found["truncated"], found["links"]) == ("Opening hours", False, [])
    text = found["text"]
    assert "Open daily from 9 to 5." in text
    assert "Sunday closed" in text
    assert text.index("Library") < text.index("Open daily")
    for hidden in ("alert", "p {}", "hidden", "Opening"):
        assert hidden not in text


async def test_cells_stand_with_the_names_of_their_columns() -> None:
    """In a table with one row of names each cell but the first has the name of its column, without scripts and cut where it is long; other
    tables stay as they are."""
    names = "<tr><th>Day</th><th>Open<br><b>from</b><script>no</script></th><th></th></tr>"
    row = "<tr><th>Sunday</th><td colspan='1'>\x0b9&#11;<i>:30</i></td><td/></tr>"
    assert "Sunday | Open from: 9:30 |" in (await read(f"<table>{names}{row}</table>"))["text"]
    long = f"<tr><th>Day</th><th>{'long ' * 100_000}</th></tr>" + "<tr><td>Sunday</td><td>9</td></tr>" * 2_000
    assert len((await read(f"<table>{long}</table>", most=10**7))["text"]) < 1_000_000
    for other in (
        names + "<tr><td>Sunday</td><td>9:30</td></tr>",
        "<tr><th>Day</th><td>9:30</td></tr><tr><th>Day</th><td>9:30</td></tr>",
        names + "<tr><td>Sunday</td><td rowspan='2'>9:30</td><td>a</td></tr>",
        names + "<tr><td>Sunday</td><td><table><tr><td>9:30</td></tr></table></td><td>a</td></tr>",
        "<tr></tr>",
        "",
    ):
        assert "|" not in (await read(f"<table>{other}</table>"))["text"]


async def test_links_are_absolute() -> None:
    """Each address of the web that the page links to is named once, with its text, as many as were asked for."""
    found = (await read(PAGE, most_links=10))["links"]
    assert found == [
        {"url": "https://lib.example/", "text": "Home"},
        {"url": "https://lib.example/de/plan.html", "text": "Floor plan"},
    ]
    assert len((await read(PAGE, most_links=1))["links"]) == 1


async def test_links_are_relative_to_the_page_s_base() -> None:
    """A page can name the address that its links are relative to; one that is no address is ignored."""
    page = "<head><base href='{}'></head><a href='plan.html'>Plan</a>"
    for base, url in (
        ("/en/", "https://lib.example/en/plan.html"),
        ("http://[", "https://lib.example/de/plan.html"),
    ):
        assert (await read(page.format(base), most_links=1))["links"] == [{"url": url, "text": "Plan"}]


async def test_preformatted_text_keeps_its_layout() -> None:
    """Line breaks, indentation and columns of preformatted text stay, also where its parts are marked up; text around it is
    read as ever."""
    html = (
        "<p>Before  it</p><pre>\r\n<span>def</span> <b>f</b>(a):\r\n    <i>return</i>&nbsp;a\t1\x01&#1;<br>\n\n# end<!-- x -->"
        "<script>no</script><div>one</div><div>two</div>\n</pre>after"
    )
    assert (await read(html))["text"] == (
        "Before it\n\ndef f(a):\n    return a\t1\n\n\n# end\none\ntwo\n\nafter"
    )


async def test_nested_preformatted_text_is_read_once() -> None:
    """Preformatted text within preformatted text appears once, with its layout."""
    assert (await read("<pre>a\n  <span><pre>b  c</pre></span></pre>"))["text"].split() == ["a", "b", "c"]


async def test_a_long_page_is_read_in_sections() -> None:
    """A section begins where the one before it ended."""
    html = "<p>" + "word " * 100
    first = await read(html, most=9)
    second = await read(html, offset=9, most=1_000)
    assert (first["text"], first["truncated"], second["truncated"]) == ("word word", True, False)
    assert second["text"].startswith(" word")


@pytest.mark.parametrize(
    "html",
    [
        "",
        " ",
        "\0",
        "<",
        "text",
        "<html/>",
        "<?xml version='1.0' encoding='x'?><p>a",
        "<!DOCTYPE a [<!ENTITY b 'c'>]>&b;",
    ],
)
async def test_anything_can_be_read(html: str) -> None:
    """Empty, broken and foreign markup is text or nothing, and no error."""
    assert isinstance((await read(html))["text"], str)


async def test_deep_nesting_does_not_end_the_parser() -> None:
    """A page of a hundred thousand nested elements can be read."""
    assert isinstance((await read("<div>" * 100_000 + "deep"))["text"], str)
    assert isinstance((await read("<table><tr><td>" * 100_000 + "deep"))["text"], str)
