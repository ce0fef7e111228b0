"""Cases about jobs, which are submitted, looked at and fetched: a vendor is asked at its own job,
with a pause, until the job has ended well or badly."""

import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote

import msgspec
from msgspec.structs import replace

from gateway_core import ServiceExchange, Step, UpstreamRequest
from gateway_kit.case import Case, CaseFailed, expect_none

from ..harness import ProviderHarness
from ..service_samples import JSON
from .growth import Path, at, put
from .requests import address_faults, head_faults, keys
from .service_call import ServiceCall, feed_all
from .traces import texts_of

ODD_ID = "kit/4731?x=1&y=%2F#z"
"""An id that changes an address unless it is quoted as a path or query asks."""
JOBS = ("kit-job-4732", "kit-job-4733")
LOOKS = 5
REASON = "No colours are left 4734"
FAILED = (
    *("failed", "failure", "fail", "error", "errored", "cancelled", "canceled", "expired"),
    *("rejected", "aborted", "timeout", "moderated", "content moderated", "not found"),
)
"""Words of vendors for a job that has ended without a result."""
FAILED_NUMBERS = (-1, 2, 3, 4)
UNKNOWN = "kit-unheard-of"
_REASONS = (
    *("error", "message", "detail", "details", "reason", "failure", "failure_reason"),
    *("error_message", "errorMessage", "status_message", "msg"),
)
Answers = tuple[Any, ...]
"""What a vendor says, decoded."""


def job_cases(call: ServiceCall) -> Iterator[Case]:
    """Cases for a sample with answers before its last."""
    if not call.sample.before:
        return

    async def further(harness: ProviderHarness) -> None:
        expect_none(step_faults(call))

    async def looks(harness: ProviderHarness) -> None:
        expect_none(look_faults(call))

    async def quoted(harness: ProviderHarness) -> None:
        expect_none(id_faults(call))

    async def apart(harness: ProviderHarness) -> None:
        expect_none(mixed_faults(call))

    async def ends_badly(harness: ProviderHarness) -> None:
        expect_none(failure_faults(call))

    async def stops(harness: ProviderHarness) -> None:
        expect_none(cancel_faults(call))

    yield call.case(
        "further requests",
        "Ask on at declared addresses with the key, or at a public one without it.",
        further,
    )
    yield call.case(
        "looks",
        "Submit once, then look again after a pause, as often as the job runs.",
        looks,
    )
    yield call.case("job's id", "Quote a job's id where it stands in an address.", quoted)
    yield call.case("jobs apart", "Look at the job of the same exchange.", apart)
    yield call.case(
        "failed jobs",
        "End a job that has failed as a failure with the vendor's reason, and take no state for "
        "success that the vendor does not document.",
        ends_badly,
    )
    yield call.case(
        "stopping", "Cancel the exchange's own job, as long as it may still run.", stops
    )


def step_faults(call: ServiceCall) -> Iterator[str]:
    """What is wrong with the requests that follow the first."""
    for step in call.steps(call.open()):
        request = step.request
        yield from head_faults(call, request)
        if not step.is_public:
            yield from (*address_faults(call, request), *keys(call, request))
        elif (secret := call.subject.account.secret) and any(
            secret in text for text in (*request.headers.values(), unquote(request.url))
        ):
            yield f"the key goes to {request.url}"


def look_faults(call: ServiceCall) -> Iterator[str]:
    exchange = call.open()
    first = exchange.request
    last: UpstreamRequest | None = None
    deadline: float | None = None
    for step in call.steps(exchange):
        yield from _repeat_faults(first, last, step)
        last, deadline = step.request, step.deadline
    running = call.sample.before[-1]
    if last is None or not _is_look(call):
        return
    for _ in range(LOOKS):
        feed_all(exchange, (running,), JSON)
        if exchange.failure is not None or exchange.following is None:
            yield "it gives up a job that still runs"
            return
        yield from _repeat_faults(first, last, exchange.following)
        if exchange.following.request != last:
            yield "a job that still runs is looked at elsewhere"
            return
        if exchange.following.deadline != deadline:
            yield "a later look has another deadline"
            return
    output = feed_all(exchange, (call.sample.reply,), call.sample.reply_type)
    if exchange.following is not None or not output.body:
        yield "after the result it asks on"


def _repeat_faults(
    first: UpstreamRequest, last: UpstreamRequest | None, step: Step
) -> Iterator[str]:
    same = step.request == last
    if step.request == first and first.method != "GET":
        yield "the job is submitted again"
    if same and step.delay <= 0:
        yield "it looks again without a pause"


def _is_look(call: ServiceCall) -> bool:
    """Whether the last answer before the result has the job still running: the same is asked
    again after it."""
    asked = [step.request for step in call.steps(call.open())]
    return len(asked) > 1 and asked[-1] == asked[-2]


def id_faults(call: ServiceCall) -> Iterator[str]:
    for path in _ids(call):
        renamed = renamed_job(call, path, ODD_ID)
        try:
            steps = [step.request for step in renamed.steps(renamed.open())]
        except CaseFailed:
            continue  # it refuses such an id
        uses = [request for request in steps if _names(request, ODD_ID)]
        if not uses:
            yield "the job's id is not kept whole in any later request"


def mixed_faults(call: ServiceCall) -> Iterator[str]:
    """Whether one of two jobs is looked at in the place of the other."""
    for path in _ids(call)[:1]:
        calls = [renamed_job(call, path, id) for id in JOBS]
        exchanges = [each.open() for each in calls]
        walks = [each.steps(exchange) for each, exchange in zip(calls, exchanges, strict=True)]
        for steps in zip(*walks, strict=True):
            for step, stranger in zip(steps, reversed(JOBS), strict=True):
                if _names(step.request, stranger):
                    yield "it looks at the job of another call"


def failure_faults(call: ServiceCall) -> Iterator[str]:
    found = _state(call)
    if found is None:
        return
    path, ended, running = found
    succeeds, messages = [], []
    words = [_cased(word, str(ended)) for word in FAILED] if isinstance(ended, str) else []
    states: list[Any] = words or list(FAILED_NUMBERS)
    for state in (*states, UNKNOWN):
        for reason in (REASON, {"message": REASON}):
            exchange = _at_last(call)
            body = put(running, path, state)
            inner = at(body, path[:-1])
            inner |= {name: reason for name in _REASONS if name not in inner}
            body |= {name: reason for name in _REASONS if name not in body}
            feed_all(exchange, (msgspec.json.encode(body),), JSON)
            if exchange.failure is not None:
                messages.append(exchange.failure.message)
            elif exchange.following is None and state != ended:
                succeeds.append(str(state))
    if succeeds:
        yield f"a job that is {succeeds[0]!r} passes for one that has ended well"
    if not messages:
        yield f"no job ever fails: {', '.join(map(str, states[:4]))} and others go on for ever"
    elif not any(REASON in message for message in messages):
        yield f"the vendor's reason is lost: {messages[0]!r}"


def cancel_faults(call: ServiceCall) -> Iterator[str]:
    ids = _ids(call)
    asked = renamed_job(call, ids[0], JOBS[0]) if ids else call
    seen = list(asked.steps(asked.open()))
    looks = [step for step in seen if step.delay > 0]
    if not any(step.cancel for step in seen):
        return
    for step in looks:
        if step.cancel is None:
            yield "a later look at the job no longer says how it is stopped"
            continue
        yield from (*head_faults(asked, step.cancel), *address_faults(asked, step.cancel))
        yield from keys(asked, step.cancel)
        if _names(step.request, JOBS[0]) and not _names(step.cancel, JOBS[0]):
            yield "what stops the job does not name it"
        if step.cancel == step.request:
            yield "what stops the job is what looks at it"


def renamed_job(call: ServiceCall, path: Path, id: str) -> ServiceCall:
    """The call with another id of its job in all that the vendor answers."""
    old = at(msgspec.json.decode(call.sample.before[path_place(path)]), path[1:])
    sample = call.sample
    before = tuple(_replaced(body, old, id) for body in sample.before)
    reply = _replaced(sample.reply, old, id) if sample.is_json else sample.reply
    return replace(call, sample=replace(sample, before=before, reply=reply))


def path_place(path: Path) -> int:
    """Which of the answers an id is in."""
    return int(path[0])


def _replaced(body: bytes, old: str, new: str) -> bytes:
    def change(value: Any) -> Any:
        if isinstance(value, dict):
            return {new if name == old else name: change(each) for name, each in value.items()}
        if isinstance(value, list):
            return [change(each) for each in value]
        return new if value == old else value

    return msgspec.json.encode(change(msgspec.json.decode(body)))


def _ids(call: ServiceCall) -> list[Path]:
    """Where the vendor's answers have texts that stand in a later request: the number of the
    answer, and the place in it."""
    found, answers = [], [msgspec.json.decode(body) for body in call.sample.before]
    said = [text for answer in answers for _, text in _texts(answer)]
    later = [step.request for step in call.steps(call.open())]
    for place, answer in enumerate(answers):
        for path, text in _texts(answer):
            is_in_address = any("://" in each and text in each for each in said)
            if not is_in_address and any(_names(request, text) for request in later[place:]):
                found.append((place, *path))
    return list({at(answers[path_place(p)], p[1:]): p for p in reversed(found)}.values())[::-1]


def _names(request: UpstreamRequest, id: str) -> bool:
    """Whether an id stands whole in a request."""
    edge = r"(?<![A-Za-z0-9]){}(?![A-Za-z0-9])"
    return bool(re.search(edge.format(re.escape(id)), texts_of([request])))


def _state(call: ServiceCall) -> tuple[Path, Any, dict[str, Any]] | None:
    """Where the last two answers differ in one word or number: the place, what the ended job has
    there, and the answer about the running one."""
    if not call.sample.is_json:
        return None
    running, ended = (
        msgspec.json.decode(each) for each in (call.sample.before[-1], call.sample.reply)
    )
    if not isinstance(running, dict) or not _is_look(call):
        return None
    for path, value in _scalars(running):
        try:
            other = at(ended, path)
        except (IndexError, KeyError, TypeError):
            continue
        if type(other) is type(value) and other != value and not isinstance(value, float):
            return path, other, running
    return None


def _at_last(call: ServiceCall) -> ServiceExchange:
    """An exchange that looks at its job."""
    return call.answering()


def _cased(word: str, like: str) -> str:
    """A word written as the vendor writes its states."""
    if like.isupper():
        return word.upper().replace(" ", "_")
    return word.title() if like[:1].isupper() else word.replace(" ", "_")


def _scalars(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    if isinstance(value, Mapping):
        for name, each in value.items():
            yield from _scalars(each, (*path, name))
    elif isinstance(value, list):
        for place, each in enumerate(value):
            yield from _scalars(each, (*path, place))
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        yield path, value


def _texts(value: Any) -> Iterator[tuple[Path, str]]:
    for path, each in _scalars(value):
        if isinstance(each, str) and each:
            yield path, each
