"""Cases about habits of real vendors, seen in recorded traffic."""

from collections.abc import Iterator

from gateway_kit.case import Case, expect
from gateway_kit.mock_vendor import MockAnswer
from gateway_kit.mock_vendor.quirks import CALL, TEXT, Quirk, find_quirks

from .answers import read_answer
from .chat_requests import build_request
from .harness import ProviderHarness
from .subject import ProviderUnderTest, Route

EXPECTED = {"text": (TEXT, ()), "call": ("", (CALL,)), "nothing": ("", ())}


def quirk_cases(subject: ProviderUnderTest, route: Route) -> Iterator[Case]:
    """For a vendor of a format in which such habits were seen."""
    for name, quirk in find_quirks(route.wire.id):
        yield _quirk_case(subject, route, name, quirk)


def _quirk_case(subject: ProviderUnderTest, route: Route, name: str, quirk: Quirk) -> Case:
    async def run(bench: ProviderHarness) -> None:
        scene = MockAnswer(dialect=route.dialect, stream=quirk.stream)
        request = build_request(subject, route, stream=quirk.stream, tools=quirk.content == "call")
        answer = await bench.ask(request, scene.response([quirk.body]))
        parsed = read_answer(subject, route, answer, stream=quirk.stream)
        content = (parsed.text, parsed.calls)
        expect(content == EXPECTED[quirk.content], f"the client heard {parsed}")

    return Case(
        name=f"{subject.spec.id}: {route}: {name}, {quirk.description}",
        advice="Do not insist on members that vendors leave out, repeat or spell otherwise.",
        run=run,
    )
