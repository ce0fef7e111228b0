"""Cases about refusals: the status, the vendor's words and its wait are read from them."""

from collections.abc import Iterator, Mapping

from gateway_core import UpstreamError
from gateway_kit.case import Case, Unmet, expect
from gateway_kit.mock_vendor.refusals import DATE, LATER, WAIT

from ..harness import Bench
from .service_call import Asking

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


def refusals(asking: Asking) -> Iterator[Case]:
    async def told(bench: Bench) -> None:
        for status in STATUSES:
            error = _refused(asking, status, {}, BODIES["chat's shape"])
            expect(error.status == status, f"a {status} is read as {error.status}")
            expect(WORDS in error.message, f"the vendor's words are lost: {error.message!r}")

    async def odd(bench: Bench) -> None:
        for about, body in {**ODD, **BODIES}.items():
            error = _refused(asking, 502, {}, body, about)
            expect(error.status == 502, f"{about}: a 502 is read as {error.status}")
            expect("<html" not in error.message, f"{about}: a page is quoted")

    async def waits(bench: Bench) -> None:
        for hint in HINTS:
            error = _refused(asking, 429, hint, BODIES["chat's shape"])
            found = error.retry_after
            expect(found is not None and abs(found - WAIT) <= 1, f"after {hint} it waits {found}")
        error = _refused(asking, 429, {}, BODIES["chat's shape"])
        expect(error.retry_after is None, f"without a hint it waits {error.retry_after}")

    yield asking.case("refusals", "Keep the status and the words of a refusal.", told)
    yield asking.case(
        "odd refusals", "Read a refusal whatever its body is, and never raise for it.", odd
    )
    yield asking.case(
        "retry hints", "Take the wait with gateway_formats.hints.retry_after(headers).", waits
    )


def _refused(
    asking: Asking, status: int, headers: Mapping[str, str], body: bytes, about: str = ""
) -> UpstreamError:
    try:
        error: object = asking.open().refusal(status, headers, body)
    except Exception as raised:  # whatever the plugin's own code raises is what is looked for
        raise Unmet(f"{about or status}: it raises {type(raised).__name__}: {raised}") from raised
    if not isinstance(error, UpstreamError):
        raise Unmet(f"a refusal is read as {type(error).__name__}")
    secret = asking.subject.account.secret
    expect(not secret or secret not in error.message, "the message tells the account's key")
    return error
