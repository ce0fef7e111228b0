"""Cases about what a client asks for: each option has an effect or is named as lost, and each text
reaches the vendor whole."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from gateway_core import Kind, UpstreamRequest
from gateway_kit.case import Case, expect, expect_none

from ..harness import ProviderHarness
from .many import enlarged
from .service_call import ServiceCall, name_of
from .traces import Trace, body_of, leaves, objects_in, texts_of, trace, with_members

TEXT = 'Grüße "4711" & 50% + 世界 #1 <b>'
"""A text whose characters are special in addresses, in JSON and in XML."""
OTHER_TEXT = "Of it 4712, another"
LONG = "word " * 600 + "end4713"
URL = "https://example.com/kit-4711?x=1&y=2#part"
UNKNOWN, UNKNOWN_VALUE = "kit_option", "kit-value-4714"
PORTRAIT, LANDSCAPE = "1024x1792", "1792x1024"
_PAIR = re.compile(r"(\d{1,5})\s?[x:*×/]\s?(\d{1,5})")


class Option(Struct, frozen=True):
    """A member of a request, and two values that ask for different things."""

    name: str
    one: Any
    other: Any
    literal: bool = False
    """Whether a vendor that has it is sent the value itself."""
    in_answer: bool = False
    """Whether the adapter may do it by itself, with the vendor's answer."""


_USER = Option("user", "kit-user-4715", "kit-user-4716", literal=True)
_PICTURE = (
    Option("n", 2, 3, literal=True),
    Option("size", "1024x1024", "1536x1024"),
    Option("quality", "low", "high"),
    Option("background", "transparent", "opaque"),
    Option("output_format", "png", "jpeg"),
    Option("response_format", "url", "b64_json", in_answer=True),
    Option("seed", 4717, 4718, literal=True),
    _USER,
)
_RECORDING = (
    Option("language", "de", "fr"),
    Option("prompt", "Names: Ada 4719", "Names: Bob 4720", literal=True),
    Option("response_format", "json", "verbose_json", in_answer=True),
    Option("temperature", 0.25, 0.75),
    Option("timestamp_granularities[]", ["word"], ["segment"]),
)
_JOB = (
    Option("duration", 5, 10),
    Option("resolution", "480p", "720p"),
    Option("aspect_ratio", "16:9", "9:16"),
)
OPTIONS: Mapping[str, tuple[Option, ...]] = {
    Kind.EMBEDDING: (
        Option("dimensions", 256, 512, literal=True),
        Option("encoding_format", "float", "base64", in_answer=True),
        Option("input_type", "search_query", "search_document"),
        _USER,
    ),
    Kind.RERANK: (
        Option("top_n", 1, 2, in_answer=True),
        Option("return_documents", True, False),
    ),
    Kind.IMAGE: (
        *_PICTURE,
        Option("style", "vivid", "natural"),
        Option("negative_prompt", "no 4721", "no 4722", literal=True),
    ),
    f"{Kind.IMAGE}/edit": _PICTURE,
    Kind.SPEECH: (
        Option("voice", "kit-voice-a", "kit-voice-b"),
        Option("response_format", "mp3", "wav", in_answer=True),
        Option("speed", 0.75, 1.5),
        Option("language", "de", "fr"),
        Option("instructions", "Whisper 4723", "Shout 4724", literal=True),
    ),
    Kind.TRANSCRIPTION: _RECORDING,
    f"{Kind.TRANSCRIPTION}/translation": _RECORDING[1:4],
    Kind.MUSIC: (Option("lyrics", "La 4725", "Lo 4726", literal=True),),
    Kind.VIDEO: _JOB,
    f"{Kind.VIDEO}/generations": _JOB,
    Kind.SEARCH: (
        Option("max_results", 2, 3, in_answer=True),
        Option("search_type", "web", "news"),
        Option("country", "de", "fr"),
        Option("language", "de", "fr"),
        Option("time_range", "day", "month"),
        Option("offset", 10, 20),
        Option("domain_filter", ["kit-4727.example"], ["kit-4728.example"], literal=True),
        Option("domain_filter", ["-kit-4729.example"], ["kit-4729.example"]),
    ),
    Kind.FETCH: (Option("format", "html", "markdown"),),
}
"""By kind, with a slash and the action where it is not the main one."""

_PROMPT = ({"prompt": TEXT}, {"prompt": LONG})
CONTENTS: Mapping[str, tuple[Mapping[str, Any], ...]] = {
    Kind.EMBEDDING: ({"input": TEXT}, {"input": LONG}),
    Kind.RERANK: (
        {"query": TEXT, "documents": [OTHER_TEXT, "third 4730", LONG]},
        {"query": OTHER_TEXT, "documents": [TEXT, "second 4731"]},
    ),
    Kind.MODERATION: ({"input": TEXT}, {"input": [TEXT, LONG]}),
    Kind.IMAGE: _PROMPT,
    f"{Kind.IMAGE}/edit": _PROMPT,
    Kind.IMAGE_TO_TEXT: ({"prompt": TEXT},),
    Kind.SPEECH: ({"input": TEXT}, {"input": LONG}),
    Kind.MUSIC: _PROMPT,
    Kind.AUDIO: _PROMPT,
    Kind.VIDEO: _PROMPT,
    f"{Kind.VIDEO}/generations": _PROMPT,
    Kind.SEARCH: ({"query": TEXT},),
    Kind.FETCH: ({"url": URL},),
    Kind.DOCUMENT_PARSING: ({"document": URL},),
    Kind.DECISION: ({"state": TEXT, "questions": {"kit": {"question": OTHER_TEXT}}},),
}
"""What is asked with: a vendor gets every text of one of these."""


def option_cases(call: ServiceCall) -> Iterator[Case]:
    """Cases that need no answer of the vendor's."""
    name = name_of(call.service)

    async def contents(harness: ProviderHarness) -> None:
        for members in CONTENTS.get(name, ()):
            expect_none(content_faults(call, members))

    async def options(harness: ProviderHarness) -> None:
        asked = enlarged(call)
        listed = [each for each in OPTIONS.get(name, ()) if asked.is_answered or not each.in_answer]
        expect_none(fault for each in listed for fault in option_faults(asked, each))

    async def unknown(harness: ProviderHarness) -> None:
        seen = trace(with_members(call, {UNKNOWN: UNKNOWN_VALUE}))
        is_named = seen.refused is not None or UNKNOWN in seen.losses
        expect(
            is_named or UNKNOWN_VALUE in texts_of(seen.requests),
            f"{UNKNOWN} reaches the vendor nowhere, and losses do not name it",
        )

    async def shape(harness: ProviderHarness) -> None:
        expect_none(orientation_faults(call))

    if name in CONTENTS:
        yield call.case(
            "whole texts",
            "Send every text of the client whole, escaped as its place asks.",
            contents,
        )
    if name in OPTIONS:
        yield call.case(
            "options",
            "Send each option that the vendor has, and name the others in losses.",
            options,
        )
    if call.service.action != "status":
        yield call.case(
            "other members",
            "Name each member in losses that is not sent, even one that the adapter does not know.",
            unknown,
        )
    if call.service.kind == Kind.IMAGE:
        yield call.case("tall and wide", "Keep a tall picture tall and a wide one wide.", shape)


def content_faults(call: ServiceCall, members: Mapping[str, Any]) -> Iterator[str]:
    """The client's texts that are not in the vendor's requests, or not in their order."""
    seen = trace(with_members(call, members))
    if seen.refused is not None:
        return  # such as a text that is too long for the vendor
    sent = texts_of(seen.requests)
    for name, value in members.items():
        at = 0
        for text in leaves(value):
            wanted = _essence(name, text)
            place = sent.find(wanted, at)
            if place < 0:
                is_there = wanted in sent
                how = "out of order" if is_there else "not there, or not whole"
                yield f"{name}: {text[:60]!r} is {how}"
                return
            at = place + len(wanted)


def option_faults(call: ServiceCall, option: Option) -> Iterator[str]:
    """Whether an option is lost without a word."""
    name = option.name
    first = trace(with_members(call, {name: option.one}))
    second = trace(with_members(call, {name: option.other}))
    if first.refused is not None or second.refused is not None:
        return  # the client is told
    if _is_named(name, first) or _is_named(name, second):
        return
    if same(first, second):
        yield f"{name} has no effect, and losses do not name it"
    elif option.literal and len(first.requests) <= len(call.sample.before) + 1:
        for value, seen in ((option.one, first), (option.other, second)):
            sent = texts_of(seen.requests)
            for leaf in leaves(value):
                if not re.search(rf"(?<!\d){re.escape(leaf)}(?!\d)", sent):
                    yield f"{name} is {leaf!r} and the vendor is sent something else"


def orientation_faults(call: ServiceCall) -> Iterator[str]:
    for size, is_tall in ((PORTRAIT, True), (LANDSCAPE, False)):
        seen = trace(with_members(call, {"size": size}))
        for width, height in (p for r in seen.requests for p in sizes_in(r)):
            is_kept = (width < height) is is_tall and width != height
            if not is_kept and (width != height or "size" not in seen.losses):
                yield f"for {size} the vendor is asked for {width} by {height}"


def sizes_in(request: UpstreamRequest) -> Iterator[tuple[float, float]]:
    """Width and height, wherever the members of a JSON body have them."""
    try:
        body = msgspec.json.decode(body_of(request))
    except (msgspec.DecodeError, UnicodeDecodeError):
        return
    for members in objects_in(body):
        sides = {
            side: value
            for name, value in members.items()
            for side in ("width", "height")
            if name.lower() == side and isinstance(value, int | float)
        }
        if len(sides) == 2:
            yield sides["width"], sides["height"]
        for value in members.values():
            found = _PAIR.fullmatch(value) if isinstance(value, str) else None
            if found:
                yield float(found[1]), float(found[2])


def same(first: Trace, second: Trace) -> bool:
    """Whether neither the vendor nor the client can tell two calls apart."""
    return (first.requests, first.answer, first.media_type) == (
        second.requests,
        second.answer,
        second.media_type,
    )


def _is_named(name: str, seen: Trace) -> bool:
    """Whether the losses name a member, or a part of it."""
    plain = name.removesuffix("[]")
    return any(loss in (name, plain) or loss.startswith(f"{plain}.") for loss in seen.losses)


def _essence(name: str, text: str) -> str:
    """What has to arrive of a text: the fragment of an address is the client's own."""
    return text.partition("#")[0] if name in ("url", "document") else text.strip()
