"""An answer of the other kind than was asked for: whole instead of streamed, or streamed instead of
whole. Some servers and proxies know only one of the two."""

from ..contracts.conversation import Losses
from ..contracts.errors import GatewayError, UpstreamError
from ..contracts.events import PartGrew, ReplyFailed, UsageReported
from ..contracts.provider import Call
from ..contracts.usage import Usage
from ..contracts.wire import ClientSide, VendorSide, WireFormat

EVENT_STREAM = "text/event-stream"
_FRAMES = (b"data:", b"event:", b"id:", b"retry:", b":")
"""How a stream of server-sent events may begin: WHATWG HTML, section 9.2.5."""
_BLANK = b" \t\r\n\xef\xbb\xbf"


def is_other_kind(beginning: bytes, wire: WireFormat, *, stream: bool) -> bool:
    """Whether an answer that begins so is not of the kind that was asked for."""
    if not stream:
        # Nearly every whole answer ends here.
        return not beginning.startswith(b"{") and beginning.lstrip(_BLANK).startswith(_FRAMES)
    is_object = beginning.lstrip(_BLANK).startswith(b"{")
    return is_object and wire.stream_type.startswith(EVENT_STREAM)


class OtherKind:
    """A relay that reads such an answer, and writes it as the client asked for it."""

    def __init__(self, call: Call, client: ClientSide, vendor: VendorSide) -> None:
        self._call, self._client, self._vendor = call, client, vendor
        self._held: list[bytes] = []
        self.usage: Usage | None = None
        self.started = self.ended = False
        self.characters = 0
        self.failure: ReplyFailed | None = None

    def feed(self, chunk: bytes) -> bytes:
        self._held.append(chunk)
        return b""

    def close(self) -> bytes:
        if self.failure is not None:
            return b""
        body = b"".join(self._held)
        try:
            output = self._stream(body) if self._call.stream else self._whole(body)
        except UpstreamError as error:
            return self.fail(ReplyFailed(error.message, error.kind, error.code, error.status))
        except GatewayError:  # the client's request cannot be read as this answer needs it
            return self.fail(ReplyFailed("The upstream gave an answer that could not be read"))
        self.started = self.ended = self.failure is None
        return output if self.failure is None else b""

    def fail(self, failure: ReplyFailed) -> bytes:
        """Nothing has been sent yet, so the error goes out as an ordinary error answer."""
        self.failure = failure
        return b""

    def _whole(self, body: bytes) -> bytes:
        client, vendor = self._client, self._vendor
        reply = vendor.read_reply(body)
        self.usage = reply.usage
        return client.write_reply(reply, client.read_request(self._call), Losses())

    def _stream(self, body: bytes) -> bytes:
        client, vendor = self._client, self._vendor
        reader = vendor.stream_reader()
        events = [*reader.feed(body), *reader.close()]
        for event in events:
            if isinstance(event, PartGrew):
                self.characters += len(event.text)
            elif isinstance(event, UsageReported):
                self.usage = event.usage
            elif isinstance(event, ReplyFailed):
                self.failure = event
        writer = client.stream_writer(client.read_request(self._call), Losses())
        return writer.feed(events) + writer.close()
