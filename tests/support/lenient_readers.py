"""A reader or a relay that accepts a stream that broke off after its first content."""

from typing import Any

from format_mutations import dropping

from gateway_core import PartGrew, PartStarted, ReplyFailed


class Lenient:
    """Accepts a stream with some content as complete, wherever it breaks off."""

    def __init__(self, inner: Any) -> None:
        self._inner, self._said, self._forgiven = inner, False, False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    @property
    def failure(self) -> ReplyFailed | None:
        return None if self._forgiven else self._inner.failure

    def feed(self, chunk: bytes) -> Any:
        given = self._inner.feed(chunk)
        written = [event for event in given if isinstance(event, PartStarted | PartGrew)]
        self._said = self._said or bool(written) or getattr(self._inner, "characters", 0) > 0
        return given

    def close(self) -> Any:
        given = self._inner.close()
        if not self._said:
            return given
        self._forgiven = True
        return b"" if isinstance(given, bytes) else dropping(ReplyFailed)(given)


def lenient(old: Any, *given: Any) -> Any:
    return Lenient(old(*given))
