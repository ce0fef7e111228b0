"""Cases about routes: unique paths, access control, and an answer to every request."""

from collections.abc import Callable, Coroutine, Iterator
from functools import partial
from typing import Any

from gateway_core.http.endpoints import Endpoints
from gateway_core.identity.access import Access
from gateway_kit.case import Case, CaseFailed, expect
from gateway_kit.json_bodies import is_json
from gateway_kit.providers.asgi_client import ELSEWHERE, ClientAnswer

from .harness import ExtensionHarness
from .route_requests import (
    JUNK_BODIES,
    JUNK_QUERIES,
    JUNK_WORDS,
    RouteMethod,
    matches,
    route_methods,
)
from .subject import ExtensionUnderTest
from .timing import expect_prompt

Check = Callable[[ExtensionUnderTest, ExtensionHarness], Coroutine[Any, Any, None]]
OPEN = frozenset({Access.PUBLIC, Access.ISOLATED})


CASES: dict[str, tuple[str, Check]] = {}
"""By the case's name: its advice and its check."""


def route_case(name: str, advice: str) -> Callable[[Check], Check]:
    """Add a case to CASES."""

    def add(check: Check) -> Check:
        CASES[name] = (advice, check)
        return check

    return add


def route_cases(subject: ExtensionUnderTest) -> Iterator[Case]:
    for name, (advice, check) in CASES.items():
        yield Case(
            name=f"{subject.module}: routes: {name}", advice=advice, run=partial(check, subject)
        )


def _route_methods(harness: ExtensionHarness) -> list[RouteMethod]:
    methods = [route for guarded in harness.routes() for route in route_methods(guarded)]
    expect(methods, "it registers no route that is served")
    return methods


@route_case("free", "Choose paths of your own, each once.")
async def has_free_paths(subject: ExtensionUnderTest, harness: ExtensionHarness) -> None:
    others, seen = await harness.others(), set[tuple[str, str]]()
    endpoints = Endpoints(harness.vendor.registry.formats.values())
    for route in _route_methods(harness):
        taken = any(matches(other, route.method, route.path) for other in others)
        expect(not taken, f"{route} is the gateway's own")
        expect(endpoints.find(route.path) is None, f"{route} is where clients ask models")
        expect((route.method, route.path) not in seen, f"{route} is registered twice")
        seen.add((route.method, route.path))


@route_case(
    "shut",
    "Give each route the class of callers it is for, and name in public= the paths "
    "that are for everybody.",
)
async def refuses_strangers(subject: ExtensionUnderTest, harness: ExtensionHarness) -> None:
    for route in _route_methods(harness):
        if route.guarded.access not in OPEN:
            answer = await harness.ask(route.method, route.path, b"{}", client=ELSEWHERE)
            message = f"{route} answers a stranger with {answer.status}"
            expect(answer.status in (401, 403), message)
        elif subject.public is not None:
            expect(route.template in subject.public, f"{route} is open to everybody")


@route_case("answers", "Answer without failing, soon, and let everything else run meanwhile.")
async def answers_promptly(subject: ExtensionUnderTest, harness: ExtensionHarness) -> None:
    for route in _route_methods(harness):
        await expect_prompt(
            partial(_expect_sound, harness, route.method, route.path, b"{}"), str(route)
        )


@route_case("junk", "Check what path, query and body hold, and answer 400 to what is wrong.")
async def survives_junk(subject: ExtensionUnderTest, harness: ExtensionHarness) -> None:
    for route in _route_methods(harness):
        for word in JUNK_WORDS if route.has_parameters else ():
            await _expect_sound(harness, route.method, route.fill_path(word))
        for query in JUNK_QUERIES:
            await _expect_sound(harness, route.method, f"{route.path}?{query}")
        for body in JUNK_BODIES if route.method != "GET" else ():
            await _expect_sound(harness, route.method, route.path, body)


@route_case("HEAD and OPTIONS", "Leave HEAD and OPTIONS to Starlette and the gateway.")
async def serves_head_and_options(subject: ExtensionUnderTest, harness: ExtensionHarness) -> None:
    for route in _route_methods(harness):
        await _expect_sound(harness, "OPTIONS", route.path)
        if route.method == "GET":
            get = await _expect_sound(harness, "GET", route.path)
            head = await _expect_sound(harness, "HEAD", route.path)
            expect(head.status == get.status, f"HEAD {route.path} answers {head.status}")


async def _expect_sound(
    harness: ExtensionHarness, method: str, path: str, body: bytes = b""
) -> ClientAnswer:
    """The operator's answer. Raises CaseFailed when the extension has failed."""
    try:
        answer = await harness.ask(method, path, body, **harness.operator())
    except TimeoutError:
        raise CaseFailed(f"{method} {path[:80]} does not end") from None
    except Exception as error:  # the plugin's code may raise anything; that is the failure
        message = f"{method} {path[:80]} raises {type(error).__name__}: {error}"
        raise CaseFailed(message) from error
    message = f"{method} {path[:80]} with the body {body[:40]!r} answers {answer.status}"
    expect(answer.status not in (0, 500), message)
    if answer.body and "json" in answer.headers.get("content-type", ""):
        expect(is_json(answer.body), f"{method} {path[:80]} answers JSON that is none")
    elif answer.body:
        named = "content-type" in answer.headers
        expect(named, f"{method} {path[:80]} does not say what its answer is")
    return answer
