"""Log probabilities: the hub has one list for a whole choice, this dialect one for each text."""

import msgspec
from msgspec import Raw, Struct

from gateway_core import Choice, Text


class _Token(Struct):
    token: str = ""


_members = msgspec.json.Decoder(dict[str, Raw])
_rows = msgspec.json.Decoder(list[Raw])
_token = msgspec.json.Decoder(_Token)


def wrap_rows(rows: Raw | bytes) -> Raw:
    """Rows in the hub's shape."""
    return Raw(b'{"content":%b}' % bytes(rows))


def rows_within(logprobs: Raw) -> list[Raw]:
    """The rows of the hub's shape; none for what has another."""
    try:
        rows = _members.decode(logprobs).get("content")
        return [] if rows is None else _rows.decode(rows)
    except msgspec.MsgspecError:
        return []


# The hub's list does not say which text a row belongs to; tokens concatenate to the texts.
def split_rows(choice: Choice) -> list[Raw | None]:
    """The rows of each text of the choice, divided by the tokens' lengths."""
    texts = [part.text for part in choice.parts if isinstance(part, Text)]
    rows = [] if choice.logprobs is None else rows_within(choice.logprobs)
    shared: list[Raw | None] = []
    for place, text in enumerate(texts):
        count = len(rows) if place == len(texts) - 1 else _count_covering(rows, len(text))
        shared.append(wrap_rows(msgspec.json.encode(rows[:count])) if count else None)
        rows = rows[count:]
    return shared


def _count_covering(rows: list[Raw], length: int) -> int:
    """How many rows it takes to cover a text of this many characters."""
    for count, row in enumerate(rows):
        if length <= 0:
            return count
        try:
            length -= len(_token.decode(row).token)
        except msgspec.MsgspecError:
            return count
    return len(rows)
