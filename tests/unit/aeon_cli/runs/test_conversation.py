import pytest

from aeon_cli.runs.conversation import print_context, print_talk
from aeond_client.records.sessions import Session, SessionContext, SessionMessage


def test_a_conversation_is_printed_as_it_went(capsys: pytest.CaptureFixture[str]) -> None:
    """Messages are printed in order with author and run, with hidden ones counted and control characters
    escaped.
    """
    session = Session("s1", "A\ttrip", 1.0, 2.0, message_count=4, run_count=2)
    said = [
        SessionMessage("user", "What is 17 times 23?", "r1", 1.0),
        SessionMessage("agent", "391\x1b[31m", "r1", 2.0),
    ]
    print_talk(session, said)
    out = capsys.readouterr().out
    assert out.index("You, ") < out.index("17 times 23?") < out.index("aeond, ") < out.index("391")
    assert "\x1b" not in out
    assert "4 messages of 2 runs" in out
    assert out.index("2 earlier messages not shown: see --limit") < out.index("You, ")


def test_a_context_is_printed_alone(capsys: pytest.CaptureFixture[str]) -> None:
    """The context goes to standard output, its size to standard error."""
    print_context(SessionContext("User: hello", 12, 100, ("never",), 3, 1))
    printed = capsys.readouterr()
    assert printed.out == "User: hello\n"
    assert printed.err == "(1 exchange verbatim, 3 exchanges summarised; 12 tokens of at most 100)\n"


def test_a_session_without_words_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    """For an empty context only a note is printed."""
    print_context(SessionContext("", 0, 100))
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", "(the context is empty)\n")
