"""Cases about routes: free paths, shut to strangers, and an answer to whatever is asked."""

from collections.abc import Iterator
from functools import partial

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
    ReceivedRequest,
    matches,
    route_methods,
)
from .subject import ExtensionUnderTest
from .timing import expect_prompt

OPEN = frozenset({Access.PUBLIC, Access.ISOLATED})


def route_cases(subject: ExtensionUnderTest) -> Iterator[Case]:
    name = f"{subject.module}: routes"

    async def shut(bench: ExtensionHarness) -> None:
        for route in _route_methods(bench):
            if route.guarded.access not in OPEN:
                answer = await bench.ask(route.method, route.path, b"{}", client=ELSEWHERE)
                expect(
                    answer.status in (401, 403), f"{route} answers a stranger with {answer.status}"
                )
            elif subject.public is not None:
                is_meant = route.template in subject.public
                expect(is_meant, f"{route} is open to everybody")

    yield Case(name=f"{name}: free", advice="Choose paths of your own, each once.", run=_free)
    yield Case(
        name=f"{name}: shut",
        advice="Give each route the class of callers it is for, and name in public= the paths "
        "that are for everybody.",
        run=shut,
    )
    yield Case(
        name=f"{name}: answers",
        advice="Answer without failing, soon, and let everything else run meanwhile.",
        run=_answers,
    )
    yield Case(
        name=f"{name}: junk",
        advice="Check what path, query and body hold, and answer 400 to what is wrong.",
        run=_junk,
    )
    yield Case(
        name=f"{name}: HEAD and OPTIONS",
        advice="Leave HEAD and OPTIONS to Starlette and the gateway.",
        run=_about,
    )


def _route_methods(bench: ExtensionHarness) -> list[ReceivedRequest]:
    methods = [route for guarded in bench.routes() for route in route_methods(guarded)]
    expect(methods, "it registers no route that is served")
    return methods


async def _free(bench: ExtensionHarness) -> None:
    others, seen = await bench.others(), set[tuple[str, str]]()
    endpoints = Endpoints(bench.vendor.registry.formats.values())
    for route in _route_methods(bench):
        taken = any(matches(other, route.method, route.path) for other in others)
        expect(not taken, f"{route} is the gateway's own")
        expect(endpoints.find(route.path) is None, f"{route} is where clients ask models")
        expect((route.method, route.path) not in seen, f"{route} is registered twice")
        seen.add((route.method, route.path))


async def _answers(bench: ExtensionHarness) -> None:
    for route in _route_methods(bench):
        await expect_prompt(
            partial(_expect_sound, bench, route.method, route.path, b"{}"), str(route)
        )


async def _junk(bench: ExtensionHarness) -> None:
    for route in _route_methods(bench):
        for word in JUNK_WORDS if route.has_parameters else ():
            await _expect_sound(bench, route.method, route.fill_path(word))
        for query in JUNK_QUERIES:
            await _expect_sound(bench, route.method, f"{route.path}?{query}")
        for body in JUNK_BODIES if route.method != "GET" else ():
            await _expect_sound(bench, route.method, route.path, body)


async def _about(bench: ExtensionHarness) -> None:
    for route in _route_methods(bench):
        await _expect_sound(bench, "OPTIONS", route.path)
        if route.method == "GET":
            get = await _expect_sound(bench, "GET", route.path)
            head = await _expect_sound(bench, "HEAD", route.path)
            expect(head.status == get.status, f"HEAD {route.path} answers {head.status}")


async def _expect_sound(
    bench: ExtensionHarness, method: str, path: str, body: bytes = b""
) -> ClientAnswer:
    """The operator's answer. Raises Unmet when the extension has failed."""
    try:
        answer = await bench.ask(method, path, body, **bench.operator())
    except TimeoutError:
        raise CaseFailed(f"{method} {path[:80]} does not end") from None
    except Exception as error:  # whatever the plugin's own code raises is what is looked for
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
