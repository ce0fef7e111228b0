"""Cases about answers that break: cut, silent, no JSON, or an error where words were due."""

from collections.abc import Iterator

from gateway_core import UpstreamError
from gateway_kit.case import Case, CaseFailed, Run, expect
from gateway_kit.mock_vendor import MockAnswer, apply_fault
from gateway_kit.mock_vendor.faulty_answers import TROUBLE

from .chat_requests import build_request
from .exchanges import parse_answer
from .harness import ProviderHarness
from .redirected_network import SILENCE
from .subject import ProviderUnderTest, Route

FAULTS = ("cut", "broken-json", "error-in-200", "error-mid-stream")
BREAKS = (
    "Let a broken answer be an error: raise TransportError, or put ReplyFailed among the "
    "events, and never end it as if it were whole."
)
SILENT = ("stall",)
ODD = ("comments", "crlf", "bom", "no-end", "finish-twice", "quota-headers", "split:1")


def broken_answer_cases(
    subject: ProviderUnderTest, route: Route, *, stream: bool, slow: bool
) -> Iterator[Case]:
    """``slow`` adds the faults that take half a second."""
    where = f"{subject.spec.id}: {route}-{'stream' if stream else 'whole'}"
    for fault in (*FAULTS, *(SILENT if slow else ())):
        yield Case(
            name=f"{where}: {fault}",
            advice=BREAKS,
            run=_breaking(subject, route, fault, stream=stream),
        )
    if stream:
        yield cut_between(subject, route)


def cut_between(subject: ProviderUnderTest, route: Route) -> Case:
    """A stream that breaks off between two frames looks complete if its end is not checked."""
    scene = MockAnswer(dialect=route.dialect, model=route.model.id, stream=True)
    kept = [frame.data for frame in scene.frames() if frame.role in ("start", "text")]
    return Case(
        name=f"{subject.spec.id}: {route}-stream: cut between frames",
        advice=BREAKS,
        run=_breaking(subject, route, f"cut:{len(b''.join(kept[:-1]))}", stream=True),
    )


def odd_framing_cases(subject: ProviderUnderTest, route: Route) -> Iterator[Case]:
    """What vendors really send, and clients never notice."""

    async def run(harness: ProviderHarness) -> None:
        scene = MockAnswer(dialect=route.dialect, model=route.model.id, stream=True)
        for fault in ODD:
            harness.reset()
            request = build_request(subject, route, stream=True)
            answer = await harness.ask(request, apply_fault(scene, fault))
            expect(answer.status == 200, f"{fault}: status {answer.status}")
            try:
                parsed = parse_answer(subject, route, answer.body, stream=True)
            except UpstreamError as error:
                raise CaseFailed(f"{fault}: the answer cannot be read: {error.message}") from error
            expect(parsed.text == scene.content.words, f"{fault}: the text is {parsed.text!r}")

    yield Case(
        name=f"{subject.spec.id}: {route}: odd framing",
        advice="Read frames with gateway_formats (sse, ndjson), which knows comments, CR LF, byte "
        "order marks and missing ends.",
        run=run,
    )


def _breaking(subject: ProviderUnderTest, route: Route, fault: str, *, stream: bool) -> Run:
    async def run(harness: ProviderHarness) -> None:
        scene = MockAnswer(dialect=route.dialect, model=route.model.id, stream=stream)
        request = build_request(subject, route, stream=stream)
        if fault in SILENT:
            harness.network.silence = SILENCE  # a whole answer has more time otherwise
        answer = await harness.ask(request, apply_fault(scene, fault))
        row = await harness.read_usage_row()
        is_vendors = TROUBLE in answer.text or answer.status != 500
        expect(is_vendors, "the plugin's code raised something that the gateway cannot foresee")
        expect(row.status != "ok", f"the ledger calls it {row.status}")
        if answer.status == 200:
            expect(stream, "a whole answer that is broken came with status 200")
            try:
                parse_answer(subject, route, answer.body, stream=True)
            except UpstreamError:
                return
            raise CaseFailed("the stream ends as if it were complete")

    return run
