"""Handing out channels to streams."""

from aeond_client.connection.channels import STREAMS_PER_CHANNEL, StreamChannels


def channels() -> tuple[StreamChannels[object], list[object]]:
    opened: list[object] = []

    def open_channel() -> object:
        opened.append(object())
        return opened[-1]

    return StreamChannels(open_channel), opened


def test_streams_share_channels_up_to_the_daemons_limit() -> None:
    """A channel is used by many streams, and never by more than the daemon allows."""
    streams, opened = channels()
    taken = [streams.take() for _ in range(2 * STREAMS_PER_CHANNEL + 1)]
    assert len(opened) == 3
    assert max(taken.count(channel) for channel in opened) == STREAMS_PER_CHANNEL


def test_a_channel_that_was_given_back_is_used_again() -> None:
    """A stream after the other needs one connection."""
    streams, opened = channels()
    for _ in range(10):
        streams.give_back(streams.take())
    assert len(opened) == 1
    assert streams.take_finished() == []


def test_a_lost_channel_is_not_handed_out_again() -> None:
    """After a loss the next stream gets a fresh connection, and the old one is closed once it is unused."""
    streams, opened = channels()
    first, second = streams.take(), streams.take()
    streams.give_back(first, lost=True)
    assert streams.take() is opened[1]
    assert streams.take_finished() == []
    streams.give_back(second)
    assert streams.take_finished() == [opened[0]]


def test_closing_gives_every_channel_once() -> None:
    """Nothing that was opened stays open."""
    streams, opened = channels()
    first = streams.take()
    streams.give_back(first, lost=True)
    streams.take()
    taken = streams.take_all()
    assert (set(taken), len(taken)) == (set(opened), len(opened))
    assert streams.take_all() == []
