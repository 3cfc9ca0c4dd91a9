"""The requests that the user has begun to write: one for a new session, and one below each run."""

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Draft:
    """A text that was not sent yet. `place` is the key of the run below which it is written, "" for a new session.

    `key` is the request id of a request that may have reached the daemon, so that sending it again creates no second
    run.
    """

    text: str
    place: str = ""
    key: str = ""


Drafts = tuple[Draft, ...]


def draft_at(drafts: Drafts, place: str) -> Draft:
    """The draft that a place shows: the last one; an empty one if there is none."""
    return next((one for one in reversed(drafts) if one.place == place), Draft("", place))


def written(drafts: Drafts, place: str, text: str) -> Drafts:
    """The drafts after the user has changed the text of a place. A changed request is another one, so it has no key."""
    shown = draft_at(drafts, place)
    if shown.text == text:
        return drafts
    return (*without(drafts, shown), replace(shown, text=text, key=""))


def returned(drafts: Drafts, draft: Draft, *, shown: bool) -> Drafts:
    """The drafts with a request that was sent and not accepted. Unless its place is `shown`, a text that was begun there
    meanwhile comes first, and the request after it.
    """
    return (*drafts, draft) if shown else (draft, *drafts)


def without(drafts: Drafts, draft: Draft) -> Drafts:
    return tuple(one for one in drafts if one is not draft)


def tidied(drafts: Drafts) -> Drafts:
    """The drafts that have a text. The text that is being written may be empty for a time, so this is for leaving it."""
    return tuple(one for one in drafts if one.text)
