"""Whatever is asked and answered, the short cuts say just what the long way says.

Questions and answers are recorded ones and made ones, some of them spoilt;
streams come cut at random places.
"""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import msgspec
import pytest
from corpus import answer, items, question
from generated_requests import ANSWERS, PLAIN, QUESTIONS
from generated_streams import STREAMS
from hypothesis import given, settings
from hypothesis import strategies as st
from translation_runs import FOLDERS, WIRES, TranslationRun, translate
from without_shortcuts import without_short_cuts

LONGEST = 20_000
"""Bytes of the recordings that are used."""
MODELS = {
    "openai": ["gpt-4.1", "m"],
    "openai-responses": ["gpt-5"],
    "claude": ["claude-sonnet-4-5", "claude-3-haiku", "m"],
    "gemini": ["gemini-2.5-pro", "gemini-3-pro"],
    "ollama": ["qwen3"],
}
ODD: list[Any] = [
    *(None, "", 0, 1, -1, 1.5, 2**53 + 1, 2**63, 2**70, True, False, [], {}, {"a": 1}, ["a"]),
    *("é", "\u2028", "\n", '"', "\\", "text", "stop", "error", "😀", [None], "NUMBER", "BYTES"),
]
NAMES = ["x", "text", "content", "index", "logprobs", "refusal", "tool_calls", "thought", "type"]


odd = st.sampled_from(ODD).map(deepcopy)


def answers(vendor: str, stream: bool) -> list[bytes]:
    good = (
        item
        for item in items(FOLDERS[vendor])
        if item["response_status"] == 200 and item["stream"] == stream
    )
    return [body for item in good if len(body := answer(item)) < LONGEST]


def questions(client: str) -> list[bytes]:
    found = (question(item) for item in items(FOLDERS[client]))
    return [body for body in found if body and len(body) < LONGEST]


def both(*given: Any, **more: Any) -> tuple[TranslationRun, TranslationRun]:
    """What comes of a question the short way and the long way."""
    short = translate(*given, **more)
    with without_short_cuts():
        return short, translate(*given, **more)


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every member and item in a JSON value: what holds it, and its name or number."""
    found: list[tuple[Any, Any]] = []
    if isinstance(value, dict | list):
        for name in list(value) if isinstance(value, dict) else range(len(value)):
            found += [(value, name), *places(value[name])]
    return found


@st.composite
def spoilt(draw: st.DrawFn, body: bytes) -> bytes:
    """JSON of which a few members are gone, doubled or something else."""
    value = msgspec.json.decode(body)
    for _ in range(draw(st.integers(0, 3))):
        found = places(value)
        if found:
            holder, name = draw(st.sampled_from(found))
            _spoil(draw, holder, name)
    made = msgspec.json.encode(value)
    return made.replace(b'"NUMBER"', b"1e999").replace(b"BYTES", b"\xff")


def _spoil(draw: st.DrawFn, holder: Any, name: Any) -> None:
    how = draw(st.sampled_from(["gone", "odd", "odd", "more"]))
    if how == "gone":
        del holder[name]
    elif how == "odd":
        holder[name] = draw(odd)
    elif isinstance(holder, dict):
        holder[draw(st.sampled_from(NAMES))] = draw(odd)
    else:
        holder.append(deepcopy(holder[name]))


@st.composite
def scratched(draw: st.DrawFn, body: bytes) -> bytes:
    """Bytes of which a few are gone, or others."""
    for _ in range(draw(st.integers(0, 2))):
        at = draw(st.integers(0, len(body)))
        more = draw(st.sampled_from([b"", b'"', b"\\", b"\n", b"\r\n", b"\xff", b": x\n\n", b" "]))
        body = body[:at] + more + body[at + draw(st.integers(0, 4)) :]
    return body


framings: dict[str, Callable[[bytes], bytes]] = {
    "as it was": lambda body: body,
    "other line ends": lambda body: body.replace(b"\n", b"\r\n"),
    "old line ends": lambda body: body.replace(b"\n", b"\r"),
    "no space": lambda body: body.replace(b"data: ", b"data:"),
    "comments": lambda body: body.replace(b"\n\ndata", b"\n\n: ping\n\ndata"),
    "no end mark": lambda body: body.replace(b"data: [DONE]", b""),
}


@st.composite
def cut(draw: st.DrawFn, body: bytes) -> list[bytes]:
    """The body in pieces: frame by frame, byte by byte, or at random places."""
    how = draw(st.sampled_from(["whole", "frames", "anywhere", "anywhere", "bytes"]))
    if how == "frames":
        end = b"\n\n" if b"\n\n" in body else b"\n"
        return [piece + end for piece in body.split(end)]
    if how == "bytes" and len(body) < 2_000:
        return [body[at : at + 1] for at in range(len(body))]
    most = 0 if how == "whole" else 12
    ends = sorted(draw(st.sets(st.integers(0, len(body)), max_size=most)))
    return [body[a:b] for a, b in zip([0, *ends], [*ends, len(body)], strict=True)]


vendors = pytest.mark.parametrize("vendor", WIRES)


@vendors
@given(st.data())
def test_recorded_answers_come_whole(vendor: str, data: st.DataObject) -> None:
    client = data.draw(st.sampled_from([*WIRES]))
    body = data.draw(st.sampled_from(answers(vendor, False)))
    reported = data.draw(spoilt(body) | scratched(body))

    short, long = both(
        client, vendor, PLAIN[client], [reported], stream=False, model=MODELS[vendor][0]
    )

    assert short == long


@vendors
@settings(max_examples=400)
@given(st.data())
def test_made_answers_come_whole(vendor: str, data: st.DataObject) -> None:
    client = data.draw(st.sampled_from([*WIRES]))
    reported = data.draw(st.sampled_from(ANSWERS[vendor]).map(msgspec.json.encode).flatmap(spoilt))

    short, long = both(
        client, vendor, PLAIN[client], [reported], stream=False, model=MODELS[vendor][0]
    )

    assert short == long


@vendors
@given(st.data())
def test_recorded_answers_come_in_streams(vendor: str, data: st.DataObject) -> None:
    client = data.draw(st.sampled_from([*WIRES]))
    body = data.draw(st.sampled_from(answers(vendor, True)).flatmap(scratched))
    framed = framings[data.draw(st.sampled_from([*framings]))](body)
    pieces = data.draw(cut(framed))

    short, long = both(client, vendor, PLAIN[client], pieces, stream=True, model=MODELS[vendor][0])

    assert short == long


@pytest.mark.parametrize("vendor", STREAMS)
@settings(max_examples=200)
@given(st.data())
def test_made_answers_come_in_streams(vendor: str, data: st.DataObject) -> None:
    client = data.draw(st.sampled_from([*WIRES]))
    body = data.draw(STREAMS[vendor])
    framed = framings[data.draw(st.sampled_from([*framings]))](body)
    pieces = data.draw(cut(framed))

    short, long = both(client, vendor, PLAIN[client], pieces, stream=True, model=MODELS[vendor][0])

    assert short == long


@pytest.mark.parametrize("client", WIRES)
@given(st.data())
def test_recorded_questions(client: str, data: st.DataObject) -> None:
    vendor = data.draw(st.sampled_from([*WIRES]))
    body = data.draw(st.sampled_from(questions(client)))
    received = data.draw(spoilt(body) | scratched(body))
    model, stream = data.draw(st.sampled_from(MODELS[vendor])), data.draw(st.booleans())

    short, long = both(client, vendor, received, [], stream=stream, model=model)

    assert short == long


@pytest.mark.parametrize("client", WIRES)
@settings(max_examples=400)
@given(st.data())
def test_made_questions(client: str, data: st.DataObject) -> None:
    vendor = data.draw(st.sampled_from([*WIRES]))
    received = data.draw(QUESTIONS[client])
    model, stream = data.draw(st.sampled_from(MODELS[vendor])), data.draw(st.booleans())

    short, long = both(client, vendor, received, [], stream=stream, model=model)

    assert short == long
