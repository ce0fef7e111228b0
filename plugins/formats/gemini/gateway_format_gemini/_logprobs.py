"""Token probabilities: the vendor's shape and the chat-completions shape.

https://ai.google.dev/api/generate-content#LogprobsResult
"""

from typing import Any

import msgspec
from msgspec import Raw, Struct


class VendorToken(Struct, rename="camel"):
    token: str = ""
    log_probability: float | None = None


class TopTokens(Struct):
    candidates: list[VendorToken] | None = None


class LogprobsResult(Struct, rename="camel"):
    chosen_candidates: list[VendorToken] | None = None
    top_candidates: list[TopTokens] | None = None


class ChatToken(Struct):
    token: str = ""
    logprob: float | None = None
    top_logprobs: list["ChatToken"] | None = None


class ChatTokens(Struct):
    content: list[ChatToken] | None = None


_decode_result = msgspec.json.Decoder(LogprobsResult).decode
_decode_chat = msgspec.json.Decoder(ChatTokens).decode
_UNKNOWN = -9999.0
"""What chat completions give a token too unlikely to tell."""


def chat_logprobs(raw: Raw) -> Raw | None:
    """``logprobsResult`` in the chat-completions shape; ``None`` when it holds no token."""
    result = _decode_result(raw)
    chosen = result.chosen_candidates or []
    tops = result.top_candidates or []
    rows = [
        {
            **_write_chat(token),
            "top_logprobs": [
                _write_chat(each)
                for each in (tops[place].candidates or [] if place < len(tops) else [])
            ],
        }
        for place, token in enumerate(chosen)
    ]
    return Raw(msgspec.json.encode({"content": rows})) if rows else None


def write_logprobs(rows: list[Raw]) -> dict[str, Any]:
    """``logprobsResult`` and ``avgLogprobs`` of pieces in the chat-completions shape."""
    tokens: list[ChatToken] = []
    for raw in rows:
        try:
            tokens += _decode_chat(raw).content or []
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            continue  # invalid ones do not spoil the answer that they came with
    if not tokens:
        return {}
    chosen = [_write_vendor(token) for token in tokens]
    result: dict[str, Any] = {"chosenCandidates": chosen}
    if any(token.top_logprobs for token in tokens):
        result["topCandidates"] = [
            {"candidates": [_write_vendor(each) for each in token.top_logprobs or []]}
            for token in tokens
        ]
    values = [token.logprob for token in tokens if token.logprob is not None]
    average = {"avgLogprobs": sum(values) / len(values)} if values else {}
    return {**average, "logprobsResult": result}


def _write_chat(token: VendorToken) -> dict[str, Any]:
    known = token.log_probability
    logprob = _UNKNOWN if known is None else known
    return {"token": token.token, "logprob": logprob, "bytes": list(token.token.encode())}


def _write_vendor(token: ChatToken) -> dict[str, Any]:
    return {"token": token.token, "logProbability": token.logprob}
