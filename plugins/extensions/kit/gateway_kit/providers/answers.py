"""Cases about answers in good health: text, thinking, tools, every cut, and leaving early."""

import asyncio
from collections.abc import Coroutine, Iterator
from dataclasses import replace as changed
from itertools import pairwise
from typing import Any

from gateway_core import UpstreamError
from gateway_kit.abilities import STREAM, contents
from gateway_kit.case import Case, CaseFailed, Run, expect, expect_none
from gateway_kit.mock_vendor import (
    Content,
    MockAnswer,
    ReceivedRequest,
    apply_fault,
)

from . import judge
from .asgi_client import ClientAnswer
from .chat_requests import TOOL, build_request
from .exchanges import ParsedAnswer, choose_cuts, feed_all, parse_answer
from .harness import ProviderHarness
from .subject import ProviderUnderTest, Route

GAP = 0.004
"""Seconds between pieces, so that the network does not join them."""
SOON = 2.0
"""Seconds within which the vendor must learn that the client has gone."""


def answer_cases(subject: ProviderUnderTest, route: Route, *, stream: bool) -> Iterator[Case]:
    """Each thing that an answer may say."""
    where = f"{subject.spec.id}: {route}-{'stream' if stream else 'whole'}"
    for name, content in contents(subject.lacks).items():
        if name == "cached" or (name == "thinking" and not route.dialect.thinks):
            continue
        yield Case(
            name=f"{where}: says {name}",
            advice=_ADVICE[name],
            run=_saying(subject, route, content, stream=stream),
        )


_ADVICE = {
    "text": "Hand the vendor's bytes on as they are, so that all of the text arrives once.",
    "thinking": "Keep thinking apart from text: an adapter or a format must not join them.",
    "tool": "Hand on the tool call with its name and its whole arguments.",
    "tools": "Hand on all tool calls of one answer, in their order, each with its own arguments.",
}


def _saying(subject: ProviderUnderTest, route: Route, content: Content, *, stream: bool) -> Run:
    async def run(harness: ProviderHarness) -> None:
        scene = MockAnswer(
            dialect=route.dialect, content=content, model=route.model.id, stream=stream
        )
        request = build_request(subject, route, stream=stream, tools=bool(content.calls))
        answer = await harness.ask_scene(request, scene)
        expect_content(content, read_answer(subject, route, answer, stream=stream))
        expect_none(judge.faults(route.client, answer.body, content, stream=stream))
        if content.calls:
            expect_none(_tool_faults(subject, route, scene, harness.received()[-1], answer))

    return run


def _tool_faults(
    subject: ProviderUnderTest,
    route: Route,
    scene: MockAnswer,
    request: ReceivedRequest,
    answer: ClientAnswer,
) -> Iterator[str]:
    """Whether the vendor knows the tool, and the client the calls by which it answers them."""
    if "tools" not in {*subject.spec.drop, *route.model.unsupported} and TOOL not in request.text:
        yield "the vendor is not told of the tool that the client offers"
    if route.passes_through:
        for id in (call.id for call in scene.content.calls):
            if id.encode() in scene.body() and id not in answer.text:
                yield f"the id {id} of a call is lost"


def read_answer(
    subject: ProviderUnderTest, route: Route, answer: ClientAnswer, *, stream: bool
) -> ParsedAnswer:
    """Parse the client's answer. Raises CaseFailed for one that failed."""
    expect(answer.status == 200, f"status {answer.status}: {answer.text[:200]}")
    try:
        return parse_answer(subject, route, answer.body, stream=stream)
    except UpstreamError as error:
        raise CaseFailed(f"the client's answer cannot be read: {error.message}") from error


def expect_content(content: Content, parsed: ParsedAnswer) -> None:
    """Compare the client's answer with the vendor's content."""
    expect(parsed.text == content.words, f"the text {parsed.text!r} instead of {content.words!r}")
    expected = tuple((call.name, dict(call.arguments)) for call in content.calls)
    expect(parsed.calls == expected, f"the calls {parsed.calls} instead of {expected}")
    thinking_text = "".join(content.thinking)
    expect(
        parsed.thinking == thinking_text,
        f"the thinking {parsed.thinking!r} instead of {thinking_text!r}",
    )
    finish = "tool_calls" if content.calls else "stop"
    expect(parsed.finish == finish, f"it ends with {parsed.finish} instead of {finish}")


def _at_every_cut(subject: ProviderUnderTest, route: Route, scene: MockAnswer) -> Run:
    request = build_request(subject, route, stream=True)

    async def run(harness: ProviderHarness) -> None:
        def parsed(*pieces: bytes) -> ParsedAnswer:
            exchange = harness.exchange(subject, request)
            return parse_answer(subject, route, feed_all(exchange, pieces), stream=True)

        body, frames = scene.body(), [frame.data for frame in scene.frames()]
        expected = parsed(body)
        for at in choose_cuts(body, frames, every=subject.thorough):
            actual = parsed(body[:at], body[at:])
            expect(actual == expected, f"cut at byte {at}, the answer says {actual}")

    return run


def stream_cases(subject: ProviderUnderTest, route: Route) -> Iterator[Case]:
    """What only a stream can get wrong."""
    where = f"{subject.spec.id}: {route}-stream"
    scene = MockAnswer(
        dialect=route.dialect,
        content=subject.content("thinking"),
        model=route.model.id,
        stream=True,
    )
    request = build_request(subject, route, stream=True)

    async def in_crumbs(harness: ProviderHarness) -> None:
        body = scene.body()
        torn = [at for at in range(1, len(body)) if 0x80 <= body[at] < 0xC0][:3]
        ends = pairwise([0, *(torn or [len(body) // 3]), len(body) - 5, len(body)])
        pieces = scene.response([body[start:end] for start, end in ends])
        answer = await harness.ask(request, changed(pieces, pause=GAP))
        expect_content(scene.content, read_answer(subject, route, answer, stream=True))

    async def given_up(harness: ProviderHarness) -> None:
        failed = changed(apply_fault(scene, "error-mid-stream"), hang=True)
        await harness.ask(request, failed)
        await _in_time(_gone(harness), "the vendor is still kept busy after its stream has failed")

    if STREAM not in subject.lacks:
        yield Case(
            name=f"{where}: gives up what has failed",
            advice="Close the response that the transport gave in the aclose of your own.",
            run=given_up,
        )
    yield Case(
        name=f"{where}: every cut",
        advice="Hold an unfinished frame or character until the rest of its bytes has come.",
        run=_at_every_cut(subject, route, scene),
    )
    yield Case(
        name=f"{where}: crumbs",
        advice="An executor hands on each piece as it comes and does not take it for a frame.",
        run=in_crumbs,
    )


def early_leave_case(subject: ProviderUnderTest, route: Route) -> Case:
    """The first text arrives while the vendor still sends, and the client may disconnect then."""
    scene = MockAnswer(dialect=route.dialect, model=route.model.id, stream=True)

    async def run(harness: ProviderHarness) -> None:
        pieces = scene.pieces()
        first = max(at for at, frame in enumerate(scene.frames()) if frame.role == "text")
        waiting = changed(scene.response(pieces[: first + 1]), hang=True)
        harness.vendor.script = lambda request: waiting
        call = harness.call(build_request(subject, route, stream=True))
        running = asyncio.create_task(call.run())
        try:
            await _in_time(call.seen(b"Gr"), "the client sees nothing of a slow answer")
            call.leave()
            await _in_time(
                _gone(harness), "the vendor is still kept busy after the client has left"
            )
        finally:
            call.leave()
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)

    return Case(
        name=f"{subject.spec.id}: {route}-stream: first words at once, and leaving",
        advice="Hand pieces on as they come, close the response in aclose, and let "
        "CancelledError pass.",
        run=run,
    )


async def _gone(harness: ProviderHarness) -> None:
    while not harness.vendor.gone:
        await asyncio.sleep(0.01)


async def _in_time(work: Coroutine[Any, Any, None], message: str) -> None:
    try:
        await asyncio.wait_for(work, SOON)
    except TimeoutError:
        raise CaseFailed(f"{message}, {SOON:g} seconds on") from None
