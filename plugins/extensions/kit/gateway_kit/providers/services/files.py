"""Cases about forms: a client's files and fields reach the vendor whole."""

from base64 import b64encode
from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from gateway_core import FormPart, ServiceExchange, UpstreamRequest
from gateway_kit.case import Case, expect_none

from ..harness import ProviderHarness
from .service_call import ServiceCall
from .traces import body_of, changed_sample

EVERY_BYTE = bytes(range(256)) * 4
NAME = "kit-4736.wav"
_KEPT = (b"kit-4736", b".wav")


class OnDisk(Struct, frozen=True):
    """A file that the gateway has put on its disk, as it does with large ones."""

    data: bytes

    @property
    def size(self) -> int:
        return len(self.data)

    def read(self, offset: int, length: int) -> bytes:
        return self.data[offset : offset + length]


def file_cases(call: ServiceCall) -> Iterator[Case]:
    if not any(part.filename for part in call.sample.form):
        return

    async def files(harness: ProviderHarness) -> None:
        expect_none(file_faults(call))

    async def fields(harness: ProviderHarness) -> None:
        expect_none(field_faults(call))

    yield call.case(
        "files",
        "Send a file byte for byte with its name and type, from memory and from the disk.",
        files,
    )
    yield call.case("fields", "Send each field of a form, as often as it comes.", fields)


def file_faults(call: ServiceCall) -> Iterator[str]:
    for part in call.sample.form:
        if not part.filename or not isinstance(part.content, bytes):
            continue
        # What a file begins with may tell its type.
        content = part.content[:4] + EVERY_BYTE
        for is_on_disk in (False, True):
            held = OnDisk(content) if is_on_disk else content
            sent = _opened(call, part, replace(part, content=held)).request
            where = "on disk" if is_on_disk else "in memory"
            yield from _content_faults(sent, content, f"{part.name} {where}")


def _content_faults(request: UpstreamRequest, content: bytes, about: str) -> Iterator[str]:
    body, media = body_of(request), request.headers.get("content-type", "")
    if content not in body and b64encode(content) not in body.replace(b"\\/", b"/"):
        yield f"{about} is not sent whole"
    elif media.startswith("multipart/"):
        head = body[: body.index(content)].rpartition(b"--")[2].lower()
        if b"filename=" not in head:
            yield f"{about} has no file name"
        elif not any(word in head for word in _KEPT):
            yield f"{about} loses its name and its ending"
    elif "json" not in media and "/" not in media:
        yield f"{about} has no media type"


def field_faults(call: ServiceCall) -> Iterator[str]:
    """Whether a field that comes twice is sent twice, or named."""
    twice = {"kit_field[]": ["kit-first-4737", "kit-second-4738"]}
    exchange = replace(call, sample=changed_sample(call.sample, twice)).open()
    body = body_of(exchange.request)
    lost = [word for word in twice["kit_field[]"] if word.encode() not in body]
    if lost and "kit_field[]" not in exchange.losses.names:
        yield f"the field {lost[0]!r} is neither sent nor named in losses"


def _opened(call: ServiceCall, old: FormPart, new: FormPart) -> ServiceExchange:
    """Raises GatewayError."""
    named = replace(new, filename=NAME)
    form = tuple(named if part is old else part for part in call.sample.form)
    return replace(call, sample=replace(call.sample, form=form)).open()
