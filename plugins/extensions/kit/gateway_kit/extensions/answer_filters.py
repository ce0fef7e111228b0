"""Cases about filters of answers: whole and streamed they do the same, however a stream is cut."""

import asyncio
import gc
import tracemalloc
from collections.abc import Awaitable, Coroutine, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from msgspec.structs import replace

from gateway_core import Choice, GatewayError, StopAnswer, StreamEvent, Target, Text, ToolCall
from gateway_filters.guarded import (
    LONGEST_CHECK,
    LONGEST_LOOK,
    events_fault,
    reply_fault,
)
from gateway_filters.window import Window
from gateway_kit.case import Case, CaseFailed, expect, expect_none
from gateway_kit.mock_vendor import MockAnswer
from gateway_kit.mock_vendor.content import CONTENTS
from gateway_kit.providers.chat_requests import build_request
from gateway_kit.witness import Witness

from .harness import ExtensionHarness
from .object_checks import ObjectChecks
from .sample_answers import (
    CALL,
    CORES,
    CUTS,
    answer_texts,
    marked,
    odd_replies,
    odd_streams,
    rich_reply,
    streamed,
    streamed_choices,
    text_of,
    whole,
    without_text,
)
from .sample_calls import PRIVATE, ordinary_calls
from .subject import ExtensionUnderTest
from .timing import LONGEST, expect_prompt, longest_stop

CHECKS = ObjectChecks("answers", "register_answer_filters", "filter")
check = CHECKS.add
STALL = 0.05
"""Seconds for which nothing else may run, of the best of some tries."""
ROUNDS, SIZE = 20, 16384
AT_ONCE = 8

ENDED = "(ended)"
"""Stands for what a filter ended."""


def answer_filter_cases(subject: ExtensionUnderTest) -> Iterator[Case]:
    """What holds of every filter that the extension brings."""
    yield from CHECKS.cases(subject)
    yield Case(
        name=f"{subject.module}: answers: in a gateway",
        advice="Let an ordinary answer pass, or end it with StopAnswer or a GatewayError.",
        run=_served,
    )


@check("declared", "Give order and look_ahead whole numbers, timeout seconds, required a bool.")
async def fields_are_typed(harness: ExtensionHarness, each: Any) -> None:
    for name in ("order", "look_ahead"):
        expect(type(getattr(each, name)) is int, f"{name} is {getattr(each, name)!r}")
    expect(0 <= each.look_ahead <= LONGEST_LOOK, f"look_ahead is {each.look_ahead}")
    is_number = type(each.timeout) in (int, float)
    expect(is_number and 0 < each.timeout <= LONGEST_CHECK, f"timeout is {each.timeout!r}")
    expect(type(each.required) is bool, f"required is {each.required!r}")


@check("opens", "Give None or an object with reply() and events() from open(), at once.")
async def opens_at_once(harness: ExtensionHarness, each: Any) -> None:
    for about, call in ordinary_calls(harness.vendor):
        seconds = await longest_stop(partial(_open_awaited, harness, each, call))
        expect(seconds < STALL, f"{about}: open() takes {seconds * 1000:.0f} ms")
        opened = _open(harness, each, call)
        sound = opened is None or all(
            callable(getattr(opened, name, None)) for name in ("reply", "events")
        )
        expect(sound, f"{about}: open() gives {type(opened).__name__}")


@check("in time", "Await what takes time, and give up soon: the client waits for it.")
async def finishes_in_time(harness: ExtensionHarness, each: Any) -> None:
    for text in answer_texts(harness.texts):
        await expect_prompt(partial(_whole, harness, each, text), "reply()")
        await expect_prompt(partial(_streamed, harness, each, text, 1000), "events()")


@check("in turn", "Run what takes time in a thread: all other calls wait for the event loop.")
async def gives_turns(harness: ExtensionHarness, each: Any) -> None:
    text = next(answer_texts())
    for name, work in (("reply()", _whole), ("events()", partial(_streamed, cut=1000))):
        longest = min([await longest_stop(partial(work, harness, each, text)) for _ in range(4)])
        expect(longest < STALL, f"{name} stops everything else for {longest * 1000:.0f} ms")


@check("whole", "Give the Reply to go on with, changed with msgspec.structs.replace.")
async def replies_are_sound(harness: ExtensionHarness, each: Any) -> None:
    for text in answer_texts(harness.texts):
        reply = whole(text, CALL)
        result = await _reply(_open(harness, each), reply)
        if result is ENDED:
            continue
        fault = reply_fault(result)
        expect(not fault, fault)
        same = without_text(result) == without_text(reply)
        expect(same, f"of {text[:60]!r} it changes more than the text: the tool call or the end")


@check("events", "Give as many events as you got; change the text of a PartGrew only.")
async def events_are_sound(harness: ExtensionHarness, each: Any) -> None:
    for text in answer_texts(harness.texts):
        for cut in CUTS:
            given = [event for piece in streamed(text, cut, CALL) for event in piece]
            result = await _events(_open(harness, each), given, is_last=True)
            if result is not ENDED:
                fault = events_fault(given, result)
                expect(not fault, fault)
                expect(text_of(result, 1) == CALL.arguments, "it changes a tool call")


@check(
    "cuts",
    "Declare a look_ahead as long as what you look for, and keep what is to be known of a stream.",
)
async def cuts_make_no_difference(harness: ExtensionHarness, each: Any) -> None:
    """A stream shows what the whole answer shows, wherever it is cut; or both are ended."""
    for text in answer_texts(harness.texts):
        expected = await _whole(harness, each, text)
        for cut in CUTS:
            shown = await _streamed(harness, each, text, cut)
            same = shown == expected
            message = f"in pieces of {cut} {text[:60]!r} becomes {shown[:60]!r}"
            expect(same, f"{message}, and whole {expected[:60]!r}")


@check("two choices", "Look at every choice and every text of an answer, each by itself.")
async def choices_are_apart(harness: ExtensionHarness, each: Any) -> None:
    texts = [f"{core} {' '.join(harness.texts)}." for core in CORES[:2]]
    whole_reply = replace(whole(""), choices=tuple(whole(text).choices[0] for text in texts))
    result = await _reply(_open(harness, each), whole_reply)
    if result is ENDED:
        return
    expected = [text for choice in result.choices for text in _texts(choice)]
    for cut in CUTS[1:4]:
        shown = await _moved(harness, each, streamed_choices(texts, cut))
        if shown is not None:
            streams = [text_of(shown, choice=choice) for choice in range(len(texts))]
            expect(streams == expected, f"two choices become {streams!r}, and whole {expected!r}")


@check(
    "keeps the rest",
    "Change texts with msgspec.structs.replace: ids, usage, order, thinking and sources stay.",
)
async def keeps_the_rest(harness: ExtensionHarness, each: Any) -> None:
    for words in ("", " ".join(harness.texts)):
        reply = rich_reply(words)
        result = await _reply(_open(harness, each), reply)
        if result is ENDED:
            continue
        for name in ("id", "model", "usage"):
            old, new = getattr(reply, name), getattr(result, name)
            expect(new == old, f"{name} is {new!r} and was {old!r}")
        expect(len(result.choices) == len(reply.choices), "a choice is gone")
        changed = []
        for before, after in zip(reply.choices, result.choices, strict=True):
            expect(after.finish == before.finish, f"an answer ends with {after.finish}")
            expect(
                list(map(type, after.parts)) == list(map(type, before.parts)),
                "the parts of a choice are others, or in another order",
            )
            for old, new in zip(before.parts, after.parts, strict=True):
                if isinstance(old, Text):
                    changed.append(new.text != old.text)
                    same = (new.citations, dict(new.extra)) == (old.citations, dict(old.extra))
                    expect(changed[-1] or same, "a text that stays has lost its sources")
                elif isinstance(old, ToolCall):
                    expect(new == old, "it changes a tool call")
        expect(len(set(changed)) == 1, "it looks at some of the texts only")


@check("odd answers", "Raise nothing but StopAnswer or a GatewayError, whatever an answer holds.")
async def accepts_odd_answers(harness: ExtensionHarness, each: Any) -> None:
    for about, reply in odd_replies():
        result = await _reply(_open(harness, each), reply)
        fault = "" if result is ENDED else reply_fault(result)
        expect(not fault, f"{about}: {fault}")
    for about, events in odd_streams():
        result = await _events(_open(harness, each), events, is_last=True)
        fault = "" if result is ENDED else events_fault(events, result)
        expect(not fault, f"{about}: {fault}")


@check("apart", "Keep what you know of an answer in the object that open() gives.")
async def keeps_answers_apart(harness: ExtensionHarness, each: Any) -> None:
    texts = [marked(number, harness.texts) for number in range(AT_ONCE)]
    alone = [await _streamed(harness, each, text, 5) for text in texts]
    work = (_streamed(harness, each, text, 5) for text in texts)
    expect(await asyncio.gather(*work) == alone, "answers at the same time get into one another")
    work = (_whole(harness, each, text) for text in texts)
    mixed = await asyncio.gather(*work)
    wrong = (f"answer-{n:04d}" not in text for n, text in enumerate(mixed) if text != ENDED)
    expect(not any(wrong), "answers at the same time get into one another")


@check(
    "lets answers pass", "End an answer for a reason; with usual settings an ordinary one passes."
)
async def lets_pass(harness: ExtensionHarness, each: Any) -> None:
    for work in (_whole, partial(_streamed, cut=3)):
        shown = [await work(harness, each, text) for text in answer_texts()]
        expect(set(shown) != {ENDED}, "every ordinary answer is ended")


@check("private", "Neither log, print nor write down what an answer says, and keep none of it.")
async def keeps_private(harness: ExtensionHarness, each: Any) -> None:
    with Witness() as witness:
        await _whole(harness, each, marked(0, harness.texts))
        await _streamed(harness, each, marked(1, harness.texts), 7)
    expect(PRIVATE not in witness.text, "what an answer says is in the log or the output")
    own = str(harness.folder)
    expect_none(f"{path} is written to" for path in witness.written if own not in path)


@check("memory", "Keep nothing of an answer once it has ended.")
async def memory_is_flat(harness: ExtensionHarness, each: Any) -> None:
    async def ask(times: int) -> None:
        for number in range(times):
            await _whole(harness, each, f"{number} " * (SIZE // 4))
            await _streamed(harness, each, f"{number} " * (SIZE // 4), 1000)

    await ask(3)
    tracemalloc.start()
    try:
        await ask(1)
        before = tracemalloc.get_traced_memory()[0]
        await ask(ROUNDS)
        gc.collect()
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    expect(grown < ROUNDS * SIZE // 4, f"{ROUNDS} answers leave {grown} bytes")


async def _served(harness: ExtensionHarness) -> None:
    """Every client format through a whole gateway, in odd pieces too."""
    for route in harness.vendor.routes():
        for name, content in CONTENTS.items():
            for stream in (False, True):
                scene = MockAnswer(
                    dialect=route.dialect, content=content, model=route.model.id, stream=stream
                )
                body = scene.body()
                pieces = [body[begin : begin + 11] for begin in range(0, len(body), 11)]
                request = build_request(harness.vendor, route, stream=stream)
                before = len(harness.warnings.messages)
                answer = await harness.calls.ask(
                    request, scene.response(pieces if stream else None)
                )
                about = f"{route.client}, {name}"
                expect(answer.status < 500, f"{about}: {answer.status}: {answer.text[:200]}")
                await harness.gateway.core.ledger.flush()
                expect(
                    len(harness.warnings.messages) == before,
                    "; ".join(harness.warnings.messages[before:]),
                )


async def _open_awaited(harness: ExtensionHarness, each: Any, call: Any) -> None:
    _open(harness, each, call)


def _open(harness: ExtensionHarness, each: Any, call: Any = None) -> Any:
    """What looks at an answer; ``None`` where the filter lets it pass. Raises CaseFailed."""
    route = harness.vendor.routes()[0]
    if call is None:
        _, call = next(ordinary_calls(harness.vendor))
    try:
        opened = each.open(call, Target(harness.vendor.spec, route.model))
    except GatewayError:
        return None
    except Exception as error:  # the plugin's code may raise anything; that is the failure
        raise CaseFailed(f"open() raises {type(error).__name__}: {error}") from error
    if isinstance(opened, Coroutine):
        opened.close()
        raise CaseFailed("open() is async")
    return opened


async def _reply(opened: Any, reply: Any) -> Any:
    return reply if opened is None else await _run(opened.reply(reply), "reply()")


async def _events(opened: Any, events: Sequence[StreamEvent], *, is_last: bool) -> Any:
    if opened is None:
        return events
    return await _run(opened.events(tuple(events), is_last=is_last), "events()")


async def _run(work: Awaitable[Any], what: str) -> Any:
    """What a filter gives, or ENDED. Raises CaseFailed."""
    try:
        async with asyncio.timeout(LONGEST):
            return await work
    except TimeoutError:
        raise CaseFailed(f"{what} is not done after {LONGEST:g} seconds") from None
    except StopAnswer:
        return ENDED
    except GatewayError as error:
        sound = 400 <= error.status < 600 and bool(error.message)
        expect(sound, f"it refuses with status {error.status} and {error.message!r}")
        return ENDED
    except Exception as error:  # the plugin's code may raise anything; that is the failure
        raise CaseFailed(f"{what} raises {type(error).__name__}: {error}") from error


async def _whole(harness: ExtensionHarness, each: Any, text: str) -> str:
    """The text of a whole answer as its client gets it, or ENDED."""
    result = await _reply(_open(harness, each), whole(text))
    if result == ENDED:
        return ENDED
    fault = reply_fault(result)
    expect(not fault, fault)
    return "".join(text for choice in result.choices for text in _texts(choice))


def _texts(choice: Choice) -> list[str]:
    return [str(getattr(part, "text", "")) for part in choice.parts]


async def _streamed(harness: ExtensionHarness, each: Any, text: str, cut: int) -> str:
    """The text of a streamed answer as its client gets it, or ENDED."""
    shown = await _moved(harness, each, streamed(text, cut))
    return ENDED if shown is None else text_of(shown)


async def _moved(
    harness: ExtensionHarness, each: Any, pieces: Iterable[Sequence[StreamEvent]]
) -> list[StreamEvent] | None:
    """The events of a stream as its client gets them; ``None`` where it is ended."""
    call = next(call for _, call in ordinary_calls(harness.vendor) if call.stream)
    opened = _open(harness, each, call)
    if opened is None:
        return [event for piece in pieces for event in piece]
    window = Window(_Looking(each, opened))
    shown: list[StreamEvent] = []
    try:
        for piece in pieces:
            shown += await window.move(piece, is_last=False)
        shown += await window.move((), is_last=True)
    except _Ended:
        return None
    return shown


class _Ended(Exception):
    """A filter has ended the answer."""


class _Looking:
    """What looks at one answer, without what a gateway does for it."""

    is_active = True

    def __init__(self, each: Any, opened: Any) -> None:
        self.look_ahead: int = each.look_ahead
        self._opened = opened

    async def events(
        self, events: Sequence[StreamEvent], *, is_last: bool
    ) -> Sequence[StreamEvent]:
        """Raises CaseFailed, and _Ended."""
        result: Any = await _events(self._opened, events, is_last=is_last)
        if result is ENDED:
            raise _Ended
        fault = events_fault(events, result)
        expect(not fault, fault)
        return list(result)
