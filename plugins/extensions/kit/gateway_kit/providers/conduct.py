"""Cases about conduct: what a call leaves behind, what it repeats, and whom it keeps waiting."""

import asyncio
import base64
import hashlib
import re
import time
from collections.abc import Iterator
from dataclasses import replace as changed
from typing import NoReturn
from urllib.parse import urlsplit

from gateway_core import (
    Credential,
    GatewayError,
    ProviderSpec,
    Socket,
    TransportError,
    UpstreamRequest,
    UpstreamResponse,
)
from gateway_core.upstream.allowed_hosts import allowed_hosts, is_named, origin_of
from gateway_core.upstream.transport.urls import parse
from gateway_kit.case import Case, expect, expect_none
from gateway_kit.mock_vendor import CONTENTS, MockAnswer, MockResponse, apply_fault
from gateway_kit.witness import Witness

from .answers import GAP, expect_content, read_answer
from .chat_requests import WORDS, ChatRequest, build_request
from .everything import MARKS, everything
from .harness import ProviderHarness
from .subject import Account, ProviderUnderTest, Route

STALL = 0.05
"""Seconds for which nothing else gets a turn."""
BEAT = 0.004
TRIES = 5
REFUSALS = ("400", "401", "403", "404", "429", "500", "503")


def conduct_cases(subject: ProviderUnderTest, route: Route) -> Iterator[Case]:
    """Cases for one route; the fast ones first."""
    where = f"{subject.spec.id}: {route}"

    def request(*, stream: bool) -> ChatRequest:
        return build_request(subject, route, stream=stream)

    def scene(*, stream: bool) -> MockAnswer:
        return MockAnswer(dialect=route.dialect, model=route.model.id, stream=stream)

    async def everything_arrives(harness: ProviderHarness) -> None:
        asked = everything(subject, route)
        answer = await harness.ask(asked.request, scene(stream=False).response())
        expect(answer.status == 200, f"status {answer.status}: {answer.text[:200]}")
        dropped = answer.headers.get("x-gateway-dropped", "")
        text = harness.received()[-1].text
        for mark in asked.marks:
            expect(mark in text or bool(dropped), f"{mark} ({MARKS[mark]}) is not in the request")

    async def asked_once(harness: ProviderHarness) -> None:
        for fault in REFUSALS:
            harness.reset()
            refused = scene(stream=False).refusal(int(fault), "Not like this")
            await harness.ask(request(stream=False), refused)
            seen = len(harness.received())
            expect(seen == 1, f"after a {fault} the vendor was asked {seen} times")
        harness.reset()
        await harness.ask(request(stream=True), apply_fault(scene(stream=True), "cut"))
        seen = len(harness.received())
        expect(seen == 1, f"after an answer that broke off the vendor was asked {seen} times")

    async def redirected(harness: ProviderHarness) -> None:
        await harness.ask(request(stream=False), scene(stream=False).response())
        address = urlsplit(harness.sent()[-1].url)
        harness.network.sent.clear()
        # An address of the vendor's own, so that nothing but the plugin decides.
        elsewhere = f"{address.scheme}://{address.netloc}/v1/elsewhere"
        there = MockResponse((b"",), 302, headers={"location": elsewhere})
        await harness.ask(request(stream=False), there)
        urls = [each.url for each in harness.sent()]
        expect(len(urls) == 1, f"a redirect was followed: {urls[1:]}")

    async def silent(harness: ProviderHarness) -> None:
        with Witness() as witness:
            for stream in (False, True):
                await harness.ask(request(stream=stream), scene(stream=stream).response())
        answer = CONTENTS["text"].text[0].strip(", ")
        words = (WORDS, answer, repr(answer.encode())[2:-1], ascii(answer)[1:-1])
        leaks = [word for word in words if word in witness.text]
        expect(not leaks, f"in the log or the output: {leaks}")
        own = str(harness.folder)
        expect_none(f"{path} is written to" for path in witness.written if own not in path)

    async def frame_by_frame(harness: ProviderHarness) -> None:
        asked = scene(stream=True)
        answer = await harness.ask(request(stream=True), changed(asked.response(), pause=GAP))
        expect_content(asked.content, read_answer(subject, route, answer, stream=True))

    async def keeps_nothing(harness: ProviderHarness) -> None:
        async def tasks() -> int:
            for _ in range(3):
                await harness.ask(request(stream=True), scene(stream=True).response())
            await asyncio.sleep(0)
            return len(asyncio.all_tasks())

        await tasks()
        before = await tasks()
        after = await tasks()
        expect(after - before < 3, f"three calls leave {after - before} tasks")

    async def in_turn(harness: ProviderHarness) -> None:
        longest = 1.0
        for number in range(TRIES):
            stream = bool(number % 2)
            gap = await _longest_gap(harness, request(stream=stream), scene(stream=stream))
            longest = min(longest, gap)
            if longest < STALL:
                return
        expect(longest < STALL, f"nothing else gets a turn for {longest * 1000:.0f} ms")

    yield Case(
        name=f"{where}: everything asked",
        advice="Send each message, tool and text of the client, or name in losses what is left.",
        run=everything_arrives,
    )
    yield Case(
        name=f"{where}: asked once",
        advice="Send a request once: the gateway decides what is asked again, and where.",
        run=asked_once,
    )
    yield Case(
        name=f"{where}: redirects",
        advice="Hand on a redirect as it is: the key is for the declared hosts alone.",
        run=redirected,
    )
    yield Case(
        name=f"{where}: keeps quiet",
        advice="Neither log, print nor write down what is asked and answered.",
        run=silent,
    )
    yield Case(
        name=f"{where}: frame by frame",
        advice="Hand on each piece with all of its bytes, line ends too.",
        run=frame_by_frame,
    )
    yield Case(
        name=f"{where}: leaves nothing",
        advice="End every task when the call that it is for has ended.",
        run=keeps_nothing,
    )
    yield Case(
        name=f"{where}: keeps nobody waiting",
        advice="Run what takes time in a thread: all other calls wait for the event loop.",
        run=in_turn,
    )


async def _longest_gap(harness: ProviderHarness, request: ChatRequest, scene: MockAnswer) -> float:
    """The longest time between two turns of another task while a call is served, seconds."""
    longest = 0.0

    async def beat() -> None:
        nonlocal longest
        last = time.perf_counter()
        while True:
            await asyncio.sleep(BEAT)
            now = time.perf_counter()
            longest, last = max(longest, now - last - BEAT), now

    beating = asyncio.create_task(beat())
    await asyncio.sleep(0)
    try:
        await harness.ask(request, scene.response())
        await asyncio.sleep(2 * BEAT)
    finally:
        beating.cancel()
    return longest


def account_cases(subject: ProviderUnderTest, route: Route) -> Iterator[Case]:
    """What differs between two accounts, on the request that leaves the plugin."""
    if subject.account.secret is None:
        return
    where = f"{subject.spec.id}: {route}"
    own = subject.account
    other = Account(secret=_other(own.secret or ""), data=own.data)

    async def apart(harness: ProviderHarness) -> None:
        request = build_request(subject, route, stream=False)
        first, second = await asyncio.gather(
            _leave(harness, subject, request, own), _leave(harness, subject, request, other)
        )
        for sent, account, stranger in ((first, own, other), (second, other, own)):
            expect(str(stranger.secret) not in _shown(sent), "one account's key is in another's")
            del account
        again = await _leave(harness, subject, _changed(request), own)
        theirs = await _leave(harness, subject, _changed(request), other)
        for name, value in again.headers.items():
            # What changes with the body and not with the account is signed with one key for all.
            if value != first.headers.get(name) and value == theirs.headers.get(name):
                is_signature = _is_digest(value) and not _is_checksum(value, again.body)
                expect(not is_signature, f"{name} is the same for two accounts")

    async def data(harness: ProviderHarness) -> None:
        request = build_request(subject, route, stream=False)
        usual = await _leave(harness, subject, request, own)
        for name, value in own.data.items():
            if not isinstance(value, str) or "://" in value:
                continue
            other_value = _other_example(subject.spec, name, value) or _other_word(value)
            theirs = Account(secret=own.secret, data={**own.data, name: other_value})
            try:
                sent = await _leave(harness, subject, request, theirs)
            except GatewayError:
                continue  # it knows which values there are, and this is none of them
            allowed = allowed_hosts(subject.spec).covers(origin_of(sent.url))
            is_own = is_named(parse(sent.url), theirs.data)
            expect(allowed or is_own, f"with another {name} it sends to {origin_of(sent.url)}")
            expect(_shown(sent) != _shown(usual), f"{name} of the account changes nothing")
        optional = set(own.data) if subject.spec.environment_data else set()
        for name in optional:
            rest = {key: value for key, value in own.data.items() if key != name}
            without = Account(secret=own.secret, data=rest)
            try:
                await _leave(harness, subject, request, without)
            except GatewayError:
                continue  # it says what is missing
            except Exception as error:  # the plugin's code may raise anything; that is the failure
                expect(False, f"without {name} it raises {type(error).__name__}")

    async def no_network(harness: ProviderHarness) -> None:
        executor = subject.spec.executor
        if executor is None:
            return
        credential = Credential(connection_id="kit", secret=own.secret, data=own.data)
        sent = harness.exchange(subject, build_request(subject, route, stream=False)).request
        try:
            answer = await executor.send(sent, credential, _Recorder())
        except GatewayError:
            return
        expect(answer.status >= 400, f"a network that fails is an answer of {answer.status}")

    if subject.spec.executor is not None:
        yield Case(
            name=f"{where}: no network",
            advice="Let a TransportError pass, or raise a GatewayError that says more.",
            run=no_network,
        )
    yield Case(
        name=f"{where}: accounts apart",
        advice="Take the key from the credential of each call, and keep none of it.",
        run=apart,
    )
    if own.data:
        yield Case(
            name=f"{where}: an account's data",
            advice="Use what an account has beside its key, and say what is missing.",
            run=data,
        )


async def _leave(
    harness: ProviderHarness, subject: ProviderUnderTest, request: ChatRequest, account: Account
) -> UpstreamRequest:
    """The request as it leaves the plugin, with this account."""
    credential = Credential(connection_id="kit", secret=account.secret, data=account.data)
    sent = harness.exchange(subject, request, account).request
    if subject.spec.executor is None:
        return sent
    recorder = _Recorder()
    try:
        await subject.spec.executor.send(sent, credential, recorder)
    except TransportError:
        pass
    return recorder.sent[-1] if recorder.sent else sent


class _Recorder:
    """A transport that reaches nobody and keeps what it is given."""

    def __init__(self) -> None:
        self.sent: list[UpstreamRequest] = []

    async def send(self, request: UpstreamRequest) -> UpstreamResponse:
        return await self._fail(request)

    async def connect(self, request: UpstreamRequest) -> Socket:
        return await self._fail(request)

    async def _fail(self, request: UpstreamRequest) -> NoReturn:
        self.sent.append(request)
        await asyncio.sleep(0)
        raise TransportError("nobody is there", sent=False)


def _shown(request: UpstreamRequest) -> str:
    return f"{request.url} {dict(request.headers)} {request.body!r}"


def _other(secret: str) -> str:
    return secret[:-4] + ("wxyz" if not secret.endswith("wxyz") else "abcd")


def _other_example(spec: ProviderSpec, name: str, value: str) -> str | None:
    """Another value that the plugin declares for a field of its accounts."""
    examples = (
        each for field in spec.account_fields if field.name == name for each in field.examples
    )
    return next((example for example in examples if example != value), None)


def _other_word(value: str) -> str:
    """Another value of the same form: letters for letters, digits for digits."""
    return re.sub(r"[a-z]", "q", re.sub(r"\d", "7", value)) if value else "other"


def _changed(request: ChatRequest) -> ChatRequest:
    return ChatRequest(
        path=request.path,
        body=request.body.replace(WORDS.encode(), b"Say goodbye"),
        client=request.client,
        stream=request.stream,
    )


def _is_digest(value: str) -> bool:
    """Whether it may be a signature: long, and of letters and digits without words."""
    return bool(re.search(r"[0-9a-fA-F]{32,}|[0-9A-Za-z+/_-]{40,}", value))


def _is_checksum(value: str, body: bytes) -> bool:
    """Whether it is a digest of the body alone, as in RFC 9530, for which no key is needed."""
    for algorithm in ("md5", "sha1", "sha256", "sha384", "sha512"):
        digest = hashlib.new(algorithm, body, usedforsecurity=False).digest()
        if digest.hex() in value.lower() or base64.b64encode(digest).decode() in value:
            return True
    return False
