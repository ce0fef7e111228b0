"""One native call to one account: what is sent, and what is read of the answer on its way.

The answer's bytes are the vendor's. A stream's last events are held back until it has ended, so
that what the call has used is recorded before its client has the result.
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import msgspec

from gateway_core import (
    BodyParts,
    Call,
    Credential,
    FormPart,
    Losses,
    Operation,
    Step,
    Target,
    UpstreamError,
    UpstreamRequest,
    Usage,
    WireFormat,
    credential_header,
)
from gateway_core.contracts.errors import AnswerFailed
from gateway_core.upstream.redaction import masked, secrets_of
from gateway_formats.sse import FrameBuffer, FrameTooLong, parse_data, write_frame
from gateway_providers.services import write_form
from gateway_providers.services.exchanges import EVENTS, is_json, plain_type
from gateway_providers.services.refusals import UNREADABLE, read_refusal

from .native_request import NativeRequest
from .usages import Report, estimate, grown, is_last

NATIVE = "native"
"""The format and the kind of native calls."""
FAILED = "Native provider request failed"
FORWARDED = (
    *("accept", "content-type", "anthropic-version", "anthropic-beta", "anthropic-workspace-id"),
    *("idempotency-key", "openai-beta", "x-client-request-id"),
)
"""Headers of the client that go to the vendor."""
LONGEST_ERROR = 8 * 1024
"""Of a vendor's error, bytes that are read."""
MOST_NAMELESS = 16
"""Events that may come before the one that names what was created."""
_anything = msgspec.json.Decoder().decode


class NativeExchange:
    """Sends a call as it came and gives back what is answered."""

    upstream_format = NATIVE
    is_single = True
    following: Step | None = None
    failure: UpstreamError | None = None
    started = False
    ended = False
    characters = 0

    def __init__(
        self, request: UpstreamRequest, operation: Operation, credential: Credential, body: Any
    ) -> None:
        """``body`` is the decoded JSON of the request, where it is JSON."""
        self.request, self.losses = request, Losses()
        self.media_type = self._kind = "application/octet-stream"
        self._operation, self._credential = operation, credential
        self._body = body
        self.created: str | None = None
        """The id of what the call has created."""
        self.is_charged = is_charged(operation)
        """Whether what the answer reports is this call's own use."""
        self._report = Report()
        self._frames = FrameBuffer()
        self._pieces: list[bytes] = []
        self._ending = b""
        self._nameless = 0

    @property
    def reported(self) -> Usage | None:
        """What the answer says was used, whoever is charged for it."""
        return self._report.usage

    @property
    def usage(self) -> Usage | None:
        """What this call has used; ``None`` for an answer that broke off before it was told."""
        if not self.is_charged:
            return Usage()
        if self.reported is not None or self.characters:
            return self.reported
        return estimate(self._body)

    def read_head(self, headers: Mapping[str, str]) -> None:
        self.media_type = headers.get("content-type") or self.media_type
        self._kind = plain_type(self.media_type)

    def feed(self, chunk: bytes) -> bytes:
        if is_json(self._kind):
            self._pieces.append(chunk)
            return b""
        if self._kind == EVENTS:
            return self._events(chunk)
        self.started = self.started or bool(chunk)
        return chunk

    def close(self) -> bytes:
        if is_json(self._kind):
            return self._whole(b"".join(self._pieces))
        if self._kind == EVENTS and self._frames.held:
            return self._ending + self.fail(
                UpstreamError("The upstream ended its answer in the middle")
            )
        self.started = self.ended = self.failure is None
        ending, self._ending = self._ending, b""
        return ending

    def fail(self, error: UpstreamError) -> bytes:
        """Of a stream, an event that tells of it."""
        if self.failure is not None:
            return b""
        self.failure = self._judged(error)
        if self._kind != EVENTS:
            return b""
        members = {"message": FAILED, "type": error.type, "code": error.code}
        return write_frame(msgspec.json.encode({"error": members}), b"error")

    def refusal(self, status: int, headers: Mapping[str, str], body: bytes) -> UpstreamError:
        """A redirect is an error too."""
        secrets = secrets_of(self._credential)
        if status < 400:
            return UpstreamError(FAILED)
        return self._judged(read_refusal(status, headers, masked(body[:LONGEST_ERROR], secrets)))

    def _judged(self, error: UpstreamError) -> UpstreamError:
        """What a vendor answers about something that it keeps is no fault of the account, which
        must not rest because a client asks for what is gone."""
        if not self._operation.uses:
            return error
        return AnswerFailed(
            error.message,
            status=error.status,
            kind=error.kind,
            code=error.code,
            request_id=error.request_id,
            retry_after=error.retry_after,
        )

    def _events(self, chunk: bytes) -> bytes:
        try:
            whole = self._frames.feed(chunk)
        except FrameTooLong:
            return self.fail(UpstreamError("The upstream sent an event that is too long"))
        is_over = bool(self._ending)
        for data in parse_data(whole) if whole else ():
            is_over = self._note(data) or is_over
        if is_over:
            self._ending += whole
            return b""
        return whole

    def _note(self, data: bytes) -> bool:
        """Read an event; true for one that ends the stream."""
        try:
            event = None if data == b"[DONE]" else _anything(data)
        except UNREADABLE:
            event = None
        self._report.add(event)
        self.characters += grown(event)
        creates, self._nameless = self._operation.creates, self._nameless + 1
        if creates is not None and self.created is None:
            holder = event.get("response", event) if isinstance(event, Mapping) else None
            self.created = id_at(holder, creates.place)
        has_name = creates is None or self.created is not None
        self.started = self.started or has_name or self._nameless > MOST_NAMELESS
        return data == b"[DONE]" or is_last(event)

    def _whole(self, body: bytes) -> bytes:
        self._pieces.clear()
        try:
            answer = _anything(body) if body.strip() else None
        except UNREADABLE:
            return self.fail(UpstreamError(FAILED))
        self._report.add(answer)
        if self._operation.creates is not None:
            self.created = id_at(answer, self._operation.creates.place)
        self.started = self.ended = True
        return body


def is_charged(operation: Operation) -> bool:
    """Whether the answers of an operation tell what it has used itself. Calls about what the
    vendor keeps use nothing, and what is delegated is not seen here."""
    is_managing = operation.pinned or operation.kind is None
    is_elsewhere = operation.direct or operation.uncapped_only
    return operation.method == "POST" and not (is_managing or is_elsewhere)


def id_at(answer: Any, place: str) -> str | None:
    """The id at a place of an answer, some vendors' being numbers; ``None`` where there is none."""
    for name in place.split("."):
        answer = answer.get(name) if isinstance(answer, Mapping) else None
    if isinstance(answer, int) and not isinstance(answer, bool):
        return str(answer)
    return answer if isinstance(answer, str) and answer else None


def write_request(
    call: Call, native: NativeRequest, target: Target, credential: Credential, wire: WireFormat
) -> UpstreamRequest:
    """The vendor's request: headers are built, and of the client's only a few go along."""
    spec, operation = target.provider, native.operation
    content, media_type = content_of(call, operation, target)
    shown = {name: call.headers[name] for name in FORWARDED if name in call.headers}
    shown.pop("content-type", None)
    if media_type:
        shown["content-type"] = media_type
    own = credential_header(spec.auth, credential, usual=wire.auth_header, prefix=wire.auth_prefix)
    return UpstreamRequest(
        method=operation.method,
        url=address(native, credential),
        headers={**wire.headers, **spec.headers, **shown, **own},
        body=content if isinstance(content, bytes) else b"",
        parts=None if isinstance(content, bytes) else content,
        whole=not call.stream,
        # What was created twice is paid for twice, and one of them belongs to nobody.
        once=operation.creates is not None,
        first_byte_timeout=None if spec.timeout_ms is None else spec.timeout_ms / 1000,
    )


def address(native: NativeRequest, credential: Credential) -> str:
    """The operation's path at the vendor's origin, or at the account's."""
    spec, own = native.provider, credential.data.get("baseUrl")
    base = own if isinstance(own, str) and own else spec.native_url or spec.base_url or ""
    origin = urlsplit(base)
    path, query = native.operation.path.format(**native.parameters), native.forwarded
    return f"{origin.scheme}://{origin.netloc}{path}{'?' if query else ''}{query}"


def content_of(call: Call, operation: Operation, target: Target) -> tuple[bytes | BodyParts, str]:
    """The body and its media type. Of a form the files come last: some vendors read it as it
    arrives."""
    if call.form:
        parts = [_named(part, target) for part in call.form]
        if target.model.id in operation.unnamed:
            parts = [part for part in parts if part.name.lower() != "model"]
        return write_form(sorted(parts, key=lambda part: part.filename is not None))
    return call.body, call.headers.get("content-type", "application/json") if call.body else ""


def _named(part: FormPart, target: Target) -> FormPart:
    """A part, with the vendor's name of the model in the place of the client's."""
    if part.name.lower() != "model" or part.filename is not None:
        return part
    return FormPart(name="model", content=target.model.id.encode())
