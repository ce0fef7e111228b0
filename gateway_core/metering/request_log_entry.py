"""The contents of one request, recorded while it runs and cut to size at its end.

Only the beginning of an answer is copied, so that recording costs a request
little memory and hardly any time.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from ..contracts.exchange import UpstreamRequest, UpstreamResponse
from ..contracts.provider import Call
from ..storage.stores.request_details import RequestDetail
from ..upstream.redaction import MASK

PREVIEW = 200
"""Characters that are kept of what is too long."""
LONGEST_TOOLS = 64 * 1024
"""The declarations of tools are kept beside a request that is too long, up to so many bytes."""
_SHORTEST_SECRET = 4
_hidden_header = re.compile("authorization|x-api-key|cookie|token|api-key|secret").search
_SECRET = re.compile(
    r"(?i:\b(?:bearer|basic)\s+)[A-Za-z0-9._~+/=-]{8,}"
    r"|\b(?:sk|pk|rk|key)-[A-Za-z0-9_-]{8,}"
    r"|\beyJ[A-Za-z0-9_.-]+"
    r"|(?<=://)[^/\s@]+(?=@)"
    r"|(?<=[?&]key=)[^&\s]+"
)


class Excerpt:
    """The beginning of some bytes, and how many there are in all."""

    __slots__ = ("_longest", "beginning", "size")

    def __init__(self, longest: int, content: bytes = b"") -> None:
        self._longest = longest
        self.beginning = b""
        self.size = 0
        self.add(content)

    @property
    def is_whole(self) -> bool:
        return self.size == len(self.beginning)

    def add(self, piece: bytes) -> None:
        room = self._longest - len(self.beginning)
        if room > 0:
            self.beginning += piece[:room]
        self.size += len(piece)


Part = tuple[dict[str, Any], Excerpt]
"""Members beside the body, and the body."""


class RecordedResponse:
    """A vendor's answer whose body is recorded while it is read."""

    def __init__(self, response: UpstreamResponse, body: Excerpt) -> None:
        self.status = response.status
        self.headers = response.headers
        self._response = response
        self._body = body

    async def next(self) -> bytes:
        piece = await self._response.next()
        self._body.add(piece)
        return piece

    async def aclose(self) -> None:
        await self._response.aclose()


class RequestLogEntry:
    """One request as it goes by. Of several attempts the last one stays."""

    __slots__ = (
        "_call",
        "_client_body",
        "_longest",
        "_request",
        "_response",
        "_response_body",
        "_secrets",
    )

    def __init__(self, call: Call, longest: int) -> None:
        """``longest`` is in bytes, for each part."""
        self._longest = longest
        self._call = call
        self._request: UpstreamRequest | None = None
        self._response: UpstreamResponse | None = None
        self._response_body = Excerpt(longest)
        self._client_body = Excerpt(longest)
        self._secrets: tuple[str, ...] = ()

    def hear(
        self, request: UpstreamRequest, response: UpstreamResponse, secrets: Iterable[str]
    ) -> UpstreamResponse:
        """Record a request to a vendor; returns its answer, which is to be read in its stead."""
        self._request, self._response_body = request, Excerpt(self._longest)
        self._secrets = tuple(one for one in secrets if len(one) >= _SHORTEST_SECRET)
        self._response = RecordedResponse(response, self._response_body)
        return self._response

    def say(self, piece: bytes) -> None:
        """Record a piece of the answer to the client."""
        self._client_body.add(piece)

    def cut(self) -> "Cut":
        """What is to be kept, without the rest of the request."""
        call = self._call
        tools = bytes(call.members.get("tools", b""))
        return Cut(
            longest=self._longest,
            secrets=self._secrets,
            request=({"headers": dict(call.headers)}, Excerpt(self._longest, call.body)),
            tools=tools if len(tools) <= LONGEST_TOOLS else b"",
            provider_request=None
            if self._request is None
            else _request_part(self._request, self._longest),
            provider_response=None
            if self._response is None
            else _response_part(self._response, self._response_body),
            response=({}, self._client_body) if self._client_body.size else None,
        )


class Cut(msgspec.Struct, frozen=True, kw_only=True):
    """What is kept of a request: members and a body for each of its four parts."""

    longest: int
    secrets: tuple[str, ...]
    request: Part
    tools: bytes
    provider_request: Part | None
    provider_response: Part | None
    response: Part | None

    def written(self, request_id: str, finished_at: str) -> RequestDetail:
        """The row: read, without secrets and in shape. Takes a while for long parts."""
        return RequestDetail(
            request_id=request_id,
            finished_at=finished_at,
            request=self._part(self.request, self.tools),
            provider_request=self._part(self.provider_request),
            provider_response=self._part(self.provider_response),
            response=self._part(self.response),
        )

    def _part(self, part: Part | None, tools: bytes = b"") -> Any:
        if part is None:
            return None
        members, body = part
        text = body.beginning.decode("utf-8", "replace")
        if body.is_whole:
            whole = {**self._redact(members), "body": self._redact_text(text)}
            size = len(msgspec.json.encode(whole))
            if size <= self.longest:
                return whole
        else:
            size = body.size
        short = {
            "_truncated": True,
            "_originalSize": size,
            "_preview": self._redact(text)[:PREVIEW],
        }
        return {**short, "tools": self._redact_text(tools.decode())} if tools else short

    def _redact_text(self, text: str) -> Any:
        """The document that a text holds, or the text where it holds none or one too deep."""
        try:
            return self._redact(msgspec.json.decode(text))
        except (msgspec.DecodeError, RecursionError):
            return self._redact(text)

    def _redact(self, value: Any) -> Any:
        """The same without secrets, whatever they are in."""
        if isinstance(value, str):
            for secret in self.secrets:
                value = value.replace(secret, MASK)
            return _SECRET.sub(MASK, value)
        if isinstance(value, Mapping):
            headers = value.get("headers")
            if isinstance(headers, Mapping):
                # Left out by name: a credential need not look like a secret.
                kept = {n: text for n, text in headers.items() if not _hidden_header(n.lower())}
                value = {**value, "headers": kept}
            return {self._redact(name): self._redact(member) for name, member in value.items()}
        if isinstance(value, list):
            return [self._redact(member) for member in value]
        return value


def _request_part(request: UpstreamRequest, longest: int) -> Part:
    members = {"method": request.method, "url": request.url, "headers": dict(request.headers)}
    excerpt = Excerpt(longest, request.body)
    for part in () if request.parts is None else request.parts.parts:
        if isinstance(part, bytes):
            excerpt.add(part)
        else:
            excerpt.add(f"[{part.size} bytes]".encode())
    return members, excerpt


def _response_part(response: UpstreamResponse, body: Excerpt) -> Part:
    return {"status": response.status, "headers": dict(response.headers)}, body
