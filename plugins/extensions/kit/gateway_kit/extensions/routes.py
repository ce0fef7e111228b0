"""Cases about routes: free paths, shut to strangers, and an answer to whatever is asked."""

from collections.abc import Iterator
from functools import partial

import msgspec

from gateway_core.http.endpoints import Endpoints
from gateway_core.identity.access import Access
from gateway_kit.case import Case, Unmet, expect
from gateway_kit.providers.asgi_client import ELSEWHERE, Answer

from .harness import Bench
from .route_requests import JUNK_BODIES, JUNK_QUERIES, JUNK_WORDS, Asked, asked, matches
from .subject import Subject
from .timing import timely

OPEN = frozenset({Access.PUBLIC, Access.ISOLATED})


def routing(subject: Subject) -> Iterator[Case]:
    name = f"{subject.module}: routes"

    async def shut(bench: Bench) -> None:
        for each in _asked(bench):
            if each.guarded.access not in OPEN:
                await _refused(bench, each)
            elif subject.public is not None:
                is_meant = each.template in subject.public
                expect(is_meant, f"{each} is open to everybody")

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


def _asked(bench: Bench) -> list[Asked]:
    found = [each for guarded in bench.routes() for each in asked(guarded)]
    expect(found, "it registers no route that is served")
    return found


async def _free(bench: Bench) -> None:
    others, seen = await bench.others(), set[tuple[str, str]]()
    endpoints = Endpoints(bench.vendor.registry.formats.values())
    for each in _asked(bench):
        taken = any(matches(other, each.method, each.path) for other in others)
        expect(not taken, f"{each} is the gateway's own")
        expect(endpoints.find(each.path) is None, f"{each} is where clients ask models")
        expect((each.method, each.path) not in seen, f"{each} is registered twice")
        seen.add((each.method, each.path))


async def _refused(bench: Bench, each: Asked) -> None:
    answer = await bench.ask(each.method, each.path, b"{}", client=ELSEWHERE)
    expect(answer.status in (401, 403), f"{each} answers a stranger with {answer.status}")


async def _answers(bench: Bench) -> None:
    for each in _asked(bench):
        await timely(partial(_sound, bench, each.method, each.path, b"{}"), str(each))


async def _junk(bench: Bench) -> None:
    for each in _asked(bench):
        for word in JUNK_WORDS if each.has_places else ():
            await _sound(bench, each.method, each.filled(word))
        for query in JUNK_QUERIES:
            await _sound(bench, each.method, f"{each.path}?{query}")
        for body in JUNK_BODIES if each.method != "GET" else ():
            await _sound(bench, each.method, each.path, body)


async def _about(bench: Bench) -> None:
    for each in _asked(bench):
        await _sound(bench, "OPTIONS", each.path)
        if each.method == "GET":
            got = await _sound(bench, "GET", each.path)
            head = await _sound(bench, "HEAD", each.path)
            expect(head.status == got.status, f"HEAD {each.path} answers {head.status}")


async def _sound(bench: Bench, method: str, path: str, body: bytes = b"") -> Answer:
    """The operator's answer. Raises Unmet when the extension has failed."""
    try:
        answer = await bench.ask(method, path, body, **bench.operator())
    except TimeoutError:
        raise Unmet(f"{method} {path[:80]} does not end") from None
    except Exception as error:  # whatever the plugin's own code raises is what is looked for
        told = f"{method} {path[:80]} raises {type(error).__name__}: {error}"
        raise Unmet(told) from error
    told = f"{method} {path[:80]} with the body {body[:40]!r} answers {answer.status}"
    expect(answer.status not in (0, 500), told)
    if answer.body and "json" in answer.headers.get("content-type", ""):
        expect(_is_json(answer.body), f"{method} {path[:80]} answers JSON that is none")
    elif answer.body:
        named = "content-type" in answer.headers
        expect(named, f"{method} {path[:80]} does not say what its answer is")
    return answer


def _is_json(body: bytes) -> bool:
    try:
        msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False
    return True
