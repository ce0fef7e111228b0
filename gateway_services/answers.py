"""A vendor's answer in the shape that the client of an endpoint asked for."""

from abc import ABC, abstractmethod
from base64 import b64decode, b64encode
from binascii import Error as NotBase64
from collections.abc import Mapping
from typing import Any

import msgspec

from gateway_core import (
    Call,
    Losses,
    ServiceExchange,
    Step,
    Target,
    UpstreamError,
    UpstreamRequest,
    Usage,
)
from gateway_formats.sse import write_frame

EVENTS = "text/event-stream; charset=utf-8"
UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
encode = msgspec.json.Encoder().encode
_anything = msgspec.json.Decoder().decode
_SIGNATURES = (
    (b"\x89PNG", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"RIFF", "image/webp"),
)


class Wrapped(ABC):
    """An exchange around a vendor's. By itself it changes nothing."""

    def __init__(self, inner: ServiceExchange) -> None:
        self.inner = inner
        self.request: UpstreamRequest = inner.request
        self.media_type = inner.media_type
        self.upstream_format = inner.upstream_format
        self.losses: Losses = inner.losses
        self.failure: UpstreamError | None = None
        self.following: Step | None = None
        self.is_single = False
        self.started = self.ended = False
        self.characters = 0

    @property
    def usage(self) -> Usage | None:
        return self.inner.usage

    def read_head(self, headers: Mapping[str, str]) -> None:
        self.inner.read_head(headers)

    @abstractmethod
    def feed(self, chunk: bytes) -> bytes:
        """A piece of the vendor's body; what the client gets of it."""

    @abstractmethod
    def close(self) -> bytes:
        """The vendor's body is whole; what the client gets of the rest."""

    def fail(self, error: UpstreamError) -> bytes:
        self.failure = self.failure or error
        return b""

    def refusal(self, status: int, headers: Mapping[str, str], body: bytes) -> UpstreamError:
        return self.inner.refusal(status, headers, body)


class Reshaped(Wrapped):
    """Holds a vendor's whole answer and gives another in its place. A subclass says which."""

    def __init__(self, inner: ServiceExchange) -> None:
        super().__init__(inner)
        self._pieces: list[bytes] = []

    def feed(self, chunk: bytes) -> bytes:
        self._pieces.append(self.inner.feed(chunk))
        return b""

    def close(self) -> bytes:
        self._pieces.append(self.inner.close())
        self.following = self.inner.following
        if self.inner.failure is not None:
            return self.fail(self.inner.failure)
        if self.following is not None:
            return b""
        body = b"".join(self._pieces)
        self._pieces.clear()
        self.media_type = self.inner.media_type
        try:
            output = self.reshape(body)
        except UNREADABLE:
            return self.fail(UpstreamError("The upstream's answer cannot be read"))
        except UpstreamError as error:
            return self.fail(error)
        self.started = self.ended = self.following is None
        return output

    @abstractmethod
    def reshape(self, body: bytes) -> bytes:
        """The client's answer. Raises UpstreamError, and what decoding raises."""


class JsonSpeech(Reshaped):
    """Audio as JSON with base64."""

    def reshape(self, body: bytes) -> bytes:
        kind = self.media_type.partition(";")[0].strip()
        format = kind.removeprefix("audio/")
        self.media_type = "application/json"
        format = "mp3" if format == "mpeg" else format
        return encode({"audio": b64encode(body).decode(), "format": format})


class PictureBytes(Reshaped):
    """The first picture of an answer as bytes; one that is at an address is fetched there."""

    _is_fetching = False

    def read_head(self, headers: Mapping[str, str]) -> None:
        if self._is_fetching:
            self.media_type = headers.get("content-type") or "application/octet-stream"
        else:
            super().read_head(headers)

    def feed(self, chunk: bytes) -> bytes:
        if not self._is_fetching:
            return super().feed(chunk)
        self.started = self.started or bool(chunk)
        return chunk

    def close(self) -> bytes:
        if not self._is_fetching:
            return super().close()
        self.following, self.ended = None, True
        return b""

    def reshape(self, body: bytes) -> bytes:
        picture = first_picture(_anything(body))
        encoded, url = picture.get("b64_json"), picture.get("url")
        if isinstance(encoded, str):
            try:
                data = b64decode(encoded)
            except NotBase64:
                raise UpstreamError("The upstream's picture cannot be read") from None
            self.media_type = picture_type(data)
            return data
        if not isinstance(url, str):
            raise UpstreamError("The upstream gave no picture")
        self._is_fetching = True
        self.following = Step(request=UpstreamRequest(method="GET", url=url), is_public=True)
        return b""


class PictureEvents(Reshaped):
    """Events of pictures: the vendor's own, or one for each picture of a whole answer."""

    _passes = False

    def __init__(self, inner: ServiceExchange) -> None:
        super().__init__(inner)
        self.media_type = EVENTS

    def read_head(self, headers: Mapping[str, str]) -> None:
        super().read_head(headers)
        self._passes = headers.get("content-type", "").startswith("text/event-stream")

    def feed(self, chunk: bytes) -> bytes:
        if not self._passes:
            return super().feed(chunk)
        output = self.inner.feed(chunk)
        self.started, self.failure = self.inner.started, self.inner.failure
        return output

    def close(self) -> bytes:
        if not self._passes:
            return super().close()
        output = self.inner.close()
        self.ended, self.failure = self.inner.ended, self.inner.failure
        return output

    def fail(self, error: UpstreamError) -> bytes:
        output = self.inner.fail(error) if self._passes else b""
        self.failure = self.failure or error
        return output

    def reshape(self, body: bytes) -> bytes:
        answer = _anything(body)
        self.media_type = EVENTS
        pictures = answer.get("data") if isinstance(answer, Mapping) else None
        if not isinstance(pictures, list) or not pictures:
            raise UpstreamError("The upstream gave no picture")
        # https://platform.openai.com/docs/api-reference/images-streaming
        name = "image_generation.completed"
        shared = {"type": name, "created_at": answer.get("created")}
        if "usage" in answer:
            shared["usage"] = answer["usage"]
        return b"".join(
            write_frame(encode({**shared, **picture}), name.encode())
            for picture in pictures
            if isinstance(picture, Mapping)
        )


def first_picture(answer: Any) -> Mapping[str, Any]:
    """The first picture of an answer. Raises UpstreamError."""
    data = answer.get("data") if isinstance(answer, Mapping) else None
    if isinstance(data, list) and data and isinstance(data[0], Mapping):
        return data[0]
    raise UpstreamError("The upstream gave no picture")


def picture_type(data: bytes) -> str:
    for signature, media_type in _SIGNATURES:
        if data.startswith(signature):
            return media_type
    return "application/octet-stream"


def of_speech(call: Call, target: Target, exchange: ServiceExchange) -> ServiceExchange:
    """``?response_format=json`` asks for base64, anything else for the vendor's bytes."""
    return JsonSpeech(exchange) if call.path.get("response_format") == "json" else exchange


def of_pictures(call: Call, target: Target, exchange: ServiceExchange) -> ServiceExchange:
    """``?response_format=binary`` asks for bytes, ``stream`` or ``Accept`` for events."""
    if call.path.get("response_format") == "binary":
        return PictureBytes(exchange)
    return PictureEvents(exchange) if call.stream else exchange
