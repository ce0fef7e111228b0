"""A plugin that breaks while requests run spoils one request and rests no account."""

from pathlib import Path
from typing import Any

import gateway_format_openai
import msgspec
import pytest
from admin_gateway import KEY, AdminGateway, opened
from broken_plugins import Broken, plugin_of, raising, spec
from fake_vendor import MockResponse
from msgspec.structs import replace

from gateway_core import Auth, Credential, Target, WireFormat
from gateway_core.storage.stores.connection import PROVIDER_DATA, NewConnection

pytestmark = pytest.mark.anyio
[OPENAI] = [w for w in gateway_format_openai.register_formats() if w.id == "openai"]


WAYS = {
    "raises": raising(RuntimeError("a bug")),
    "ends the process": raising(SystemExit(3)),
    "interrupts": raising(KeyboardInterrupt()),
    "never ends": raising(RecursionError()),
    "gives nothing": lambda: None,
    "gives something else": lambda: 7,
}


class Vendor:
    """A vendor's side that fails in one verb."""

    def __init__(self, verb: str, how: Any) -> None:
        self._verb, self._how = verb, how

    def __getattr__(self, name: str) -> Any:
        return Broken(self._how) if name == self._verb else getattr(OPENAI.vendor, name)


def wire(verb: str, how: Any) -> WireFormat:
    vendor: Any = Vendor(verb, how)
    for name in ("write_request", "read_reply", "stream_reader", "read_error", "path", "relay"):
        setattr(vendor, name, getattr(vendor, name))
    return replace(OPENAI, id="broken", dialect="broken", endpoints=(), vendor=vendor)


async def combo(admin: AdminGateway, *models: str) -> None:
    await admin.call("POST", "/api/combos", {"name": "both", "models": models}, status=201)


@pytest.mark.parametrize("how", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("place", ["executor", "url_builder"])
async def test_a_broken_provider_fails_alone(
    tmp_path: Path, place: str, how: Any, caplog: pytest.LogCaptureFixture
) -> None:
    plugin = plugin_of(spec("bad", **{place: Broken(how)}))
    async with opened(tmp_path, {}, more={"bad": plugin}) as admin:
        await admin.connect()
        await combo(admin, "bad/m", "ac/large")

        alone, together = await admin.chat("bad/m"), await admin.chat("both")

        assert alone.status_code == 502
        assert alone.json()["error"]["code"] in ("plugin_failed", "host_refused")
        assert "a bug" not in alone.text
        assert together.status_code == 200
        assert admin.core.cooldowns.find("bad:public", "m") is None
        assert "plugin bad: " in caplog.text


async def test_a_broken_format_fails_no_management_route_but_its_own(tmp_path: Path) -> None:
    plugin = plugin_of(
        spec("speaks", format="broken"), formats=(wire("path", WAYS["ends the process"]),)
    )
    async with opened(tmp_path, {}, more={"bad": plugin}) as admin:
        body = {"provider": "speaks", "name": "main", "apiKey": KEY}
        answer = await admin.client.post("/api/providers", json=body)

        assert answer.status_code in (201, 500)
        assert (await admin.client.get("/api/providers")).status_code == 200


@pytest.mark.parametrize("how", ["raises", "ends the process"])
@pytest.mark.parametrize(
    ("verb", "stream"),
    [
        ("write_request", False),
        ("path", True),
        ("read_reply", False),
        ("stream_reader", True),
        ("read_error", False),
    ],
)
async def test_a_broken_format_fails_alone(
    tmp_path: Path, verb: str, stream: bool, how: str
) -> None:
    speaks = spec("speaks", format="broken", auth=Auth(type="optional"))
    plugin = plugin_of(speaks, formats=(wire(verb, WAYS[how]),))
    async with opened(tmp_path, {}, more={"bad": plugin}) as admin:
        base = f"{admin.vendor.url}/v1"
        key = "wrong-canary" if verb == "read_error" else KEY
        data = {"apiKey": key, PROVIDER_DATA: {"baseUrl": base}}
        made = NewConnection(provider="speaks", name="main", data=data)
        row = await admin.core.stores.connections.create(made)
        await admin.core.refresh()
        await admin.connect()
        body = {"messages": [{"role": "user", "content": "Hello"}], "stream": stream}

        answer = await admin.client.post("/v1/chat/completions", json={"model": "speaks/m", **body})

        assert (answer.status_code, answer.json()["error"]["code"]) == (502, "plugin_failed")
        assert admin.core.cooldowns.find(row.id, "m") is None
        assert (await admin.chat("ac/large")).status_code == 200


class Stumbling:
    """Reads a stream until a word comes that it cannot stand."""

    def __init__(self) -> None:
        vendor: Any = OPENAI.vendor
        self._reader = vendor.stream_reader()

    def feed(self, chunk: bytes) -> Any:
        if b"stumble" in chunk:
            raise SystemExit(3)
        return self._reader.feed(chunk)

    def close(self) -> Any:
        return self._reader.close()


def chunk(text: str) -> bytes:
    delta = {"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}]}
    return b"data: %b\n\n" % msgspec.json.encode({"id": "c", "model": "m", **delta})


@pytest.mark.parametrize(
    ("words", "status"), [(("stumble",), 502), (("Hello", "stumble"), 200)], ids=["first", "later"]
)
async def test_a_format_that_breaks_in_a_stream_ends_that_stream(
    tmp_path: Path, words: tuple[str, ...], status: int
) -> None:
    plugin = plugin_of(
        spec("speaks", format="broken", auth=Auth(type="optional")),
        formats=(wire("stream_reader", Stumbling),),
    )
    async with opened(tmp_path, {}, more={"bad": plugin}) as admin:
        pieces = tuple(map(chunk, words))
        written = MockResponse(pieces, content_type="text/event-stream", chunked=True, pause=0.02)
        admin.vendor.written["/chat/completions"] = written
        row = await admin.connect(
            "speaks", providerSpecificData={"baseUrl": f"{admin.vendor.url}/v1"}
        )

        answer = await admin.client.post(
            "/v1/chat/completions",
            json={
                "model": "speaks/m",
                "messages": [{"role": "user", "content": "Hi"}],
                "stream": True,
            },
        )

        assert (answer.status_code, "error" in answer.text) == (status, True)
        assert admin.core.cooldowns.find(row["id"], "m") is None
        assert (await admin.client.get("/api/providers")).status_code == 200


async def test_changing_the_account_it_was_given_leads_a_plugin_nowhere(tmp_path: Path) -> None:
    def build(target: Target, credential: Credential, path: str) -> str:
        data: Any = credential.data
        data["baseUrl"] = f"http://{target.model.id}"
        return f"http://{target.model.id}{path}"

    plugin = plugin_of(spec("sly", auth=Auth(), url_builder=build))
    async with opened(tmp_path, {}, more={"sly": plugin}) as admin:
        await admin.connect("sly")

        origin = admin.other.url.removeprefix("http://")
        first = await admin.chat(f"sly/{origin}")
        again = await admin.chat(f"sly/{origin}")

        assert [each.json()["error"]["code"] for each in (first, again)] == ["plugin_failed"] * 2
        assert admin.other.received == []


async def test_a_secret_in_a_bugs_words_is_not_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def build(target: Target, credential: Credential, path: str) -> str:
        raise KeyError(credential.secret)

    plugin = plugin_of(spec("tells", auth=Auth(), url_builder=build))
    async with opened(tmp_path, {}, more={"tells": plugin}) as admin:
        await admin.connect("tells")

        await admin.chat("tells/m")

        assert "failed: KeyError: '***'" in caplog.text
        assert "canary" not in caplog.text
