"""How one attempt talks to its vendor: passed through, or translated by way of the neutral
conversation. No I/O."""

from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from ..contracts.conversation import (
    AnyPart,
    Conversation,
    Losses,
    Reply,
    Text,
    ToolCall,
)
from ..contracts.errors import (
    AnswerFailed,
    GatewayError,
    KeptElsewhere,
    PartUnsupported,
    UpstreamError,
)
from ..contracts.events import (
    ChoiceEnded,
    PartGrew,
    PartSealed,
    PartStarted,
    ReplyFailed,
    ReplyStarted,
    StreamEvent,
    UsageReported,
)
from ..contracts.exchange import UpstreamRequest
from ..contracts.provider import Call, Credential
from ..contracts.seal import is_marked
from ..contracts.usage import Usage
from ..contracts.wire import ClientSide, Relay, WireFormat
from ..upstream.endpoints import JSON, UpstreamEndpoint, vendor_side
from ..upstream.redaction import masked, redact, secrets_of
from . import json_body
from .call_arguments import Undecided, has_none, settle
from .other_kind import OtherKind, is_other_kind
from .reply_sanitizer import ReplySanitizer

TURN_FAILED = "The upstream says that the model's turn failed"


def passes_through(call: Call, client: WireFormat, vendor: WireFormat) -> bool:
    """Whether the client's own bytes can go to this vendor.

    A body that holds something sealed for another client format cannot, nor can one that an
    interceptor has replaced by a conversation.
    """
    return vendor.id == client.id and call.conversation is None and not is_marked(call.body)


def client_side(wire: WireFormat) -> ClientSide:
    if wire.client is None:
        raise GatewayError(f"format {wire.id} has no client side")
    return wire.client


class PassThrough:
    """The client's members out, the vendor's bytes back; the relay reads usage on the way."""

    def __init__(self, call: Call, way: UpstreamEndpoint) -> None:
        target, wire = way.target, way.wire
        vendor = self.vendor = vendor_side(wire)
        self.upstream_format = wire.id
        self._credential = way.credential
        members = dict(call.members)
        self.relay: Relay = vendor.relay(call, target, members)
        if wire.model_in_body:
            json_body.with_model(members, target.model.id)
        self.request: UpstreamRequest = way.request(
            call, json_body.fitted(members, target, len(call.body))
        )
        self.media_type = wire.stream_type if call.stream else JSON
        self.losses = Losses()
        self.ended = False
        self._begun = False
        self._call, self._wire = call, wire
        self.failure: UpstreamError | None = None
        for name in (*target.provider.drop, *target.model.unsupported):
            if name in call.members:
                self.losses.add(name)

    @property
    def usage(self) -> Usage | None:
        return self.relay.usage

    @property
    def started(self) -> bool:
        return self.relay.started

    @property
    def characters(self) -> int:
        return self.relay.characters

    def feed(self, chunk: bytes) -> bytes:
        if not self._begun:
            self._begun = True
            if is_other_kind(chunk, self._wire, stream=self._call.stream):
                self.relay = OtherKind(self._call, client_side(self._wire), self.vendor)
        relay = self.relay
        output = relay.feed(chunk)
        self.ended = relay.ended
        if relay.failure is None:
            return output
        self._note_failure()
        return masked(output, secrets_of(self._credential))

    def close(self) -> bytes:
        relay = self.relay
        output = relay.close()
        self.ended = relay.ended
        if relay.failure is not None:
            self._note_failure()
        return output

    def fail(self, error: UpstreamError) -> bytes:
        output = self.relay.fail(failure_of(error))
        self.ended = self.relay.ended
        if self.relay.failure is not None and self.failure is None:
            self.failure = error
        return output

    def _note_failure(self) -> None:
        self.ended, failed = self.relay.ended, self.relay.failure
        if failed is not None and self.failure is None:
            self.failure = error_of(safe(failed, self._credential))

    def refusal(self, status: int, headers: Mapping[str, str], body: bytes) -> UpstreamError:
        return self.vendor.read_error(status, headers, body)


class Translated:
    """By way of the neutral conversation, both ways."""

    def __init__(
        self,
        call: Call,
        conversation: Conversation,
        way: UpstreamEndpoint,
        client: WireFormat,
        now: float,
    ) -> None:
        target, vendor = way.target, way.wire
        self.client, self.vendor = client_side(client), vendor_side(vendor)
        if vendor.vendor_for is not None:
            self.vendor = vendor.vendor_for(conversation)
        self.losses = Losses(client.spelling)
        same = client.dialect == vendor.dialect
        # Only a vendor of the client's own dialect can look such a reference up.
        if conversation.elsewhere and not same:
            raise KeptElsewhere(conversation.elsewhere[0], str(target))
        self._same = same
        self.sanitizer = ReplySanitizer(target.provider.id, keeps_extra=same)
        self._credential = way.credential
        self._now = now
        self.upstream_format = vendor.id
        self.conversation = conversation
        try:
            body = self.vendor.write_request(conversation, target, self.losses)
        except PartUnsupported as error:
            word = client.media_names.get(error.part, error.part)
            raise PartUnsupported(word, str(target)) from None
        spec, unsupported = target.provider, target.model.unsupported
        if spec.drop or spec.rename or unsupported or spec.fixed:
            members = json_body.members_of(body)
            neutral = {written: name for name, written in vendor.spelling.items()}
            for name in (*spec.drop, *unsupported):
                if name in members:
                    self.losses.add(neutral.get(name, name))
            body = json_body.fitted(members, target)
        self.request: UpstreamRequest = way.request(call, body)
        self.media_type = client.stream_type if conversation.stream else JSON
        self._trailer = client.trailer
        self._announced = len(self.losses.names)
        """How many names the head of a stream has at least."""
        self.usage: Usage | None = None
        self.started = False
        self.ended = False
        """The frames that end a stream come with ``close``."""
        self.characters = 0
        self.failure: UpstreamError | None = None
        self.reply: Reply | None = None
        self._held: list[bytes] = []
        self._undecided: Undecided = {}
        if conversation.stream:
            self._reader = self.vendor.stream_reader()
            self._writer = self.client.stream_writer(conversation, self.losses)

    def feed(self, chunk: bytes) -> bytes:
        if not self.conversation.stream:
            self._held.append(chunk)
            return b""
        return self._write(self._reader.feed(chunk))

    def close(self) -> bytes:
        if not self.conversation.stream:
            return self._whole(b"".join(self._held))
        tail = self._write(self._reader.close())
        end = self._writer.close()
        is_more = len(self.losses.names) > self._announced and self.failure is None
        if is_more and self._trailer is not None:
            # Before the last frames, behind which many clients read no further.
            tail += self._trailer(encode_losses(self.losses.names))
        return tail + end

    def fail(self, error: UpstreamError) -> bytes:
        if self.failure is not None:
            return b""
        self.failure = error
        return self._writer.feed((failure_of(error),)) if self.conversation.stream else b""

    def refusal(self, status: int, headers: Mapping[str, str], body: bytes) -> UpstreamError:
        return self.vendor.read_error(status, headers, body)

    def _write(self, events: Sequence[StreamEvent]) -> bytes:
        if not events or self.failure is not None:
            return b""
        shown: list[StreamEvent] | None = None
        for index, event in enumerate(events):
            if type(event) is PartGrew:
                self.characters += len(event.text)
                self.started = True
                continue
            clean = self._observe(event)
            if clean is not event:
                shown = list(events) if shown is None else shown
                shown[index] = clean
                if type(clean) is ReplyFailed:
                    return self._writer.feed(shown[: index + 1])
        if self._undecided:
            shown = settle(events if shown is None else shown, self._undecided)
        return self._writer.feed(events if shown is None else shown)

    def _observe(self, event: StreamEvent) -> StreamEvent:
        """Record what an event says, and return what the client's side may see of it."""
        if isinstance(event, UsageReported):
            self.usage = event.usage
        elif isinstance(event, PartStarted):
            part = event.part
            self.started = self.started or not is_empty(part)
            if isinstance(part, ToolCall) and not part.custom and has_none(part.arguments):
                self._undecided[event.choice, event.index] = part.arguments
                if part.arguments:
                    event = replace(event, part=replace(part, arguments=""))
        elif isinstance(event, ChoiceEnded) and event.finish == "error" and not self._same:
            # Formats have no word for it in common, so every client gets it as a failure.
            failed = safe(ReplyFailed(event.failure or TURN_FAILED), self._credential)
            self.failure = AnswerFailed(failed.message)
            return failed
        elif isinstance(event, PartSealed | ChoiceEnded):
            self.started = True
        elif isinstance(event, ReplyFailed):
            event = safe(event, self._credential)
            self.failure = error_of(event)
        elif isinstance(event, ReplyStarted):
            identity, created = self._named(event.id, event.created)
            event = replace(event, id=identity, created=created)
        return self.sanitizer.event(event)

    def _whole(self, body: bytes) -> bytes:
        try:
            reply = self.vendor.read_reply(body)
        except UpstreamError as error:  # Exchange.close never raises for what a vendor sent.
            self.failure = error
            return b""
        self.usage = reply.usage
        for choice in () if self._same else reply.choices:
            if choice.finish == "error":
                message = redact(choice.failure or TURN_FAILED, secrets_of(self._credential))
                self.failure = AnswerFailed(message)
                return b""
        identity, created = self._named(reply.id, reply.created)
        if identity != reply.id or created != reply.created:
            reply = replace(reply, id=identity, created=created)
        self.reply = self.sanitizer.reply(reply)
        for choice in reply.choices:
            for part in choice.parts:
                self.characters += length(part)
        self.started = True
        return self.client.write_reply(self.reply, self.conversation, self.losses)

    def _named(self, identity: str, created: int | None) -> tuple[str, int]:
        """The answer's id and time, made up where the vendor gave none."""
        return identity or fallback_id(self.request.body), created or int(self._now)


def is_empty(part: AnyPart) -> bool:
    """Whether a part that has just started shows nothing yet."""
    text = getattr(part, "text", None)
    if text is None or part.signature is not None:
        return False
    return not text and getattr(part, "sealed", None) is None


def length(part: AnyPart) -> int:
    """Characters of a part's text, thinking or arguments."""
    if type(part) is Text:
        return len(part.text)
    return len(getattr(part, "text", None) or "") + len(getattr(part, "arguments", ""))


def fallback_id(body: bytes) -> str:
    """An id for an answer whose vendor gives none."""
    return f"{hash(body) & 0xFFFFFFFFFFFFFFFF:016x}"


def safe(failed: ReplyFailed, credential: Credential) -> ReplyFailed:
    """A failure whose words do not repeat the account's secrets."""
    return replace(failed, message=redact(failed.message, secrets_of(credential)))


def error_of(failed: ReplyFailed) -> UpstreamError:
    return UpstreamError(
        failed.message,
        status=failed.status,
        kind=failed.kind,
        code=failed.code,
        retry_after=failed.retry_after,
    )


def failure_of(error: UpstreamError) -> ReplyFailed:
    return ReplyFailed(error.message, error.kind, error.code, error.status, error.retry_after)


def encode_losses(names: Iterable[str]) -> bytes:
    """The value of ``x-gateway-dropped``: names with commas between, printable ASCII only."""
    shown = (
        "".join(c if "!" <= c <= "~" and c != "," else "_" for c in name)[:120] for name in names
    )
    return ", ".join(shown).encode()[:4096]
