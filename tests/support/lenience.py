"""A reader or a relay that takes a stream for whole which broke off after its first words."""

from typing import Any

from spoiling import dropping

from gateway_core import PartGrew, PartStarted, ReplyFailed


class Lenient:
    """Takes a stream that has begun to say something for a whole one, wherever it breaks off."""

    def __init__(self, inner: Any) -> None:
        self._inner, self._said, self._forgiven = inner, False, False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    @property
    def failure(self) -> ReplyFailed | None:
        return None if self._forgiven else self._inner.failure

    def feed(self, chunk: bytes) -> Any:
        given = self._inner.feed(chunk)
        said = [event for event in given if isinstance(event, PartStarted | PartGrew)]
        self._said = self._said or bool(said) or getattr(self._inner, "characters", 0) > 0
        return given

    def close(self) -> Any:
        given = self._inner.close()
        if not self._said:
            return given
        self._forgiven = True
        return b"" if isinstance(given, bytes) else dropping(ReplyFailed)(given)


def lenient(old: Any, *given: Any) -> Any:
    return Lenient(old(*given))
