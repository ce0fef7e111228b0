"""Token probabilities: the vendor's shape and the chat-completions shape."""

from typing import Any

import msgspec
from msgspec import Raw, Struct


class _Token(Struct, rename="camel"):
    token: str = ""
    log_probability: float | None = None


class _Tops(Struct):
    candidates: list[_Token] | None = None


class _Result(Struct, rename="camel"):
    chosen_candidates: list[_Token] | None = None
    top_candidates: list[_Tops] | None = None


class _Chat(Struct):
    token: str = ""
    logprob: float | None = None
    top_logprobs: list["_Chat"] | None = None


class _ChatTokens(Struct):
    content: list[_Chat] | None = None


_read_result = msgspec.json.Decoder(_Result).decode
_read_chat = msgspec.json.Decoder(_ChatTokens).decode
_UNKNOWN = -9999.0
"""What chat completions give a token too unlikely to tell."""


def chat_logprobs(raw: Raw) -> Raw | None:
    """``logprobsResult`` in the chat-completions shape; ``None`` when it holds no token."""
    result = _read_result(raw)
    chosen = result.chosen_candidates or []
    tops = result.top_candidates or []
    rows = [
        {
            **_chat(token),
            "top_logprobs": [
                _chat(each) for each in (tops[place].candidates or [] if place < len(tops) else [])
            ],
        }
        for place, token in enumerate(chosen)
    ]
    return Raw(msgspec.json.encode({"content": rows})) if rows else None


def logprobs_result(rows: list[Raw]) -> dict[str, Any]:
    """``logprobsResult`` and ``avgLogprobs`` of pieces in the chat-completions shape."""
    tokens = [token for raw in rows for token in _tokens(raw)]
    if not tokens:
        return {}
    chosen = [_vendor(token) for token in tokens]
    result: dict[str, Any] = {"chosenCandidates": chosen}
    if any(token.top_logprobs for token in tokens):
        result["topCandidates"] = [
            {"candidates": [_vendor(each) for each in token.top_logprobs or []]} for token in tokens
        ]
    said = [token.logprob for token in tokens if token.logprob is not None]
    average = {"avgLogprobs": sum(said) / len(said)} if said else {}
    return {**average, "logprobsResult": result}


def _tokens(raw: Raw) -> list[_Chat]:
    """None of those that make no sense: they do not spoil the answer they came with."""
    try:
        return _read_chat(raw).content or []
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return []


def _chat(token: _Token) -> dict[str, Any]:
    said = token.log_probability
    logprob = _UNKNOWN if said is None else said
    return {"token": token.token, "logprob": logprob, "bytes": list(token.token.encode())}


def _vendor(token: _Chat) -> dict[str, Any]:
    return {"token": token.token, "logProbability": token.logprob}
