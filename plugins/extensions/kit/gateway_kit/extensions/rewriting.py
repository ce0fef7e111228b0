"""Cases about interceptors that rewrite calls: what they do not name survives, in every format."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from functools import partial
from typing import Any

import msgspec
from msgspec.structs import replace

from gateway_core import BadRequest, Call, Conversation
from gateway_kit.case import Case, CaseFailed, expect, expect_none
from gateway_kit.hook_calls import call_hook
from gateway_kit.mock_vendor import MockAnswer
from gateway_kit.providers.chat_requests import build_request
from gateway_kit.providers.subject import Route

from .call_comparison import effect, find_losses
from .filled_settings import WORD, fill_settings
from .harness import ExtensionHarness
from .interceptors import REFUSED, STALL, run_before
from .rich_calls import (
    ANSWERED,
    ARGUMENT,
    FIRST,
    FOUND,
    IMAGE,
    LAST,
    OWN,
    RULE,
    TOOLS,
    UNKNOWN,
    Variant,
    rich_call,
    rich_calls,
)
from .sample_calls import ordinary_calls, texts_of
from .subject import ExtensionUnderTest
from .timing import expect_prompt, longest_stop

OF_MESSAGES = frozenset({"openai", "claude", "ollama"})
"""Client formats whose conversation stands in a member of the same name."""
MARKS = (" of alice", " of bob")
"""Ends of the texts of two callers."""
MARKED = (RULE, FIRST, ANSWERED, FOUND, LAST, IMAGE, ARGUMENT, *TOOLS, *UNKNOWN, *OWN)
"""Texts of a rich call."""
TIMES = 3

Check = Callable[[ExtensionHarness, Any, "Setting"], Coroutine[Any, Any, None]]
CASES: dict[str, tuple[str, Check]] = {}
"""By the case's name: its advice and its check of one interceptor."""


class Setting(msgspec.Struct, frozen=True):
    """What an interceptor may look for with the settings that it was made with."""

    texts: tuple[str, ...]

    def variant(self, **more: Any) -> Variant:
        """Calls with each text of the settings, so that the interceptor acts."""
        return Variant(words=" ".join([*self.texts, WORD]), **more)


def rewriting_case(name: str, advice: str) -> Callable[[Check], Check]:
    """Add a case to CASES."""

    def add(check: Check) -> Check:
        CASES[name] = (advice, check)
        return check

    return add


def rewriting_cases(subject: ExtensionUnderTest) -> Iterator[Case]:
    """What holds of every interceptor, with its usual settings and with words filled in."""
    for name, (advice, check) in CASES.items():
        yield Case(
            name=f"{subject.module}: interceptor: {name}",
            advice=advice,
            run=partial(_each, subject, check),
            needs_gateway=False,
        )
    yield Case(
        name=f"{subject.module}: interceptor: what vendors get",
        advice="Let a vendor have what the client sent, but for what you change, and take records "
        "of calls that fail or whose client leaves.",
        run=_sent,
    )


async def _each(subject: ExtensionUnderTest, check: Check, harness: ExtensionHarness) -> None:
    usual = Setting(tuple(harness.texts))
    for interceptor in call_hook(subject.plugin, "register_interceptors"):
        await check(harness, interceptor, usual)
    filled = fill_settings(harness.settings)
    if filled is None:
        return
    arguments = {"settings": filled}
    try:
        interceptors = list(call_hook(subject.plugin, "register_interceptors", arguments))
    except Exception:  # such settings mean nothing to the plugin
        return
    for interceptor in interceptors:
        await check(harness, interceptor, Setting((*harness.texts, *texts_of(filled))))


@rewriting_case(
    "keeps the rest",
    "Copy what you do not change: unknown members, tools, images, system texts and the order of "
    "messages.",
)
async def keeps_the_rest(harness: ExtensionHarness, interceptor: Any, setting: Setting) -> None:
    for variant in (Variant(), setting.variant(), setting.variant(as_list=True)):
        for call in rich_calls(harness.vendor, variant):
            await _expect_kept(interceptor, call, variant, setting)


@rewriting_case(
    "every format alike",
    "Do the same for all client formats, whole and streamed, for texts and lists of parts: read "
    "the call with call.read_conversation().",
)
async def acts_alike(harness: ExtensionHarness, interceptor: Any, setting: Setting) -> None:
    effects: dict[str, frozenset[str]] = {}
    for client in harness.clients():
        usual = await _effect(harness, interceptor, client, setting.variant())
        streamed = await _effect(harness, interceptor, client, setting.variant(), stream=True)
        listed = await _effect(harness, interceptor, client, setting.variant(as_list=True))
        same = f"{client}: it changes {_named(usual)}"
        expect(streamed == usual, f"{same}, and of a streamed call {_named(streamed)}")
        expect(listed == usual, f"{same}, and where it is a list of parts {_named(listed)}")
        effects[client] = usual
    acting = {client: kinds for client, kinds in effects.items() if kinds}
    shown = "; ".join(f"{client}: {_named(kinds)}" for client, kinds in effects.items())
    expect(len(set(acting.values())) <= 1, f"it does not change the same in all formats: {shown}")
    whole = len(acting) in (0, 1, len(effects)) or set(acting) == OF_MESSAGES & set(effects)
    expect(whole, f"it acts in some formats only: {shown}")


@rewriting_case(
    "two at once", "Keep what you know of a call in variables of before(), not in the interceptor."
)
async def keeps_two_apart(harness: ExtensionHarness, interceptor: Any, setting: Setting) -> None:
    work = []
    for client in harness.clients():
        for mark in MARKS:
            variant = setting.variant(mark=mark)
            call = rich_call(harness.vendor, client, variant)
            work.append(_expect_kept(interceptor, call, variant, setting, apart_from=MARKS))
    await asyncio.gather(*work)


@rewriting_case(
    "nothing carried over", "Begin each call anew: nothing of one call may be in the next one."
)
async def carries_nothing_over(
    harness: ExtensionHarness, interceptor: Any, setting: Setting
) -> None:
    plain = {call.format: call for _, call in ordinary_calls(harness.vendor) if not call.stream}
    for client in harness.clients():
        rich = rich_call(harness.vendor, client, setting.variant(mark=MARKS[0]))
        sizes = []
        for _ in range(TIMES):
            result = await run_before(interceptor, rich, client)
            if isinstance(result, Call):
                after = _read(result, client)
                sizes.append(len(after.instructions) + len(after.turns))
        grows = len(sizes) == TIMES and sorted(set(sizes)) == sizes
        expect(not grows, f"{client}: the same call becomes longer each time it is made")
        other = rich_call(harness.vendor, client, setting.variant(mark=MARKS[1]))
        for call, marks in ((other, MARKS[:1]), (plain[client], (*MARKED, *MARKS))):
            result = await run_before(interceptor, call, client)
            if isinstance(result, Call):
                expect_none(
                    f"{client}: {mark.strip()!r} of the call before is in a call"
                    for mark in marks
                    if _holds(result, client, mark)
                )


def _holds(call: Call, about: str, mark: str) -> bool:
    in_headers = mark.replace(" ", "-") in " ".join(call.headers)
    return in_headers or json_text(mark) in msgspec.json.encode(_read(call, about))


@rewriting_case(
    "in turn where it acts", "Run what takes time in a thread: all other calls wait for the loop."
)
async def gives_turns_where_it_acts(
    harness: ExtensionHarness, interceptor: Any, setting: Setting
) -> None:
    for client in harness.clients():
        call = rich_call(harness.vendor, client, setting.variant())
        work = partial(run_before, interceptor, call, client)
        await expect_prompt(work, f"{client}: before()")
        longest = await longest_stop(work)
        if longest >= STALL:  # the machine may have been busy
            longest = min([longest, *[await longest_stop(work) for _ in range(3)]])
        expect(longest < STALL, f"{client}: before() stops everything for {longest * 1000:.0f} ms")


async def _sent(harness: ExtensionHarness) -> None:
    """Through a whole gateway, in every client format."""
    for route in harness.vendor.routes():
        for stream in (False, True):
            harness.calls.reset()
            await _expect_sent(harness, route, stream=stream)


async def _expect_sent(harness: ExtensionHarness, route: Route, *, stream: bool) -> None:
    """An answer, a client that leaves, and a refusal of the vendor. Raises CaseFailed."""
    usual = build_request(harness.vendor, route, stream=stream)
    body = rich_call(harness.vendor, route.client, Variant(), stream=stream).body
    request = replace(usual, body=body)
    wanted = harness.calls.exchange(harness.vendor, request).request.body
    scene = MockAnswer(dialect=route.dialect, model=route.model.id, stream=stream)
    warnings = len(harness.warnings.messages)
    answer = await harness.calls.ask(request, scene.response())
    expect(answer.status < 500, f"{route.client}: {answer.status}: {answer.text[:200]}")
    expect_none(harness.warnings.messages[warnings:])
    if answer.status == 200:
        sent = harness.calls.received()[-1]
        asked = sent.json().get("stream", False)
        expect(asked is stream, f"{route.client}: the vendor is asked for stream {asked}")
        texts = [json_text(mark) for mark in MARKED]
        lost = [text for text in texts if text in wanted and text not in sent.body]
        expect(not lost, f"{route.client}: vendors do not get {b', '.join(lost).decode()!r}")
    leaving = harness.calls.call(request)
    leaving.leave()
    await asyncio.gather(leaving.run(), return_exceptions=True)
    failed = await harness.calls.ask(request, scene.refusal(500, "The vendor is ill"))
    expect(failed.status >= 400, f"{route.client}: a vendor's failure is lost")
    await harness.gateway.core.ledger.flush()
    expect_none(harness.warnings.messages[warnings:])


def json_text(text: str) -> bytes:
    """As it stands inside of a JSON text."""
    return msgspec.json.encode(text)[1:-1]


async def _expect_kept(
    interceptor: Any,
    call: Call,
    variant: Variant,
    setting: Setting,
    *,
    apart_from: tuple[str, ...] = (),
) -> None:
    """Raises CaseFailed."""
    about = f"{call.format}{' streamed' if call.stream else ''}"
    before = _read(call, about)
    as_it_was = msgspec.json.encode(before)
    result = await run_before(interceptor, call, about)
    expect(msgspec.json.encode(before) == as_it_was, f"{about}: it changes what others read")
    if not isinstance(result, Call):
        return
    after = _read(result, about)
    faults = list(find_losses(before, after, variant, setting.texts))
    expect(not faults, f"{about}: {'; '.join(faults[:3])}")
    expect_none(
        f"{about}: it goes on with the words of another call"
        for mark in apart_from
        if mark != variant.mark and mark.encode() in msgspec.json.encode(after)
    )


async def _effect(
    harness: ExtensionHarness,
    interceptor: Any,
    client: str,
    variant: Variant,
    *,
    stream: bool = False,
) -> frozenset[str]:
    call = rich_call(harness.vendor, client, variant, stream=stream)
    before = _read(call, client)
    result = await run_before(interceptor, call, client)
    if result is REFUSED:
        return frozenset({"nothing, for it refuses the call"})
    return effect(before, _read(result, client))


def _read(call: Any, about: str) -> Conversation:
    """Raises CaseFailed."""
    expect(isinstance(call, Call), f"{about}: before() gives {type(call).__name__}")
    try:
        conversation: Conversation | None = call.read_conversation()
    except BadRequest as error:
        raise CaseFailed(f"{about}: the changed call cannot be read: {error}") from error
    if conversation is None:
        raise CaseFailed(f"{about}: the changed call is no conversation any more")
    return conversation


def _named(kinds: frozenset[str]) -> str:
    return ", ".join(sorted(kinds)) or "nothing"
