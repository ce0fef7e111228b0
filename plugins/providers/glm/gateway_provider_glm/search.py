"""Web search: a tool of an MCP server, over its streamable HTTP transport.

Transport: https://modelcontextprotocol.io/specification/2025-06-18/basic/transports
Tool: https://docs.z.ai/devpack/mcp/search-mcp-server
"""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from gateway_core import (
    Call,
    Credential,
    ServiceExchange,
    Step,
    Target,
    UpstreamError,
    UpstreamRequest,
)
from gateway_formats.sse import FrameBuffer, parse_data
from gateway_providers.services import (
    Question,
    Search,
    WholeExchange,
    question_of,
    read_search,
    rows_of,
    service_url,
    vendor_request,
    words_of,
)

VERSION = "2025-06-18"
TOOL = "webSearchPrime"
PATH = "/mcp"
SPANS = {"day": "oneDay", "week": "oneWeek", "month": "oneMonth", "year": "oneYear"}
_anything = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode


class McpSearch:
    """A session for each search: greeting, notice, call of the tool."""

    def __init__(self, base_url: str) -> None:
        self._base_url = base_url

    def open(self, call: Call, target: Target, credential: Credential) -> ServiceExchange:
        return McpExchange(question_of(call, target, credential), self._base_url)


class McpExchange(WholeExchange):
    """Three requests, of which the last one's answer holds the results."""

    def __init__(self, question: Question, base_url: str) -> None:
        self._question, self._base_url = question, base_url
        self._session: str | None = None
        self._waiting = messages(arguments_of(question))
        super().__init__(
            self._request(next(self._waiting)),
            upstream_format=question.target.provider.format,
            losses=question.losses,
        )

    def read_head(self, headers: Mapping[str, str]) -> None:
        self._session = headers.get("mcp-session-id") or self._session

    def read_answer(self, body: bytes) -> bytes:
        result = result_of(body)
        message = next(self._waiting, None)
        if message is not None:
            self.following = Step(request=self._request(message))
            return b""
        try:
            return _encode(read_rows(self._question, result))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise UpstreamError("The upstream's answer cannot be read") from error

    def _request(self, message: Mapping[str, Any]) -> UpstreamRequest:
        target, credential = self._question.target, self._question.credential
        headers = {"accept": "application/json, text/event-stream"}
        if self._session:
            headers |= {"mcp-session-id": self._session, "mcp-protocol-version": VERSION}
        url = service_url(target, credential, PATH, self._base_url)
        return vendor_request(target, credential, url, message, headers=headers)


def messages(arguments: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """What is sent, one after another."""
    greeting = {
        "protocolVersion": VERSION,
        "capabilities": {},
        "clientInfo": {"name": "model-gateway", "version": "1"},
    }
    yield {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": greeting}
    yield {"jsonrpc": "2.0", "method": "notifications/initialized"}
    call = {"name": TOOL, "arguments": arguments}
    yield {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}


def search_of(question: Question) -> Search:
    return read_search(question, usual=5, most=50, carries=("time_range", "domain_filter"))


def arguments_of(question: Question) -> Mapping[str, Any]:
    search = search_of(question)
    if search.exclude or len(search.include) > 1:
        question.losses.add("domain_filter")
    arguments: dict[str, Any] = {"search_query": search.query, "count": search.limit}
    if search.include:
        arguments["search_domain_filter"] = search.include[0]
    if search.span:
        arguments["search_recency_filter"] = SPANS[search.span]
    return arguments


def result_of(body: bytes) -> Any:
    """The result in JSON or in an event stream; ``None`` for a notice. Raises UpstreamError."""
    if not body.strip():
        return None
    answer = _anything(body) if body.lstrip()[:1] == b"{" else last_event(body)
    if not isinstance(answer, Mapping):
        raise UpstreamError("The upstream's answer cannot be read")
    if answer.get("error"):
        raise UpstreamError(words_of(answer["error"]) or "The search failed")
    return answer.get("result")


def last_event(body: bytes) -> Any:
    frames = FrameBuffer()
    events = [_anything(data) for data in parse_data(frames.feed(body + b"\n\n"))]
    if not events:
        raise UpstreamError("The upstream's answer cannot be read")
    return events[-1]


def read_rows(question: Question, result: Any) -> Mapping[str, Any]:
    text = "".join(part.get("text") or "" for part in result["content"])
    if result.get("isError"):
        raise UpstreamError(text[:300] or "The search failed")
    rows = _anything(text) if text else []
    # Some answers have the list as JSON in a JSON string.
    rows = _anything(rows) if isinstance(rows, str) else rows
    limit = search_of(question).limit
    return {
        "results": rows_of(
            rows,
            title="title",
            url="link",
            snippet="content",
            published_at="publish_date",
            favicon_url="icon",
        )[:limit]
    }
