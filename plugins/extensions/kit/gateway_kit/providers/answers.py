"""Cases about answers in good health: text, thinking, tools, every cut, and leaving early."""

import asyncio
from collections.abc import Coroutine, Iterator
from dataclasses import replace as changed
from itertools import pairwise
from typing import Any

from gateway_core import UpstreamError
from gateway_kit.case import Case, Run, Unmet, expect, none_of
from gateway_kit.mock_vendor import SAYINGS, Asked, Content, Said, Scene, spoil

from .asgi_client import Answer
from .chat_requests import TOOL, question
from .exchanges import Heard, carried, cuts, heard
from .harness import Bench
from .subject import Route, Subject

GAP = 0.004
"""Seconds between pieces, so that the network does not join them."""
SOON = 2.0
"""Seconds within which the vendor must learn that the client has gone."""


def answers(subject: Subject, route: Route, *, stream: bool) -> Iterator[Case]:
    """Each thing that an answer may say."""
    where = f"{subject.spec.id}: {route}-{'stream' if stream else 'whole'}"
    for name, content in SAYINGS.items():
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


def _saying(subject: Subject, route: Route, content: Content, *, stream: bool) -> Run:
    async def run(bench: Bench) -> None:
        scene = Scene(dialect=route.dialect, content=content, model=route.model.id, stream=stream)
        asked = question(subject, route, stream=stream, tools=bool(content.calls))
        answer = await bench.ask_scene(asked, scene)
        check(content, read(subject, route, answer, stream=stream))
        if content.calls:
            none_of(_tool_faults(subject, route, scene, bench.asked()[-1], answer))

    return run


def _tool_faults(
    subject: Subject, route: Route, scene: Scene, asked: Asked, answer: Answer
) -> Iterator[str]:
    """Whether the vendor knows the tool, and the client the calls by which it answers them."""
    if "tools" not in {*subject.spec.drop, *route.model.unsupported} and TOOL not in asked.text:
        yield "the vendor is not told of the tool that the client offers"
    if route.passes_through:
        for id in (call.id for call in scene.content.calls):
            if id.encode() in scene.body() and id not in answer.text:
                yield f"the id {id} of a call is lost"


def read(subject: Subject, route: Route, answer: Answer, *, stream: bool) -> Heard:
    """What the client heard. Raises Unmet for anything but a sound answer."""
    expect(answer.status == 200, f"status {answer.status}: {answer.text[:200]}")
    try:
        return heard(subject, route, answer.body, stream=stream)
    except UpstreamError as error:
        raise Unmet(f"the client's answer cannot be read: {error.message}") from error


def check(content: Content, said: Heard) -> None:
    """Whether the client heard what the vendor said."""
    expect(said.text == content.words, f"the text {said.text!r} instead of {content.words!r}")
    wanted = tuple((call.name, dict(call.arguments)) for call in content.calls)
    expect(said.calls == wanted, f"the calls {said.calls} instead of {wanted}")
    thought = "".join(content.thinking)
    expect(said.thinking == thought, f"the thinking {said.thinking!r} instead of {thought!r}")
    finish = "tool_calls" if content.calls else "stop"
    expect(said.finish == finish, f"it ends with {said.finish} instead of {finish}")


def _at_every_cut(subject: Subject, route: Route, scene: Scene) -> Run:
    asked = question(subject, route, stream=True)

    async def run(bench: Bench) -> None:
        def said(*pieces: bytes) -> Heard:
            exchange = bench.exchange(subject, asked)
            return heard(subject, route, carried(exchange, pieces), stream=True)

        body, frames = scene.body(), [frame.data for frame in scene.frames()]
        wanted = said(body)
        for at in cuts(body, frames, every=subject.thorough):
            found = said(body[:at], body[at:])
            expect(found == wanted, f"cut at byte {at}, the answer says {found}")

    return run


def streams(subject: Subject, route: Route) -> Iterator[Case]:
    """What only a stream can get wrong."""
    where = f"{subject.spec.id}: {route}-stream"
    scene = Scene(
        dialect=route.dialect, content=SAYINGS["thinking"], model=route.model.id, stream=True
    )
    asked = question(subject, route, stream=True)

    async def in_crumbs(bench: Bench) -> None:
        body = scene.body()
        torn = [at for at in range(1, len(body)) if 0x80 <= body[at] < 0xC0][:3]
        ends = pairwise([0, *(torn or [len(body) // 3]), len(body) - 5, len(body)])
        pieces = scene.said([body[start:end] for start, end in ends])
        answer = await bench.ask(asked, changed(pieces, pause=GAP))
        check(scene.content, read(subject, route, answer, stream=True))

    async def given_up(bench: Bench) -> None:
        failed = changed(spoil(scene, "error-mid-stream"), hang=True)
        await bench.ask(asked, failed)
        await _in_time(_gone(bench), "the vendor is still kept busy after its stream has failed")

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


def leaving(subject: Subject, route: Route) -> Case:
    """The first words come while the vendor still speaks, and a client may go then."""
    scene = Scene(dialect=route.dialect, model=route.model.id, stream=True)

    async def run(bench: Bench) -> None:
        pieces = scene.pieces()
        first = max(at for at, frame in enumerate(scene.frames()) if frame.does == "text")
        waiting = changed(scene.said(pieces[: first + 1]), hang=True)
        await _leave_early(bench, subject, route, waiting)

    return Case(
        name=f"{subject.spec.id}: {route}-stream: first words at once, and leaving",
        advice="Hand pieces on as they come, close the response in aclose, and let "
        "CancelledError pass.",
        run=run,
    )


async def _leave_early(bench: Bench, subject: Subject, route: Route, said: Said) -> None:
    """The client sees the first words while the vendor still speaks, and hangs up."""
    bench.vendor.script = lambda asked: said
    asking = bench.asking(question(subject, route, stream=True))
    running = asyncio.create_task(asking.run())
    try:
        await _in_time(asking.seen(b"Gr"), "the client sees nothing of a slow answer")
        asking.leave()
        await _in_time(_gone(bench), "the vendor is still kept busy after the client has left")
    finally:
        asking.leave()
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def _gone(bench: Bench) -> None:
    while not bench.vendor.gone:
        await asyncio.sleep(0.01)


async def _in_time(work: Coroutine[Any, Any, None], told: str) -> None:
    try:
        await asyncio.wait_for(work, SOON)
    except TimeoutError:
        raise Unmet(f"{told}, {SOON:g} seconds on") from None
