"""Cases about refusals: the status, the vendor's words and its wait are read from them."""

from collections.abc import Iterator, Mapping

from gateway_core import UpstreamError
from gateway_kit.case import Case, CaseFailed, expect
from gateway_kit.mock_vendor.refusals import DATE, LATER, WAIT

from ..harness import ProviderHarness
from .service_call import ServiceCall

WORDS = "Slow down"
STATUSES = (400, 401, 403, 404, 429, 500, 503, 529)
BODIES: Mapping[str, bytes] = {
    "chat's shape": b'{"error":{"message":"Slow down","type":"refused","code":null}}',
    "a message": b'{"message":"Slow down"}',
}
ODD: Mapping[str, bytes] = {
    "nothing": b"",
    "a page": b"<html><head><title>502 Bad Gateway</title></head></html>",
    "a number": b"7",
    "a list": b'["Slow down"]',
    "null": b'{"error":null,"message":null}',
    "bytes that are no text": b"\xff\xfe\x00",
    "an error that is a number": b'{"error":7}',
}
HINTS: tuple[Mapping[str, str], ...] = (
    {"retry-after": str(WAIT)},
    {"retry-after-ms": str(WAIT * 1000)},
    {"retry-after": LATER, "date": DATE},
)


def refusal_cases(call: ServiceCall) -> Iterator[Case]:
    async def keeps_words(bench: ProviderHarness) -> None:
        for status in STATUSES:
            error = _read_refusal(call, status, {}, BODIES["chat's shape"])
            expect(error.status == status, f"a {status} is read as {error.status}")
            expect(WORDS in error.message, f"the vendor's words are lost: {error.message!r}")

    async def odd(bench: ProviderHarness) -> None:
        for about, body in {**ODD, **BODIES}.items():
            error = _read_refusal(call, 502, {}, body, about)
            expect(error.status == 502, f"{about}: a 502 is read as {error.status}")
            expect("<html" not in error.message, f"{about}: a page is quoted")

    async def waits(bench: ProviderHarness) -> None:
        for hint in HINTS:
            error = _read_refusal(call, 429, hint, BODIES["chat's shape"])
            wait = error.retry_after
            expect(wait is not None and abs(wait - WAIT) <= 1, f"after {hint} it waits {wait}")
        error = _read_refusal(call, 429, {}, BODIES["chat's shape"])
        expect(error.retry_after is None, f"without a hint it waits {error.retry_after}")

    yield call.case("refusals", "Keep the status and the words of a refusal.", keeps_words)
    yield call.case(
        "odd refusals", "Read a refusal whatever its body is, and never raise for it.", odd
    )
    yield call.case(
        "retry hints", "Take the wait with gateway_formats.hints.retry_after(headers).", waits
    )


def _read_refusal(
    call: ServiceCall, status: int, headers: Mapping[str, str], body: bytes, about: str = ""
) -> UpstreamError:
    try:
        error: object = call.open().refusal(status, headers, body)
    except Exception as raised:  # whatever the plugin's own code raises is what is looked for
        raise CaseFailed(
            f"{about or status}: it raises {type(raised).__name__}: {raised}"
        ) from raised
    if not isinstance(error, UpstreamError):
        raise CaseFailed(f"a refusal is read as {type(error).__name__}")
    secret = call.subject.account.secret
    expect(not secret or secret not in error.message, "the message tells the account's key")
    return error
