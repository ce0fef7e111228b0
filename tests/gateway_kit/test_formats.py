"""The bundled formats keep the kit's laws, and formats with deliberate bugs do not."""

import re
import socket
import sys
import threading
import time
from types import ModuleType
from typing import Any

import pytest
from corpus import Item, answer, items, question
from format_bugs import BUGS
from format_mutations import sound
from gateway_format_claude import CLAUDE
from gateway_format_gemini import GEMINI
from gateway_format_ollama import OLLAMA
from gateway_format_openai import CHAT, COMPLETIONS
from gateway_format_openai_responses import FORMATS as RESPONSES
from gateway_kit.formats import (
    LAWS,
    FormatCase,
    LawBroken,
    RecordedError,
    Samples,
    agreement,
    asked,
    conduct,
    error_bodies,
    format_cases,
    marks,
    read_again,
    shown,
    stream_conduct,
)
from gateway_kit.formats.completions_requests import BODIES
from gateway_kit.formats.event_order import find_disorder
from gateway_provider_bedrock.converse import CONVERSE
from gateway_provider_cohere.chat import CHAT as COHERE
from msgspec.structs import replace

import gateway_core.contracts
from gateway_core import Intake, ReplyFailed, WireFormat
from gateway_core.pipeline.exchanges import length as handed_over

MOST = 6
"""Recordings of each sort, so that all of this stays quick."""
LONGEST = 6000
SHORT = 800
UNREADABLE = {"error_in_200", "truncated", "joined_turns", "json_array_stream"}
"""Not one whole answer each: see tests/corpora/README.md."""


def recorded(folder: str, path: str) -> Samples:
    """Some of a vendor's recorded answers that came to their proper end."""
    found = [item for item in items(folder) if path in item["endpoint"]]
    good = [item for item in found if item["response_status"] == 200 and is_whole(item)]
    received = [question(item) for item in good]
    return Samples(
        requests=[body for body in received if body is not None and len(body) < SHORT][:3],
        replies=[answer(item) for item in good if not item["stream"]][:MOST],
        streams=[answer(item) for item in good if item["stream"]][:MOST],
        errors=[
            RecordedError(item["response_status"], answer(item))
            for item in found
            if item["response_status"] >= 400
        ],
    )


def is_whole(item: Item) -> bool:
    return not UNREADABLE & set(item["features"]) and 0 < len(answer(item)) < LONGEST


FORMATS: dict[str, tuple[WireFormat, Samples | None]] = {
    "openai": (CHAT, recorded("openai_chat", "/chat/completions")),
    "openai-completions": (COMPLETIONS, None),
    "openai-responses": (RESPONSES[0], recorded("openai_responses", "/responses")),
    "claude": (CLAUDE, recorded("anthropic_messages", "/messages")),
    "gemini": (GEMINI, recorded("gemini_generate_content", "enerateContent")),
    "ollama": (OLLAMA, recorded("ollama_chat", "/api/chat")),
    "bedrock": (CONVERSE, recorded("bedrock_converse", "/converse")),
    "cohere": (COHERE, recorded("cohere_chat", "/v2/chat")),
}
CASES = [
    pytest.param(case, id=f"{name}: {case}")
    for name, (wire, samples) in FORMATS.items()
    for case in format_cases(wire, samples, bodies=BODIES if name == "openai-completions" else None)
]


@pytest.mark.parametrize("case", CASES)
def test_a_bundled_format_keeps_the_law(case: FormatCase) -> None:
    case.check()


def reported(wire: WireFormat, law: str) -> str | None:
    """What a format's author reads about one law; ``None`` when it is kept."""
    cases = format_cases(wire, examples=12, simplify=False)
    try:
        next(case for case in cases if str(case) == law).check()
    except LawBroken as broken:
        return str(broken)
    return None


@pytest.mark.parametrize("wire", [CHAT, CLAUDE], ids=lambda wire: wire.id)
def test_a_wrapped_format_without_a_bug_breaks_no_law(wire: WireFormat) -> None:
    for case in format_cases(sound(wire)):
        case.check()


def test_deliberate_bugs_break_the_law_that_is_about_them() -> None:
    broken = {name: reported(bug.spoil(bug.wire), bug.law) for name, bug in BUGS.items()}

    missed = [name for name, written in broken.items() if written is None]
    assert len(BUGS) >= 20
    assert missed == []


def test_no_law_is_idle() -> None:
    """Each law, or one of its features, is broken by a bug here or by a test below."""
    broken = {bug.law.partition(":")[0] for bug in BUGS.values()}

    # Those of marks, of what is shown and asked and of conduct are broken by the planted bugs
    # (test_planted_bugs.py), as are those that read bodies again and compare answers and errors.
    planted = (agreement, asked, conduct, error_bodies, marks, read_again, shown, stream_conduct)
    others = {law.id for module in planted for law in module.LAWS}
    idle = {law.id.partition(":")[0] for law in LAWS if law.id not in others} - broken
    assert {name for name in idle if not name.endswith("/recorded")} == {
        "code/public-door",
        "code/pure",
    }


def test_a_broken_law_says_what_is_wrong_and_what_to_do() -> None:
    bug = BUGS["Retry-After lost"]

    written = reported(bug.spoil(bug.wire), bug.law)

    assert written is not None
    assert written.startswith(
        "openai breaks a law: a vendor's Retry-After is lost; "
        "take it with gateway_formats.hints.retry_after(headers)."
    )


def test_an_exception_that_escapes_is_named() -> None:
    bug = BUGS["whole reader raises at rubbish"]

    written = reported(bug.spoil(bug.wire), bug.law)

    assert written is not None
    assert "KeyError escaped" in written


def in_a_module(monkeypatch: pytest.MonkeyPatch, **held: Any) -> WireFormat:
    """A format whose client side is defined in a module that holds something."""
    module = ModuleType("acme_format")
    vars(module).update(held)
    monkeypatch.setitem(sys.modules, "acme_format", module)
    side = type("AcmeClient", (type(CHAT.client),), {"__module__": "acme_format"})()
    return replace(CHAT, client=side)


@pytest.mark.parametrize(
    "held",
    [socket, socket.create_connection, time.monotonic, threading.Lock()],
    ids=["module", "function", "clock", "lock"],
)
def test_a_way_out_in_a_formats_module_is_told(
    monkeypatch: pytest.MonkeyPatch, held: object
) -> None:
    written = reported(in_a_module(monkeypatch, way_out=held), "code/pure")

    assert written is not None
    assert "acme_format holds ['way_out']" in written


@pytest.mark.parametrize(
    "held",
    [gateway_core.contracts, Intake, handed_over],
    ids=["module", "shown", "private"],
)
def test_only_what_the_kernel_shows_may_be_taken(
    monkeypatch: pytest.MonkeyPatch, held: object
) -> None:
    written = reported(in_a_module(monkeypatch, taken=held), "code/public-door")

    assert (written is None) == (held is Intake)


def test_cases_have_ids_of_their_own_that_can_be_read() -> None:
    ids = [law.id for law in LAWS]

    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"[a-z]+/[a-z0-9_ :-]+", name) for name in ids)


def test_only_laws_that_a_format_can_keep_are_its_cases() -> None:
    vendors = {str(case) for case in format_cases(COHERE)}
    clients = {str(case) for case in format_cases(COMPLETIONS)}

    assert "relays/identity" not in vendors | clients
    assert "requests/carries: turns" in vendors - clients
    assert "streams/grammar" in clients - vendors
    assert "requests/written-and-read" not in vendors | clients


BAD_SAMPLES = {
    "requests/recorded": Samples(requests=[b'{"messages":7}']),
    "replies/recorded": Samples(replies=[b"{}"]),
    "streams/recorded": Samples(streams=[b'data: {"choices":[']),
    "errors/recorded": Samples(errors=[RecordedError(429, b"{}")]),
}


@pytest.mark.parametrize("law", BAD_SAMPLES)
def test_a_recording_that_cannot_be_read_is_told(law: str) -> None:
    wire = BUGS["error status lost"].spoil(CHAT) if law.startswith("errors") else CHAT
    case = next(case for case in format_cases(wire, BAD_SAMPLES[law]) if str(case) == law)

    with pytest.raises(LawBroken, match="a recorded"):
        case.check()


def test_a_stream_that_goes_on_after_its_failure_is_out_of_order() -> None:
    failed = ReplyFailed("out of luck")

    assert find_disorder([failed]) is None
    assert find_disorder([failed, failed]) is not None
    assert find_disorder([]) is not None


@pytest.mark.parametrize("law", ["streams/cut-short", "relays/cut-short"])
def test_a_stream_that_breaks_off_after_its_first_words_is_no_whole_one(law: str) -> None:
    bugs = [bug for name, bug in BUGS.items() if bug.law == law and "broke off" in name]

    [written] = [reported(bug.spoil(bug.wire), law) for bug in bugs]

    assert written is not None
    assert re.search(r"cut at byte \d+ of \d+", written)
