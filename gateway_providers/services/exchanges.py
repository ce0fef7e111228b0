"""Exchanges for answers that are read whole, and for answers that are sent on as they come."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import msgspec
from msgspec import Struct

from gateway_core import Losses, Step, UpstreamError, UpstreamRequest, Usage
from gateway_formats.sse import FrameBuffer, FrameTooLong, parse_data, write_frame

from .lazy_answer import LazyAnswer
from .refusals import UNREADABLE, read_refusal, words_of
from .requests import JSON, encode
from .usages import read_usage, usage_of

EVENTS = "text/event-stream"
Count = Callable[[Any], Usage | None]
"""What an answer has used."""
_anything = msgspec.json.Decoder().decode


class _Glance(Struct, gc=False):
    """What most answers are looked at for; the rest of one is long and goes on as it came."""

    error: Any = None
    usage: Any = None


_glance = msgspec.json.Decoder(_Glance).decode


class ServiceAnswer:
    """What both kinds of exchanges have in common."""

    is_single = False
    following: Step | None = None
    """The next request, once an answer was read that is not the last."""
    failure: UpstreamError | None = None
    usage: Usage | None = None
    started = False
    ended = False
    characters = 0

    def __init__(
        self,
        request: UpstreamRequest,
        *,
        upstream_format: str = "services",
        media_type: str = JSON,
        losses: Losses | None = None,
    ) -> None:
        self.request = request
        self.upstream_format = upstream_format
        self.media_type = media_type
        self.losses = Losses() if losses is None else losses

    def read_head(self, headers: Mapping[str, str]) -> None:
        """Most answers are of the type that the client is to get."""

    def fail(self, error: UpstreamError) -> bytes:
        self.failure = self.failure or error
        return b""

    def refusal(self, status: int, headers: Mapping[str, str], body: bytes) -> UpstreamError:
        return read_refusal(status, headers, body)


class WholeExchange(ServiceAnswer, ABC):
    """Reads each answer once it is complete. A subclass says what it means."""

    def __init__(self, request: UpstreamRequest, **more: Any) -> None:
        super().__init__(request, **more)
        self._pieces: list[bytes] = []

    def feed(self, chunk: bytes) -> bytes:
        self._pieces.append(chunk)
        return b""

    def close(self) -> bytes:
        body = b"".join(self._pieces)
        self._pieces.clear()
        self.following = None
        try:
            output = self.read_answer(body)
        except UpstreamError as error:
            return self.fail(error)
        except UNREADABLE:
            return self.fail(UpstreamError("The upstream's answer cannot be read"))
        self.started = self.ended = self.following is None
        return output

    @abstractmethod
    def read_answer(self, body: bytes) -> bytes:
        """The client's body, or nothing and ``following`` set. Raises UpstreamError, and what
        decoding raises."""


class PassedAnswer(ServiceAnswer):
    """The vendor's answer as it is: JSON once it is complete, events frame by frame, and other
    bytes as they come. Its media type is the vendor's."""

    is_single = True
    _kind = ""
    """The plain media type of the answer."""
    _is_json = False
    _frames: FrameBuffer | None = None
    """Of an answer that is a stream of events."""

    def __init__(
        self, request: UpstreamRequest, count: Count, *, usage: Usage | None = None, **more: Any
    ) -> None:
        """``count`` reads what JSON or an event reports; ``usage`` is what is known before."""
        ServiceAnswer.__init__(self, request, **more)
        self.usage = usage
        self._count = count
        self._pieces: list[bytes] = []

    def read_head(self, headers: Mapping[str, str]) -> None:
        self.media_type = media_type = headers.get("content-type") or self.media_type
        self._kind, self._is_json = kind_of(media_type)
        if self._kind == EVENTS:
            self._frames = FrameBuffer()

    def feed(self, chunk: bytes) -> bytes:
        if self._is_json:
            self._pieces.append(chunk)
            return b""
        if self._frames is not None:
            return self._events(chunk, self._frames)
        self.started = self.started or bool(chunk)
        return chunk

    def close(self) -> bytes:
        if self._is_json:
            return self._whole(b"".join(self._pieces))
        if self._frames is not None and self._frames.held:
            return self.fail(UpstreamError("The upstream ended its answer in the middle"))
        self.ended = self.failure is None
        return b""

    def fail(self, error: UpstreamError) -> bytes:
        if self.failure is not None or self._kind != EVENTS:
            return super().fail(error)
        self.failure = error
        members = {"message": error.message, "type": error.type, "code": error.code}
        return write_frame(encode({"error": members}), b"error")

    def _events(self, chunk: bytes, frames: FrameBuffer) -> bytes:
        try:
            whole = frames.feed(chunk)
        except FrameTooLong:
            return self.fail(UpstreamError("The upstream sent an event that is too long"))
        for data in parse_data(whole) if whole else ():
            self.started = True
            if b'"usage"' in data:
                self.usage = self._counted(data) or self.usage
        return whole

    def _counted(self, data: bytes) -> Usage | None:
        try:
            return self._count(_anything(data))
        except UNREADABLE:
            return None

    def _whole(self, body: bytes) -> bytes:
        try:
            error, usage = self._look(body)
        except UNREADABLE:
            return self.fail(UpstreamError("The upstream's answer cannot be read"))
        if error:
            message = words_of(error) or "The upstream reported an error"
            return self.fail(UpstreamError(message))
        self.usage = usage or self.usage
        self.started = self.ended = True
        return body

    def _look(self, body: bytes) -> tuple[Any, Usage | None]:
        """An answer's error, or its use. Raises what decoding raises."""
        if self._count is read_usage:
            glance = _glance(body)
            return glance.error, None if glance.error else usage_of(glance.usage)
        answer = LazyAnswer(body)
        error = answer.get("error")
        return error, None if error else self._count(answer)


@lru_cache(maxsize=256)
def kind_of(media_type: str) -> tuple[str, bool]:
    """The plain type, and whether it is JSON."""
    kind = plain_type(media_type)
    return kind, is_json(kind)


def plain_type(media_type: str) -> str:
    """A media type without its parameters, in lower case."""
    return media_type.partition(";")[0].strip().lower()


def is_json(kind: str) -> bool:
    return kind == JSON or kind.endswith("+json")
