"""What of a conversation is only referred to, because a vendor keeps it: for ``elsewhere``."""

from collections.abc import Callable, Iterable, Iterator

from gateway_core import Foreign, Media, Text, ToolResult, Turn

NameOf = Callable[[Media | Foreign, Turn], str | None]
"""The client's own word for a reference in a turn; ``None`` for a part that can be carried."""


def find_references(turns: Iterable[Turn], name_of: NameOf) -> Iterator[str]:
    """The names of the references in a conversation, as they come, those in results too."""
    for turn in turns:
        for part in turn.parts:
            if isinstance(part, Text):
                continue
            for inner in part.content if isinstance(part, ToolResult) else (part,):
                if isinstance(inner, Media | Foreign) and (name := name_of(inner, turn)):
                    yield name


def is_only_an_id(media: Media) -> bool:
    """Whether only the vendor that keeps a file knows its content."""
    return (
        media.file_id is not None
        and media.data is None
        and media.url is None
        and media.text is None
    )
