"""Exchanges for answers that are read whole, and for bytes that are sent on as they come."""

from collections.abc import Mapping

from gateway_core import Losses, Step, UpstreamError, UpstreamRequest, Usage

from .refusals import UNREADABLE, read_refusal
from .requests import JSON


class ServiceAnswer:
    """What both kinds of exchanges have in common."""

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


class WholeExchange(ServiceAnswer):
    """Reads each answer once it is complete. A subclass says what it means."""

    def __init__(self, request: UpstreamRequest, **more: object) -> None:
        super().__init__(request, **more)  # type: ignore[arg-type]  # the keywords of the base
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

    def read_answer(self, body: bytes) -> bytes:
        """The client's body, or nothing and ``following`` set. Raises UpstreamError, and what
        decoding raises."""
        raise NotImplementedError


class BytesExchange(ServiceAnswer):
    """Sends bytes on as they come, with the media type that the vendor names.

    JSON in the place of bytes is an error that came with status 200.
    """

    _held: list[bytes] | None = None

    def read_head(self, headers: Mapping[str, str]) -> None:
        media_type = headers.get("content-type", "")
        if media_type.partition(";")[0].strip().lower() == JSON:
            self._held = []
        elif media_type:
            self.media_type = media_type

    def feed(self, chunk: bytes) -> bytes:
        if self._held is not None:
            self._held.append(chunk)
            return b""
        self.started = self.started or bool(chunk)
        return chunk

    def close(self) -> bytes:
        if self._held is not None:
            return self.fail(read_refusal(502, {}, b"".join(self._held)))
        self.ended = self.failure is None
        return b""
