"""A correct provider with a service of each kind, as text, and variants with one bug each."""

from pathlib import Path

SOUND = '''"""Sample: a vendor with every service there is, that exists only in tests.

API reference: https://docs.sample.example/api
"""

import msgspec

from gateway_core import (
    Kind, Losses, Model, ProviderSpec, Service, UpstreamError, UpstreamRequest, Usage, hookimpl,
)
from gateway_formats import hints
from gateway_providers.services import field, write_form

BASE = "https://api.sample.example/v1"


class Answer:
    """An answer that is handed on when it is whole."""

    upstream_format = "sample"
    is_single = True
    following = None

    def __init__(self, request, media_type, reads):
        self.request, self.media_type, self.reads = request, media_type, reads
        self.losses, self.held = Losses(), []
        self.usage = self.failure = None
        self.started = self.ended = False
        self.characters = 0

    def read_head(self, headers):
        pass

    def feed(self, chunk):
        self.held.append(chunk)
        return b""

    def close(self):
        body = b"".join(self.held)
        try:
            self.usage = self.reads(body)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            self.failure = UpstreamError("The vendor's answer cannot be read")
            return b""
        if words(body):
            return self.fail(UpstreamError(words(body)))
        self.started = self.ended = True
        return body

    def fail(self, error):
        self.failure = error
        return b""

    def refusal(self, status, headers, body):
        return UpstreamError(
            words(body) or hints.plain_text(body) or "The vendor refused",
            status=status,
            retry_after=hints.retry_after(headers),
        )


class Sound(Answer):
    """Sound, which is handed on as it comes."""

    def feed(self, chunk):
        self.started = self.started or bool(chunk)
        return chunk

    def close(self):
        self.ended = self.failure is None
        return b""


class Said(msgspec.Struct, frozen=True):
    message: str = ""


class Refused(msgspec.Struct):
    error: Said = Said()


class Counted(msgspec.Struct):
    prompt_tokens: int = 0
    input_tokens: int = 0
    output_tokens: int = 0


class Told(msgspec.Struct):
    usage: Counted | None = None


def words(body):
    try:
        return msgspec.json.decode(body, type=Refused).error.message
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return ""


def counted(body):
    usage = msgspec.json.decode(body, type=Told).usage
    if usage is None:
        return None
    return Usage(
        input_tokens=usage.prompt_tokens or usage.input_tokens, output_tokens=usage.output_tokens
    )


def request(credential, path, body, media):
    headers = {"content-type": media, "authorization": f"Bearer {credential.secret}"}
    return UpstreamRequest(url=BASE + path, headers=headers, body=body)


class Plain:
    """JSON there and JSON back."""

    def __init__(self, path):
        self.path = path

    def open(self, call, target, credential):
        members = {**msgspec.json.decode(call.body), "model": target.model.id}
        body = msgspec.json.encode(members)
        asked = request(credential, self.path, body, "application/json")
        return Answer(asked, "application/json", counted)


class Speech(Plain):
    """JSON there and sound back."""

    def open(self, call, target, credential):
        asked = super().open(call, target, credential).request
        return Sound(asked, "audio/mpeg", None)


class Transcription:
    """A form there and JSON back."""

    def open(self, call, target, credential):
        kept = [part for part in call.form if part.name != "model"]
        body, media = write_form([field("model", target.model.id), *kept])
        asked = request(credential, "/audio/transcriptions", bytes(body), media)
        return Answer(asked, "application/json", counted)


SERVICES = (
    Service(Kind.EMBEDDING, Plain("/embeddings")),
    Service(Kind.RERANK, Plain("/rerank")),
    Service(Kind.MODERATION, Plain("/moderations")),
    Service(Kind.IMAGE, Plain("/images/generations")),
    Service(Kind.IMAGE_TO_TEXT, Plain("/images/descriptions")),
    Service(Kind.SPEECH, Speech("/audio/speech")),
    Service(Kind.TRANSCRIPTION, Transcription()),
    Service(Kind.AUDIO, Plain("/audio")),
    Service(Kind.MUSIC, Plain("/music")),
    Service(Kind.VIDEO, Plain("/videos")),
    Service(Kind.SEARCH, Plain("/search")),
    Service(Kind.FETCH, Plain("/fetch")),
    Service(Kind.DOCUMENT_PARSING, Plain("/documents")),
)
SAMPLE = ProviderSpec(
    id="services-NAME",
    name="Sample",
    base_url=BASE,
    environment=("SERVICES_NAME_KEY",),
    models=tuple(Model(f"maker/{each.kind}", kind=each.kind) for each in SERVICES),
    services=SERVICES,
)


@hookimpl
def register_providers():
    return [SAMPLE]
'''
MEMBERS = '{**msgspec.json.decode(call.body), "model": target.model.id}'
HEADERS = '{"content-type": media, "authorization": f"Bearer {credential.secret}"}'
READ = "            self.usage = self.reads(body)\n"
TURNED = "class Plain:\n"

Change = tuple[str, str]
BUGS: dict[str, tuple[Change, ...]] = {
    "prefix_sent": ((MEMBERS, '{**msgspec.json.decode(call.body), "model": call.model}'),),
    "question_lost": ((MEMBERS, '{"model": target.model.id}'),),
    "model_lost": ((MEMBERS, '{**msgspec.json.decode(call.body), "model": "usual"}'),),
    "key_in_address": (("url=BASE + path", 'url=BASE + path + "?key=" + credential.secret'),),
    "key_missing": ((HEADERS, '{"content-type": media}'),),
    "key_twice": ((HEADERS, HEADERS[:-1] + ', "x-api-key": credential.secret}'),),
    "client_key_sent": (
        ("        body = msgspec.json.encode(members)\n", "        body = msgspec.json.encode("
         '{**members, "user": call.headers.get("authorization")})\n'),
    ),
    "cookie_sent": (
        ('return Answer(asked, "application/json", counted)\n\n\nclass Speech',
         'asked.headers["cookie"] = call.headers["cookie"]\n'
         '        return Answer(asked, "application/json", counted)\n\n\nclass Speech'),
    ),
    "other_host": (("url=BASE + path", 'url="https://api.other.example/v1" + path'),),
    "slash_doubled": (("url=BASE + path", 'url=BASE + "/" + path'),),
    "header_case": (('"content-type": media', '"Content-Type": media'),),
    "type_lost": (('{"content-type": media, ', "{"),),
    "boundary_lost": (
        (
            'bytes(body), media)',
            'bytes(body), "multipart/form-data; boundary=x")',
        ),
    ),
    "random_request": (
        (HEADERS, "{**" + HEADERS + ', "x-id": str(next(NUMBERS))}'),
        ("BASE = ", "import itertools\nNUMBERS = itertools.count()\nBASE = "),
    ),
    "answer_lost": (("return body\n\n    def fail", 'return b"{}"\n\n    def fail'),),
    "answer_twice": (("        self.held.append(chunk)\n        return b\"\"",
                      "        self.held.append(chunk)\n        return chunk"),),
    "text_torn": (
        ("        self.held.append(chunk)\n",
         '        self.held.append(chunk.decode("utf-8", "ignore").encode())\n'),
    ),
    "sound_as_text": (
        ("        return chunk\n", '        return chunk.decode("utf-8", "replace").encode()\n'),
    ),
    "chunk_is_whole": (
        ("        self.held.append(chunk)\n", "        self.held[:] = [chunk]\n"),
    ),
    "held_together": (
        ("self.losses, self.held = Losses(), []", "self.losses, self.held = Losses(), HELD"),
        (TURNED, "HELD = []\n\n\n" + TURNED),
        ("        body = b\"\".join(self.held)\n",
         "        body = b\"\".join(self.held)\n        HELD.clear()\n"),
    ),
    "usage_lost": ((READ, "            self.reads(body)\n"),),
    "usage_doubled": (("=usage.output_tokens", "=2 * usage.output_tokens"),),
    "usage_invented": (
        ("    if usage is None:\n        return None\n",
         "    if usage is None:\n        usage = Counted(7, 7, 7)\n"),
    ),
    "broken_passes": ((READ, "            pass\n"),),
    "raises_at_junk": (
        ("except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):\n            self",
         "except msgspec.ValidationError:\n            self"),
    ),
    "raises_at_depth": (
        ("except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):\n            self",
         "except (msgspec.MsgspecError, UnicodeDecodeError):\n            self"),
    ),
    "failure_forgotten": (("        self.failure = error\n        return b\"\"\n\n    def refusal",
                           "        return b\"\"\n\n    def refusal"),),
    "status_lost": (("            status=status,\n", "            status=502,\n"),),
    "words_lost": (('words(body) or hints.plain_text(body) or "The', '"The'),),
    "wait_lost": (("retry_after=hints.retry_after(headers)", "retry_after=None"),),
    "wait_in_seconds_only": (
        ("retry_after=hints.retry_after(headers)",
         'retry_after=float(headers["retry-after"]) if "retry-after" in headers else None'),
    ),
    "refusal_raises": (
        ("words(body) or hints.plain_text(body)", 'msgspec.json.decode(body)["error"]["message"]'),
    ),
    "page_quoted": (("hints.plain_text(body)", 'body.decode("utf-8", "replace")'),),
    "key_quoted": (
        ("words(body) or", "self.request.headers['authorization'] + words(body) or"),
    ),
    "method_lost": (("UpstreamRequest(url", 'UpstreamRequest(method="SEND", url'),),
    "bytes_forgotten": (("        self.held.append(chunk)\n        return b\"\"",
                         "        self.held.append(chunk)\n        return None"),),
}  # fmt: skip
"""Each bug as replacements in the correct plugin."""


def module_of(name: str) -> str:
    return f"gateway_provider_services_{name}"


def write(folder: Path) -> None:
    """Write every plugin as a module of its own."""
    for name, changes in {"sound": (), **BUGS}.items():
        text = SOUND
        for old, new in changes:
            assert old in text, (name, old)
            text = text.replace(old, new, 1)
        text = text.replace("services-NAME", f"services-{name.replace('_', '-')}")
        (folder / f"{module_of(name)}.py").write_text(text.replace("NAME", name.upper()))
