"""Cases about what a vendor is said to lack: it is refused or named as lost, and never sent."""

from collections.abc import Iterator

from gateway_core import BadRequest, Conversation
from gateway_kit.abilities import ABILITIES, STREAM, Ability, is_carried, verdict
from gateway_kit.case import Case, CaseFailed, expect
from gateway_kit.mock_vendor import MockAnswer

from .chat_requests import ChatRequest
from .everything import write_for
from .harness import ProviderHarness
from .subject import ProviderUnderTest, Route


def lacking_cases(subject: ProviderUnderTest, route: Route) -> Iterator[Case]:
    """One for each thing that the plugin's CONFORMANCE says the vendor has nothing of."""
    for name in sorted(subject.lacks - {STREAM}):
        yield _lacking_case(subject, route, name, ABILITIES[name])
    if STREAM in subject.lacks:
        yield _without_streams(subject, route)


def _lacking_case(subject: ProviderUnderTest, route: Route, name: str, ability: Ability) -> Case:
    async def seen(harness: ProviderHarness, request: ChatRequest) -> tuple[bytes, set[str]] | None:
        """The request to the vendor, and what is named as lost; ``None`` for a refusal."""
        harness.reset()
        scene = MockAnswer(dialect=route.dialect, model=route.model.id)
        answer = await harness.ask_scene(request, scene)
        if not harness.received():
            expect(400 <= answer.status < 500, f"status {answer.status}: {answer.text[:200]}")
            return None
        dropped = answer.headers.get("x-gateway-dropped", "")
        return harness.received()[-1].body, {each for each in dropped.split(", ") if each}

    async def run(harness: ProviderHarness) -> None:
        assert ability.example is not None, "only streams have none"
        request = _written(subject, route, ability.example)
        plain = _written(subject, route, ability.beside)
        if request is None or plain is None or request.body == plain.body:
            return  # clients of this format cannot ask for it
        asked, usual, again = [await seen(harness, each) for each in (request, plain, plain)]
        if asked is None or usual is None or again is None:
            return
        wrong = verdict(
            name,
            named=bool(asked[1] - usual[1]),
            carried=is_carried(ability, asked[0], usual[0], again[0]),
        )
        if wrong is not None:
            raise CaseFailed(wrong)

    return Case(
        name=f"{subject.spec.id}: {route}: lacks {name}",
        advice="Refuse what the vendor lacks with BadRequest or name it in losses; take out of "
        "lacks what it has.",
        run=run,
    )


def _written(
    subject: ProviderUnderTest, route: Route, conversation: Conversation
) -> ChatRequest | None:
    try:
        return write_for(subject, route, conversation)[0]
    except BadRequest:
        return None


def _without_streams(subject: ProviderUnderTest, route: Route) -> Case:
    async def run(harness: ProviderHarness) -> None:
        vendor, model = route.wire.vendor, route.model.id
        assert vendor is not None, "a vendor speaks it"
        paths = {vendor.path(model, stream) for stream in (False, True)}
        expect(len(paths) == 1, f"a stream is asked for at an address of its own: {paths}")

    return Case(
        name=f"{subject.spec.id}: {route}: lacks {STREAM}",
        advice="Take stream out of lacks: the vendor is asked for one.",
        run=run,
    )
