"""Laws of marks: each thing that a request asks for carries one, and the vendor gets it.

A vendor's request need not be readable back, so these laws hold for one-sided formats too. A
mark is a text or a number that occurs nowhere else. What has no mark of its own, such as a
choice between two words, must make another request than its opposite does.
"""

from base64 import b64encode
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace

from gateway_core import (
    BadRequest,
    Citation,
    Conversation,
    Losses,
    Media,
    Model,
    Output,
    Reasoning,
    Sampling,
    Target,
    Text,
    Thinking,
    Tool,
    ToolChoice,
    Turn,
)
from gateway_kit.abilities import ABILITIES, STREAM, is_carried, verdict

from .case import Law, expect, has_vendor, law
from .harness import FormatHarness
from .sample_values import FIRST, PLAIN, SECOND, tool_result, user_turn

JPEG = "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAMCAgICAgMCAgIDAwMDBAYEBAQEBAgGBgUGCQgKCgkIC4711A=="
PDF = "JVBERi0xLjcKJeLjz9MKMSAwIG9iago8PC9UeXBlL0NhdGFsb2c+PgplbmRvYmoKNDcxMQ=="
ADDRESS = "https://pictures.example/cat.jpg?size=4711"
SCHEMA = Raw(b'{"type":"object","properties":{"city4711":{"type":"string"}}}')
PICTURE = Media(kind="image", media_type="image/jpeg", data=JPEG)
LOOK = Tool(name="look4711", description="about4711", schema=SCHEMA)
FIND = Tool(name="find4712", description="about4712", schema=Raw(b'{"type":"object"}'))
TOOLS = replace(PLAIN, tools=(LOOK, FIND))
CALLS = Turn("assistant", (FIRST, SECOND))


class Marked(Struct, frozen=True):
    """One thing that a request may ask for."""

    conversation: Conversation
    marks: tuple[str | float, ...] = ()
    """What has to be in the request to the vendor."""
    unlike: Conversation | None = None
    """What must make another request."""
    beside: Conversation = PLAIN
    """What has the same losses but for this one thing."""


def _sampled(**settings: Any) -> Conversation:
    return replace(PLAIN, sampling=replace(PLAIN.sampling, **settings))


def _said(*parts: Any, role: Any = "user", **fields: Any) -> Conversation:
    middle = Turn(role, parts, **fields)
    if role == "user":
        return replace(PLAIN, turns=(middle,))
    return replace(PLAIN, turns=(*PLAIN.turns, middle, user_turn(Text(text="and then"))))


def _results(*results: Any) -> Conversation:
    return replace(TOOLS, turns=(*PLAIN.turns, CALLS, user_turn(*results)))


def _chosen(mode: Any, *names: str) -> Conversation:
    return replace(TOOLS, tool_choice=ToolChoice(mode, names))


ONE = Text(text="one4711")
BOTH = (tool_result(FIRST, "one4711"), tool_result(SECOND, "two4712"))
MARKED: dict[str, Marked] = {
    "two system texts": Marked(
        replace(PLAIN, instructions=(Text(text="rule4711"), Text(text="rule4712"))),
        ("rule4711", "rule4712"),
    ),
    "who speaks": Marked(_said(ONE, role="assistant"), ("one4711",), _said(ONE, role="system")),
    "an answer is no question": Marked(
        _said(ONE, role="assistant"),
        ("one4711",),
        replace(PLAIN, turns=(*PLAIN.turns, user_turn(ONE), user_turn(Text(text="and then")))),
    ),
    "name": Marked(_said(ONE, name="speaker4711"), ("speaker4711",)),
    "image": Marked(_said(ONE, PICTURE), (JPEG,)),
    "image by address": Marked(_said(ONE, Media(kind="image", url=ADDRESS)), (ADDRESS,)),
    "document": Marked(
        _said(ONE, Media(kind="document", media_type="application/pdf", data=PDF)),
        (PDF,),
    ),
    "document of text": Marked(_said(ONE, Media(kind="document", text="milk4711")), ("milk4711",)),
    "sound": Marked(_said(ONE, Media(kind="audio", media_type="audio/wav", data=PDF)), (PDF,)),
    "two tools": Marked(TOOLS, ("look4711", "about4711", "city4711", "find4712", "about4712")),
    "strict tool": Marked(
        replace(PLAIN, tools=(replace(LOOK, strict=True),)),
        unlike=replace(PLAIN, tools=(replace(LOOK, strict=False),)),
    ),
    "custom tool": Marked(
        replace(PLAIN, tools=(Tool(name="free4711", custom=True),)), ("free4711",)
    ),
    "tool required": Marked(_chosen("required"), unlike=_chosen("auto"), beside=TOOLS),
    "tool forbidden": Marked(_chosen("none"), unlike=_chosen("auto"), beside=TOOLS),
    "one tool": Marked(
        _chosen("only", "look4711"), unlike=_chosen("only", "find4712"), beside=TOOLS
    ),
    "one tool and not any": Marked(
        _chosen("only", "look4711"), unlike=_chosen("required"), beside=TOOLS
    ),
    "tools one at a time": Marked(
        replace(TOOLS, parallel_tools=False), unlike=replace(TOOLS, parallel_tools=True)
    ),
    "arguments of calls": Marked(_results(*BOTH), ("first4711", "second4711")),
    "results of calls": Marked(
        _results(*BOTH),
        ("one4711", "two4712"),
        _results(tool_result(SECOND, "one4711"), tool_result(FIRST, "two4712")),
    ),
    "result in pieces": Marked(
        _results(replace(BOTH[0], content=(ONE, Text(text="more4711"))), BOTH[1]),
        ("one4711", "more4711"),
    ),
    "image in a result": Marked(
        _results(
            replace(
                BOTH[0], content=(ONE, Media(kind="image", media_type="image/jpeg", data=JPEG))
            ),
            BOTH[1],
        ),
        (JPEG,),
    ),
    "earlier thinking": Marked(
        _said(Reasoning(text="ponder4711"), ONE, role="assistant"),
        ("ponder4711",),
        _said(Text(text="ponder4711"), ONE, role="assistant"),
    ),
    "earlier citation": Marked(
        _said(replace(ONE, citations=(Citation(url=ADDRESS),)), role="assistant"), (ADDRESS,)
    ),
    "cache breakpoint": Marked(_said(replace(ONE, cache="5m")), unlike=_said(ONE)),
    "max_tokens": Marked(
        _sampled(max_tokens=5417), (5417,), beside=replace(PLAIN, sampling=Sampling())
    ),
    "temperature": Marked(_sampled(temperature=0.61), (0.61,)),
    "temperature 0": Marked(_sampled(temperature=0.0), unlike=PLAIN),
    "top_p": Marked(_sampled(top_p=0.37), (0.37,)),
    "top_k": Marked(_sampled(top_k=47), (47,)),
    "min_p": Marked(_sampled(min_p=0.043), (0.043,)),
    "seed": Marked(_sampled(seed=48213), (48213,)),
    "stop": Marked(_sampled(stop=("halt4711", "halt4712")), ("halt4711", "halt4712")),
    "presence_penalty": Marked(_sampled(presence_penalty=0.53), (0.53,)),
    "frequency_penalty": Marked(_sampled(frequency_penalty=0.57), (0.57,)),
    "candidates": Marked(_sampled(candidates=3), (3,)),
    "logprobs": Marked(_sampled(logprobs=True), unlike=PLAIN),
    "top_logprobs": Marked(_sampled(logprobs=True, top_logprobs=7), (7,)),
    "thinking": Marked(
        replace(PLAIN, thinking=Thinking(effort="high")),
        unlike=replace(PLAIN, thinking=Thinking(enabled=False)),
    ),
    "output schema": Marked(
        replace(PLAIN, output=Output(schema=SCHEMA, name="shape")), ("city4711",)
    ),
    "some json": Marked(replace(PLAIN, output=Output()), unlike=PLAIN),
    "user": Marked(replace(PLAIN, user="user4711"), ("user4711",)),
    "cache key": Marked(replace(PLAIN, cache_key="group4711"), ("group4711",)),
    "service tier": Marked(replace(PLAIN, service_tier="flex"), unlike=PLAIN),
    "members of a stranger": Marked(
        replace(PLAIN, dialect="stranger", extra={"kit_unknown": Raw(b'"x"')}),
        unlike=replace(PLAIN, dialect="stranger"),
    ),
    "members of a message of a stranger": Marked(
        replace(_said(ONE, extra={"kit_unknown": Raw(b'"x"')}), dialect="stranger"),
        unlike=replace(_said(ONE), dialect="stranger"),
    ),
}


def mark_law(name: str, marked: Marked) -> Law:
    @law(
        f"requests/marks: {name}",
        f"what a request asks for does not reach the vendor as it was asked: {name}",
        "write it as your vendor wants it, or name it in losses",
        has_vendor,
    )
    def kept(harness: FormatHarness) -> None:
        try:
            body, losses = written(harness, marked.conversation)
        except BadRequest:
            return
        if set(losses) - set(written(harness, marked.beside)[1]):
            return
        missing = [mark for mark in marked.marks if not is_in(mark, body)]
        expect(not missing, f"missing: {missing}", body)
        if marked.unlike is not None:
            expect(
                body != written(harness, marked.unlike)[0], "the opposite is written alike", body
            )

    return kept


def written(harness: FormatHarness, conversation: Conversation) -> tuple[bytes, list[str]]:
    """Raises BadRequest for what the format has no place for."""
    own = conversation
    if conversation.dialect != "stranger":
        own = harness.for_target(conversation)
    body, losses = harness.write_request(replace(own, model=harness.target.model.id))
    return body, list(losses.names)


def is_in(mark: str | float, body: bytes) -> bool:
    """Whether a text or a number of the body holds the mark, at any depth."""
    # A text may be sent as a file, and a number in the middle of a text.
    as_file = b64encode(str(mark).encode()).decode()
    for value in scalars(msgspec.json.decode(body)):
        if isinstance(value, str):
            if str(mark) in value or as_file in value:
                return True
        elif not isinstance(mark, str) and abs(value - mark) < 1e-6:
            return True
    return False


def scalars(value: Any) -> Iterator[Any]:
    """Texts, numbers and names of members, in their order."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield name
            yield from scalars(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from scalars(inner)
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        yield value


@law(
    "requests/types-of-images",
    "images of two types are sent as one",
    "write the media type of each image as the client named it",
    has_vendor,
)
def types_of_images(harness: FormatHarness) -> None:
    try:
        png = written(harness, _said(ONE, replace(PICTURE, media_type="image/png")))[0]
        jpeg = written(harness, _said(ONE, PICTURE))[0]
    except BadRequest:
        return
    # Some formats have no place for the type: their vendors look at the bytes.
    expect(not is_in("png", png) or is_in("jpeg", jpeg), jpeg)


@law(
    "requests/model",
    "requests for two models, or for a stream and a whole answer, are the same",
    "send the target's model as it is and stream as the conversation says, in body or path",
    has_vendor,
)
def model_and_stream(harness: FormatHarness) -> None:
    def sent(model: str, stream: bool) -> tuple[bytes, str]:
        conversation = replace(harness.for_target(PLAIN), model=model, stream=stream)
        target = Target(harness.target.provider, Model(model))
        body = harness.vendor.write_request(conversation, target, Losses())
        return body, harness.vendor.path(model, stream)

    one = sent("kit-model-4711", False)
    expect(one != sent("kit-model-4712", False), "two models:", *one)
    if STREAM in harness.lacks:
        return
    expect(one != sent("kit-model-4711", True), "stream and whole:", *one)


@law(
    "requests/lacks",
    "what the plugin's CONFORMANCE says is lacking is there after all, or is lost in silence",
    "take it out of lacks, or refuse it with BadRequest or name it in losses",
    has_vendor,
)
def lacking(harness: FormatHarness) -> None:
    def seen(conversation: Conversation) -> tuple[bytes, set[str]]:
        body, losses = harness.write_any_request(harness.for_target(conversation))
        return body, set(losses.names)

    for name in sorted(harness.lacks):
        ability = ABILITIES[name]
        if ability.example is None:
            continue
        try:
            body, losses = seen(ability.example)
            (without, usual), (again, _) = seen(ability.beside), seen(ability.beside)
        except BadRequest:
            continue
        wrong = verdict(
            name,
            named=bool(losses - usual),
            carried=is_carried(ability, body, without, again),
        )
        expect(wrong is None, wrong, body)


@law(
    "requests/lacks-streams",
    "a vendor that is said to have no streams is asked for one",
    "take stream out of lacks, or ask for whole answers alone",
    has_vendor,
)
def lacking_streams(harness: FormatHarness) -> None:
    if STREAM not in harness.lacks:
        return

    def asked(stream: bool) -> tuple[bytes, bytes, str]:
        one, again = (
            harness.write_any_request(replace(harness.for_target(PLAIN), stream=stream))[0]
            for _ in range(2)
        )
        return one, again, harness.vendor.path(harness.target.model.id, stream)

    (whole, again, path), (streamed, _, other) = asked(False), asked(True)
    expect(path == other, "another path:", other)
    expect(not is_carried(ABILITIES[STREAM], streamed, whole, again), streamed)


LACKING: tuple[Law, ...] = (lacking, lacking_streams)
"""Of formats that are said to lack something."""
LAWS: tuple[Law, ...] = (
    model_and_stream,
    types_of_images,
    *(mark_law(name, marked) for name, marked in MARKED.items()),
)
