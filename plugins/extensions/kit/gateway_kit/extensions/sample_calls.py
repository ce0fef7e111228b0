"""Calls as an interceptor sees them, and records of calls that have ended."""

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec.structs import asdict

from gateway_core import Call, Kind
from gateway_core.storage.stores.usage import UsageRecord
from gateway_kit.json_bodies import decode_members
from gateway_kit.providers.chat_requests import build_request
from gateway_kit.providers.subject import ProviderUnderTest

HEADERS = {"content-type": "application/json", "user-agent": "kit"}
ODD: Mapping[str, bytes] = {
    "an empty object": b"{}",
    "members of other kinds": b'{"model":7,"messages":"x","stream":"y","tools":null}',
    "no messages": b'{"model":"kit-vendor/large","messages":[]}',
    "a message that is none": b'{"model":"kit-vendor/large","messages":[null,7,"x",[]]}',
    "no content": b'{"model":"kit-vendor/large","messages":[{"role":"user"}]}',
    "null content": b'{"model":"kit-vendor/large","messages":[{"role":"user","content":null}]}',
    "parts": b'{"messages":[{"role":"user","content":[{"type":"text","text":"x"},{},7]}]}',
    "other words": '{"messages":[{"role":"user","content":"Grüße, 世界 \\ud83c"}]}'.encode(),
}


def ordinary_calls(vendor: ProviderUnderTest) -> Iterator[tuple[str, Call]]:
    """A question in each client format, whole and streamed."""
    for route in vendor.routes():
        for stream in (False, True):
            request = build_request(vendor, route, stream=stream)
            call = _call(request.client, request.body, stream=stream)
            yield f"{route.client}-{'stream' if stream else 'whole'}", call


def odd_calls() -> Iterator[tuple[str, Call]]:
    """Bodies that a client may send and nobody expects."""
    for about, body in ODD.items():
        yield about, _call("openai", body, stream=False)
    yield (
        "no members",
        Call(kind=Kind.EMBEDDING, format="openai", model="", stream=False, body=b"\xff\x00"),
    )


def marked_call(number: int) -> Call:
    """A question that can be told from others."""
    body = b'{"model":"kit-vendor/large","messages":[{"role":"user","content":"%s"}]}'
    return _call("openai", body % mark(number), stream=False)


def mark(number: int) -> bytes:
    return b"question-%04d" % number


def sample_records() -> Iterator[Mapping[str, Any]]:
    """A call that went well, one that failed before it had a vendor, and one that was given up."""
    members: dict[str, Any] = {
        "request_id": "req-1",
        "started_at": "2026-10-21T07:28:00.000Z",
        "finished_at": "2026-10-21T07:28:01.000Z",
        "model_asked": "kit-vendor/large",
        "endpoint": "/v1/chat/completions",
    }
    target: dict[str, Any] = {
        "provider": "kit-vendor",
        "model_sent": "large",
        "input_tokens": 12,
        "cost": 40,
    }
    yield asdict(UsageRecord(**members, **target, output_tokens=7, ttft_ms=12, duration_ms=80))
    yield asdict(UsageRecord(**members, status="error", http_status=429, error_code="rate_limited"))
    yield asdict(UsageRecord(**members, **target, status="client_gone", stream=True))


def _call(client: str, body: bytes, *, stream: bool) -> Call:
    return Call(
        kind=Kind.LLM,
        format=client,
        model="kit-vendor/large",
        stream=stream,
        body=body,
        members=decode_members(body),
        headers=dict(HEADERS),
        path={"model": "kit-vendor/large"} if client == "gemini" else {},
    )
