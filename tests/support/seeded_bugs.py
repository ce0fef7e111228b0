"""A correct provider plugin as text, and variants with one bug each."""

from pathlib import Path

SOUND = '''"""Sample: a vendor that exists only in tests.

API reference: https://docs.sample.example/api
"""

from collections.abc import AsyncIterator
from importlib import import_module

import msgspec
from msgspec.structs import replace

from gateway_core import (
    Auth, Credential, Model, ProviderSpec, Transport, UpstreamError, UpstreamRequest,
    UpstreamResponse, UsageReported, WireFormat, hookimpl,
)

DIALECT = import_module("gateway_format_openai").CHAT
ID = "sample-NAME"


class Executor:
    name = "sample"

    async def send(self, request, credential, transport):
        response = await transport.send(request)
        return response


class Body:
    """A response whose body is changed on its way."""

    def __init__(self, response):
        self.response, self.status, self.headers = response, response.status, response.headers

    async def next(self):
        return await self.response.next()

    async def aclose(self):
        await self.response.aclose()


class Reader:
    """A stream's events, changed on their way."""

    def __init__(self):
        self.inner, self.calls = DIALECT.vendor.stream_reader(), 0

    def feed(self, chunk):
        return [event for each in self.inner.feed(chunk) for event in self.seen(each)]

    def close(self):
        return [event for each in self.inner.close() for event in self.seen(each)]

    def seen(self, event):
        return [event]


class Vendor:
    """The vendor side of the plugin's own format."""

    def __getattr__(self, name):
        return getattr(DIALECT.vendor, name)

    def read_reply(self, body):
        return DIALECT.vendor.read_reply(body)

    def read_error(self, status, headers, body):
        return DIALECT.vendor.read_error(status, headers, body)

    def write_request(self, conversation, target, losses):
        return DIALECT.vendor.write_request(conversation, target, losses)

    def relay(self, call, target, members):
        return DIALECT.vendor.relay(call, target, members)

    def path(self, model, stream):
        return DIALECT.vendor.path(model, stream)

    def stream_reader(self):
        return Reader()


OWN = replace(DIALECT, id=ID, dialect=ID, also_called=(), endpoints=(), vendor=Vendor())


END = (
    b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\\n\\n'
    b"data: [DONE]\\n\\n"
)


def address(target, credential, path):
    return "https://api.sample.example/v1" + path


SAMPLE = ProviderSpec(
    id=ID,
    name="Sample",
    format="openai",
    base_url="https://api.sample.example/v1",
    url_builder=address,
    headers={"x-sample": "1"},
    auth=Auth(type="apikey"),
    environment=("SAMPLE_NAME_KEY",),
    timeout_ms=90_000,
    executor=Executor(),
    models=(Model("maker/large", unsupported=("top_k",)),),
    drop=("logit_bias",),
    rename={"seed": "random_seed"},
)


@hookimpl
def register_formats():
    return [OWN]


@hookimpl
def register_providers():
    return [SAMPLE]
'''
OWN_FORMAT = ('format="openai"', "format=ID")
SEND = "        response = await transport.send(request)\n"
HANDED = "        return response\n"
BUILT = 'return "https://api.sample.example/v1" + path'
NEXT = "        return await self.response.next()\n"
SEEN = "        return [event]\n"
REPLY = "        return DIALECT.vendor.read_reply(body)"

Change = tuple[str, str]
WRAPPED = (HANDED, "        return Body(response)\n")
"""The response's body is returned by an object of the plugin."""


def _before(code: str) -> Change:
    """Do this before a request is sent."""
    return SEND, "".join(f"        {line}\n" for line in code.splitlines()) + SEND


def _members(code: str) -> Change:
    """Do this to the body's members before a request is sent."""
    return _before(
        f"members = msgspec.json.decode(request.body)\n{code}\n"
        "request = replace(request, body=msgspec.json.encode(members))"
    )


def _first(code: str) -> Change:
    """Do this while the module is imported."""
    return "DIALECT =", f"{code}\nDIALECT ="


def _headers(code: str) -> Change:
    return _before(f"request = replace(request, headers={code})")


def _bytes(old: str, new: str) -> tuple[Change, ...]:
    """Replace this in the vendor's answer."""
    code = f"return (await self.response.next()).replace(b{old!r}, b{new!r})"
    return WRAPPED, (NEXT, f"        {code}\n")


BUGS: dict[str, tuple[Change, ...]] = {
    "path_doubled": ((BUILT, 'return "https://api.sample.example/v1/chat/completions" + path'),),
    "path_lost": ((BUILT, 'return "https://api.sample.example/v1/chat"'),),
    "slash_doubled": ((BUILT, 'return "https://api.sample.example/v1/" + path'),),
    "base_url_slash": (('example/v1",\n    url', 'example/v1/",\n    url'),),
    "place_unfilled": ((BUILT, 'return "https://{region}.sample.example/{region}" + path'),),
    "key_in_query": ((BUILT, f"{BUILT} + '?key=' + credential.secret"),),
    "key_in_body": (_members('members["api_key"] = credential.secret'),),
    "key_twice": (_headers('{**request.headers, "x-api-key": credential.secret}'),),
    "key_logged": (
        _before('import_module("logging").getLogger("acme").debug("by %s", credential.secret)'),
    ),
    "key_logged_when_refused": ((HANDED, """        if response.status == 401:
            import_module("logging").getLogger("acme").error("no good: %s", credential.secret)
        return response
"""),),
    "key_missing": (
        _headers('{k: v for k, v in request.headers.items() if k != "authorization"}'),
    ),
    "static_key": (('"x-sample": "1"', '"authorization": "Bearer 1"'),),
    "header_case": (_headers('{**request.headers, "X-Sample-Two": "1"}'),),
    "content_type_lost": (
        _headers('{k: v for k, v in request.headers.items() if k != "content-type"}'),
    ),
    "prefix_sent": (_members('members["model"] = ID + "/" + members["model"]'),),
    "prefix_cut": (_members('members["model"] = members["model"].rpartition("/")[2]'),),
    "drop_undone": (_members('members["logit_bias"] = {}'),),
    "rename_undone": (_members('members["seed"] = members.pop("random_seed", None)'),),
    "stream_forced": (_members('members["stream"] = True'),),
    "conversation_lost": (_members('members["messages"] = []'),),
    "tools_lost": (_members('members.pop("tools", None)'),),
    "unknown_member_lost": (_members('members.pop("kit_member", None)'),),
    "thinking_lost": _bytes("reasoning_content", "thoughts"),
    "tool_ids_lost": _bytes('"id":"call_b2"', '"id":""'),
    "tool_ids_doubled": _bytes("call_b2", "call_a1"),
    "finish_changed": _bytes('"finish_reason":"tool_calls"', '"finish_reason":"length"'),
    "asked_twice": (_before("await (await transport.send(request)).aclose()"),),
    "other_door": ((SEND, "        response = Body(Nothing())\n"), ("class Body:", '''class Nothing:
    status, headers = 200, {"content-type": "application/json"}

    async def next(self):
        return b""

    async def aclose(self):
        pass


class Body:''')),
    "retries_refusals": ((HANDED, """        if response.status == 429:
            response = await transport.send(request)
        return response
"""),),
    "wait_ignored": ((HANDED, """        if response.status == 429:
            raise UpstreamError("Slow down", status=429)
        return response
"""),),
    "wait_ignored_by_format": (OWN_FORMAT, (
        "        return DIALECT.vendor.read_error(status, headers, body)",
        "        return DIALECT.vendor.read_error(status, {}, body)",
    )),
    "status_lost": ((HANDED, """        if response.status >= 400:
            raise UpstreamError("It failed")
        return response
"""),),
    "raises_foreign_error": ((HANDED, """        if response.status >= 400:
            raise ValueError("It failed")
        return response
"""),),
    "patience_lost": (_before("request = replace(request, first_byte_timeout=None)"),),
    "hoards_the_stream": (WRAPPED, (NEXT, """        body = b""
        while chunk := await self.response.next():
            body += chunk
        return body
""")),
    "never_closes": (WRAPPED, ("        await self.response.aclose()\n", "        pass\n")),
    "tears_characters": (WRAPPED, (NEXT, """        chunk = await self.response.next()
        return chunk.decode("utf-8", "ignore").encode()
""")),
    "swallows_cuts": (WRAPPED, (NEXT, """        try:
            return await self.response.next()
        except UpstreamError:
            return END if not self.ended() else b""

    def ended(self):
        was, self.over = getattr(self, "over", False), True
        return was
""")),
    "usage_twice": (OWN_FORMAT, (SEEN, """        if isinstance(event, UsageReported):
            usage = event.usage
            twice = replace(usage, output_tokens=2 * usage.output_tokens)
            return [UsageReported(twice)]
        return [event]
""")),
    "cached_added": (OWN_FORMAT, (REPLY, """        reply = DIALECT.vendor.read_reply(body)
        if reply.usage is None:
            return reply
        more = reply.usage.input_tokens + reply.usage.cached_tokens
        return replace(reply, usage=replace(reply.usage, input_tokens=more))""")),
    "usage_lost": (
        OWN_FORMAT,
        (SEEN, SEEN.replace("[event]", "[event] * (not isinstance(event, UsageReported))")),
    ),
    "second_tool_lost": (
        OWN_FORMAT,
        (SEEN, SEEN.replace("[event]", '[event][getattr(event, "index", 0) :]')),
    ),
    "frames_are_chunks": (
        OWN_FORMAT,
        ("self.inner.feed(chunk)", "DIALECT.vendor.stream_reader().feed(chunk)"),
    ),
    "socket_at_import": (_first('import_module("socket").getaddrinfo("localhost", 80)'),),
    "slow_at_import": (_first('import_module("time").sleep(0.6)'),),
    "private_import": (_first("from gateway_core.plugins.guard import PluginFailed"),),
    "network_import": (_first("import socket"),),
    "neighbour_import": (_first("import gateway_provider_groq"),),
    "random_manifest": (('"x-sample": "1"', '"x-sample": str(import_module("time").time_ns())'),),
    "variable_case": (('"SAMPLE_NAME_KEY"', '"Sample_NAME_key"'),),
    "no_documentation": (("https://docs.sample.example/api", "none"),),
    "unknown_format": (('format="openai"', 'format="sampel"'),),
    "registers_nothing": (("    return [SAMPLE]", "    return []"),),
}  # fmt: skip
"""Each bug as replacements in the correct plugin."""
SETTINGS = (
    "def register_providers():",
    """def register_settings():
    return Settings


@hookimpl
def register_providers(settings):
    assert settings.host == 'sample'""",
)
SOUND_ONES: dict[str, tuple[Change, ...]] = {
    "sound": (),
    "sound_format": (OWN_FORMAT,),
    "sound_settings": (
        SETTINGS,
        ("class Executor:", """class Settings(msgspec.Struct, frozen=True):
    host: str = "sample"


class Executor:"""),
    ),
}  # fmt: skip


def module_of(name: str) -> str:
    return f"gateway_provider_sample_{name}"


def write(folder: Path) -> None:
    """Write every plugin as a module of its own."""
    for name, changes in {**SOUND_ONES, **BUGS}.items():
        text = SOUND
        for old, new in changes:
            assert old in text, (name, old)
            text = text.replace(old, new, 1)
        text = text.replace("sample-NAME", id_of(name)).replace("NAME", name.upper())
        (folder / f"{module_of(name)}.py").write_text(text)


def id_of(name: str) -> str:
    return f"sample-{name.replace('_', '-')}"
