"""The frames of a stream, numbered without a gap."""

from typing import Final

# sequence_number is a member of every event and grows by one; it is written last
# because the rest of a frame can be prepared: https://platform.openai.com/docs/api-reference/responses-streaming
NUMBERED: Final = b',"sequence_number":%d}\n\n'


class Frames:
    """Collects frames until they are taken."""

    __slots__ = ("_held", "number")

    def __init__(self) -> None:
        self.number = 0
        """Of the next frame."""
        self._held: list[bytes] = []

    def add(self, opened: bytes, *rest: bytes) -> None:
        """Add a frame that :func:`opening` began, with what follows."""
        self._held.append(opened)
        self._held += rest
        self._held.append(NUMBERED % self.number)
        self.number += 1

    def add_whole(self, frame: bytes) -> None:
        """Add a frame that is whole and has its number."""
        self._held.append(frame)
        self.number += 1

    def take(self) -> bytes:
        take = b"".join(self._held)
        self._held.clear()
        return take


def opening(kind: str, members: bytes = b"") -> bytes:
    """A frame up to and with its first members, without the number and the end."""
    # Every event's data repeats the event name as its type:
    # https://platform.openai.com/docs/api-reference/responses-streaming
    name = kind.encode()
    comma = b"," if members else b""
    return b'event: %b\ndata: {"type":"%b"%b%b' % (name, name, comma, members)
