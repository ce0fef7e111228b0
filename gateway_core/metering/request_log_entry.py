"""What was said in one request, listened to while it goes by and cut to size at its end.

Nothing is copied but the beginning of what comes back, so that listening costs
a request little memory and hardly any time.
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

    def __init__(self, longest: int, given: bytes = b"") -> None:
        self._longest = longest
        self.beginning = b""
        self.size = 0
        self.add(given)

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


class Listened:
    """A vendor's answer that is noted while it is read."""

    def __init__(self, response: UpstreamResponse, heard: Excerpt) -> None:
        self.status = response.status
        self.headers = response.headers
        self._response = response
        self._heard = heard

    async def next(self) -> bytes:
        piece = await self._response.next()
        self._heard.add(piece)
        return piece

    async def aclose(self) -> None:
        await self._response.aclose()


class RequestLogEntry:
    """One request as it goes by. Of several attempts the last one stays."""

    __slots__ = ("_asked", "_call", "_heard", "_longest", "_response", "_said", "_secrets")

    def __init__(self, call: Call, longest: int) -> None:
        """``longest`` is in bytes, for each part."""
        self._longest = longest
        self._call = call
        self._asked: UpstreamRequest | None = None
        self._response: UpstreamResponse | None = None
        self._heard = Excerpt(longest)
        self._said = Excerpt(longest)
        self._secrets: tuple[str, ...] = ()

    def hear(
        self, request: UpstreamRequest, response: UpstreamResponse, secrets: Iterable[str]
    ) -> UpstreamResponse:
        """Note what a vendor was asked; gives its answer back, to be read in its stead."""
        self._asked, self._heard = request, Excerpt(self._longest)
        self._secrets = tuple(one for one in secrets if len(one) >= _SHORTEST_SECRET)
        self._response = Listened(response, self._heard)
        return self._response

    def say(self, piece: bytes) -> None:
        """Note what the client is told."""
        self._said.add(piece)

    def cut(self) -> "Cut":
        """What is to be kept, without the rest of the request."""
        call = self._call
        tools = bytes(call.members.get("tools", b""))
        return Cut(
            longest=self._longest,
            secrets=self._secrets,
            request=({"headers": dict(call.headers)}, Excerpt(self._longest, call.body)),
            tools=tools if len(tools) <= LONGEST_TOOLS else b"",
            asked=None if self._asked is None else _asked(self._asked, self._longest),
            heard=None if self._response is None else _heard(self._response, self._heard),
            said=({}, self._said) if self._said.size else None,
        )


class Cut(msgspec.Struct, frozen=True, kw_only=True):
    """What is kept of a request: members and a body for each of its four parts."""

    longest: int
    secrets: tuple[str, ...]
    request: Part
    tools: bytes
    asked: Part | None
    heard: Part | None
    said: Part | None

    def written(self, request_id: str, finished_at: str) -> RequestDetail:
        """The row: read, without secrets and in shape. Takes a while for long parts."""
        return RequestDetail(
            request_id=request_id,
            finished_at=finished_at,
            request=self._part(self.request, self.tools),
            provider_request=self._part(self.asked),
            provider_response=self._part(self.heard),
            response=self._part(self.said),
        )

    def _part(self, part: Part | None, tools: bytes = b"") -> Any:
        if part is None:
            return None
        members, body = part
        text = body.beginning.decode("utf-8", "replace")
        if body.is_whole:
            whole = {**self._told(members), "body": self._told_value(text)}
            size = len(msgspec.json.encode(whole))
            if size <= self.longest:
                return whole
        else:
            size = body.size
        short = {
            "_truncated": True,
            "_originalSize": size,
            "_preview": self._told(text)[:PREVIEW],
        }
        return {**short, "tools": self._told_value(tools.decode())} if tools else short

    def _told_value(self, text: str) -> Any:
        """The document that a text holds, or the text where it holds none or one too deep."""
        try:
            return self._told(msgspec.json.decode(text))
        except (msgspec.DecodeError, RecursionError):
            return self._told(text)

    def _told(self, value: Any) -> Any:
        """The same without secrets, whatever they are in."""
        if isinstance(value, str):
            for secret in self.secrets:
                value = value.replace(secret, MASK)
            return _SECRET.sub(MASK, value)
        if isinstance(value, Mapping):
            return {self._told(name): self._told(member) for name, member in _shown(value).items()}
        if isinstance(value, list):
            return [self._told(member) for member in value]
        return value


def _asked(request: UpstreamRequest, longest: int) -> Part:
    members = {"method": request.method, "url": request.url, "headers": dict(request.headers)}
    return members, Excerpt(longest, request.body)


def _heard(response: UpstreamResponse, body: Excerpt) -> Part:
    return {"status": response.status, "headers": dict(response.headers)}, body


def _shown(members: Mapping[str, Any]) -> Mapping[str, Any]:
    """The members, the headers among them without those that may be secret."""
    headers = members.get("headers")
    if not isinstance(headers, Mapping):
        return members
    kept = {name: text for name, text in headers.items() if not _hidden_header(name.lower())}
    return {**members, "headers": kept}
