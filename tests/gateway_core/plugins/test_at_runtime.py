"""A plugin that breaks while requests run spoils one request and rests no account."""

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gateway_format_openai
import msgspec
import pytest
from fake_vendor import Said
from msgspec import Raw, Struct
from msgspec.structs import replace
from office import KEY, Office, opened

from gateway_core import Auth, Call, Credential, Kind, ProviderSpec, Target, WireFormat, hookimpl
from gateway_core.contracts.errors import UpstreamError
from gateway_core.plugins import State
from gateway_core.storage.connection import PROVIDER_DATA, NewConnection

pytestmark = pytest.mark.anyio
[OPENAI] = [w for w in gateway_format_openai.register_formats() if w.id == "openai"]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Broken:
    """Fails by whatever it is asked for; ``how`` makes the failure."""

    name = "broken"

    def __init__(self, how: Any) -> None:
        self.how = how

    def __call__(self, *given: Any) -> Any:
        return self.how()

    async def send(self, *given: Any) -> Any:
        return self.how()


def raising(error: BaseException) -> Any:
    def how() -> Any:
        raise error

    return how


WAYS = {
    "raises": raising(RuntimeError("a bug")),
    "ends the process": raising(SystemExit(3)),
    "interrupts": raising(KeyboardInterrupt()),
    "never ends": raising(RecursionError()),
    "gives nothing": lambda: None,
    "gives something else": lambda: 7,
}


def spec(id: str, **fields: Any) -> ProviderSpec:
    usual = {"base_url": "http://127.0.0.1:1", "passthrough_models": True}
    return ProviderSpec(**{"id": id, "name": id, "auth": Auth(type="none"), **usual, **fields})


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


def plugin_of(*specs: ProviderSpec, formats: tuple[WireFormat, ...] = ()) -> Any:
    return SimpleNamespace(
        register_formats=hookimpl(lambda: formats), register_providers=hookimpl(lambda: specs)
    )


async def combo(office: Office, *models: str) -> None:
    await office.ask("POST", "/api/combos", {"name": "both", "models": models}, status=201)


@pytest.mark.parametrize("how", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("place", ["executor", "url_builder"])
async def test_a_broken_provider_fails_alone(
    tmp_path: Path, place: str, how: Any, caplog: pytest.LogCaptureFixture
) -> None:
    plugin = plugin_of(spec("bad", **{place: Broken(how)}))
    async with opened(tmp_path, {}, more={"bad": plugin}) as office:
        await office.connect()
        await combo(office, "bad/m", "ac/large")

        alone, together = await office.chat("bad/m"), await office.chat("both")

        assert alone.status_code == 502
        assert alone.json()["error"]["code"] in ("plugin_failed", "host_refused")
        assert "a bug" not in alone.text
        assert together.status_code == 200
        assert office.core.health.resting("bad:public", "m") is None
        assert "plugin bad: " in caplog.text


async def test_a_broken_format_fails_no_management_route_but_its_own(tmp_path: Path) -> None:
    plugin = plugin_of(
        spec("speaks", format="broken"), formats=(wire("path", WAYS["ends the process"]),)
    )
    async with opened(tmp_path, {}, more={"bad": plugin}) as office:
        body = {"provider": "speaks", "name": "main", "apiKey": KEY}
        answer = await office.client.post("/api/providers", json=body)

        assert answer.status_code in (201, 500)
        assert (await office.client.get("/api/providers")).status_code == 200


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
    plugin = plugin_of(spec("speaks", format="broken"), formats=(wire(verb, WAYS[how]),))
    async with opened(tmp_path, {}, more={"bad": plugin}) as office:
        base = f"{office.vendor.url}/v1"
        key = "wrong-canary" if verb == "read_error" else KEY
        data = {"apiKey": key, PROVIDER_DATA: {"baseUrl": base}}
        made = NewConnection(provider="speaks", name="main", data=data)
        row = await office.core.stores.connections.create(made)
        await office.core.refresh()
        await office.connect()
        body = {"messages": [{"role": "user", "content": "Hello"}], "stream": stream}

        answer = await office.client.post(
            "/v1/chat/completions", json={"model": "speaks/m", **body}
        )

        assert (answer.status_code, answer.json()["error"]["code"]) == (502, "plugin_failed")
        assert office.core.health.resting(row.id, "m") is None
        assert (await office.chat("ac/large")).status_code == 200


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
    async with opened(tmp_path, {}, more={"bad": plugin}) as office:
        pieces = tuple(map(chunk, words))
        said = Said(pieces, content_type="text/event-stream", chunked=True, pause=0.02)
        office.vendor.said["/chat/completions"] = said
        row = await office.connect(
            "speaks", providerSpecificData={"baseUrl": f"{office.vendor.url}/v1"}
        )

        answer = await office.client.post(
            "/v1/chat/completions",
            json={
                "model": "speaks/m",
                "messages": [{"role": "user", "content": "Hi"}],
                "stream": True,
            },
        )

        assert (answer.status_code, "error" in answer.text) == (status, True)
        assert office.core.health.resting(row["id"], "m") is None
        assert (await office.client.get("/api/providers")).status_code == 200


async def test_changing_the_account_it_was_given_leads_a_plugin_nowhere(tmp_path: Path) -> None:
    def build(target: Target, credential: Credential, path: str) -> str:
        data: Any = credential.data
        data["baseUrl"] = target.model.id
        return f"{target.model.id}{path}"

    plugin = plugin_of(spec("sly", auth=Auth(), url_builder=build))
    async with opened(tmp_path, {}, more={"sly": plugin}) as office:
        await office.connect("sly")

        first = await office.chat(f"sly/{office.other.url}")
        again = await office.chat(f"sly/{office.other.url}")

        assert [each.json()["error"]["code"] for each in (first, again)] == ["plugin_failed"] * 2
        assert office.other.asked == []


async def cancelled() -> None:
    """What a task that waits for a cancelled one of its own comes to."""
    task = asyncio.create_task(asyncio.Event().wait())
    task.cancel()
    await task


class Lost(BaseException):
    """An error that hardly anybody catches."""


async def lost() -> None:
    raise Lost


@pytest.mark.parametrize("how", [cancelled, lost])
async def test_what_looks_like_an_end_is_a_failure_of_one_request(tmp_path: Path, how: Any) -> None:
    class Ends:
        name = "ends"

        async def send(self, *given: Any) -> Any:
            await how()

    plugin = plugin_of(spec("ends", executor=Ends()))
    async with opened(tmp_path, {}, more={"ends": plugin}) as office:
        answer = await office.chat("ends/m")

        assert (answer.status_code, answer.json()["error"]["code"]) == (502, "plugin_failed")


async def test_an_answer_that_cannot_be_closed_is_none(tmp_path: Path) -> None:
    answer = SimpleNamespace(status=200, headers={}, next=Broken(lambda: b""))
    plugin = plugin_of(spec("open", executor=Answering(answer)))
    async with opened(tmp_path, {}, more={"open": plugin}) as office:
        told = await office.chat("open/m")

        assert (told.status_code, told.json()["error"]["code"]) == (502, "plugin_failed")


class Answering:
    """Gives the same answer to everybody."""

    name = "answering"

    def __init__(self, answer: object) -> None:
        self._answer = answer

    async def send(self, *given: Any) -> Any:
        return self._answer


@pytest.mark.parametrize("how", [cancelled, lost])
@pytest.mark.parametrize("stream", [False, True])
async def test_what_reading_an_answer_raises_is_a_failure_of_one_request(
    tmp_path: Path, how: Any, stream: bool
) -> None:
    class Ends:
        status, headers = 200, {"content-type": "application/json"}

        async def next(self) -> bytes:
            await how()
            return b""

        async def aclose(self) -> None:
            return

    plugin = plugin_of(spec("ends", executor=Answering(Ends())))
    async with opened(tmp_path, {}, more={"ends": plugin}) as office:
        asked = {"model": "ends/m", "messages": [{"role": "user", "content": "x"}]}
        path = "/v1/chat/completions"

        answer = await office.client.post(path, json={**asked, "stream": stream})

        assert (answer.status_code, answer.json()["error"]["code"]) == (502, "plugin_failed")


async def test_an_executor_that_never_answers_is_cut(tmp_path: Path) -> None:
    class Endless:
        name = "endless"

        async def send(self, *given: Any) -> Any:
            await asyncio.Event().wait()

    plugin = plugin_of(spec("slow", executor=Endless()))
    async with opened(tmp_path, {}, more={"slow": plugin}) as office:
        office.core.whole_timeout = 0.05

        answer = await office.chat("slow/m")

        assert answer.status_code == 504


async def test_an_executors_own_refusal_counts_as_the_vendors(tmp_path: Path) -> None:
    refusal = UpstreamError("No more today", status=429, retry_after=60)
    plugin = plugin_of(spec("spent", executor=Broken(raising(refusal))))
    async with opened(tmp_path, {}, more={"spent": plugin}) as office:
        answer = await office.chat("spent/m")

        assert answer.status_code == 429
        assert office.core.health.resting("spent:public", "m") is not None


async def test_a_secret_in_a_bugs_words_is_not_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def build(target: Target, credential: Credential, path: str) -> str:
        raise KeyError(credential.secret)

    plugin = plugin_of(spec("tells", auth=Auth(), url_builder=build))
    async with opened(tmp_path, {}, more={"tells": plugin}) as office:
        await office.connect("tells")

        await office.chat("tells/m")

        assert "failed: KeyError: '***'" in caplog.text
        assert "canary" not in caplog.text


class Faulty:
    """An interceptor that fails when it is told to."""

    order = 1

    def __init__(self, *, required: bool = False) -> None:
        self.required = required
        self.how: Any = None

    async def before(self, call: Any) -> Any:
        found = call if self.how is None else self.how(call)
        return await found if asyncio.iscoroutine(found) else found

    async def after(self, record: Mapping[str, Any]) -> None:
        return None


def changed(**fields: Any) -> Any:
    return lambda call: replace(call, **fields)


def spoilt(call: Any) -> Any:
    call.model = "nobody/m"
    call.body = b"spoilt"
    raise RuntimeError("a bug")


CALLS = {
    "awaits what was cancelled": lambda call: cancelled(),
    "raises": lambda call: 1 / 0,
    "ends the process": lambda call: raising(SystemExit(3))(),
    "spoils and raises": spoilt,
    "gives nothing": lambda call: None,
    "gives another type": lambda call: {"model": "m"},
    "spoils a field": changed(members=7),
    "changes the format": changed(format="claude"),
    "changes the kind of answer": changed(stream=True),
}


@pytest.mark.parametrize("how", CALLS.values(), ids=CALLS)
async def test_a_broken_interceptor_is_passed_over(tmp_path: Path, how: Any) -> None:
    faulty = Faulty()
    faulty.how = how
    plugin = SimpleNamespace(register_interceptors=hookimpl(lambda: [faulty]))
    async with opened(tmp_path, {}, more={"faulty": plugin}) as office:
        await office.connect()

        assert (await office.chat("ac/large")).status_code == 200


async def test_only_failures_in_a_row_switch_an_interceptor_off(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    faulty = Faulty()
    plugin = SimpleNamespace(register_interceptors=hookimpl(lambda: [faulty]))
    async with opened(tmp_path, {}, more={"faulty": plugin}) as office:
        await office.connect()
        for how in [CALLS["raises"]] * 4 + [None] + [CALLS["raises"]] * 4:
            faulty.how = how
            await office.chat("ac/large")
        assert len(office.core.interceptors.active) == 1

        faulty.how = CALLS["raises"]
        await office.chat("ac/large")

        assert office.core.interceptors.active == ()
        told = "interceptor Faulty failed 5 times in a row and is left out"
        assert [p.message for p in office.core.tables.registry.problems] == [told]
        assert f"plugin faulty: {told} until the next start" in caplog.text


async def test_one_that_many_calls_are_with_is_left_out_once(tmp_path: Path) -> None:
    faulty, gate, arrived = Faulty(), asyncio.Event(), list[Any]()

    async def wait(call: Any) -> None:
        arrived.append(call)
        await gate.wait()
        raise RuntimeError("a bug")

    faulty.how = wait
    plugin = SimpleNamespace(register_interceptors=hookimpl(lambda: [faulty]))
    async with opened(tmp_path, {}, more={"faulty": plugin}) as office:
        await office.connect()
        calls = [asyncio.create_task(office.chat("ac/large")) for _ in range(9)]
        while len(arrived) < len(calls):
            await asyncio.sleep(0)
        gate.set()

        answers = await asyncio.gather(*calls)

        assert {each.status_code for each in answers} == {200}
        assert len(office.core.tables.registry.problems) == 1


async def test_what_an_interceptor_keeps_of_a_call_changes_nothing_later(tmp_path: Path) -> None:
    kept: list[Any] = []
    faulty = Faulty()
    faulty.how = lambda call: kept.append(call) or call
    plugin = SimpleNamespace(register_interceptors=hookimpl(lambda: [faulty]))
    async with opened(tmp_path, {}, more={"keeper": plugin}) as office:
        given = Call(
            kind=Kind.LLM, format="openai", model="m", stream=False, body=b"", members={"a": Raw()}
        )

        made = await office.core.interceptors.before(given)
        kept[0].members.clear()

        assert (dict(made.members), dict(given.members)) == ({"a": Raw()}, {"a": Raw()})


async def test_a_required_one_goes_on_refusing(tmp_path: Path) -> None:
    faulty = Faulty(required=True)
    faulty.how = CALLS["raises"]
    plugin = SimpleNamespace(register_interceptors=hookimpl(lambda: [faulty]))
    async with opened(tmp_path, {}, more={"faulty": plugin}) as office:
        await office.connect()

        answers = [(await office.chat("ac/large")).status_code for _ in range(7)]

        assert answers == [500] * 7


async def test_a_required_one_stands_before_counting_too(tmp_path: Path) -> None:
    faulty = Faulty(required=True)
    faulty.how = CALLS["raises"]
    plugin = SimpleNamespace(register_interceptors=hookimpl(lambda: [faulty]))
    async with opened(tmp_path, {}, more={"faulty": plugin}) as office:
        await office.connect()
        body = {"model": "ac/large", "messages": [{"role": "user", "content": "Hello"}]}

        answer = await office.client.post("/v1/messages/count_tokens", json=body)

        assert answer.status_code == 500
        assert office.vendor.calls() == []


class Told(Struct, frozen=True, kw_only=True):
    api_key: str = "canary-of-settings"


async def test_a_lifespan_that_fails_tells_no_secret_of_its_settings(tmp_path: Path) -> None:
    @asynccontextmanager
    async def running(host: Any) -> AsyncIterator[None]:
        raise RuntimeError(f"refused: {host.settings.api_key}")
        yield

    plugin = SimpleNamespace(
        GATEWAY_PROTOCOL=2,
        register_settings=hookimpl(lambda: Told),
        lifespan=hookimpl(lambda host: running(host)),
    )
    async with opened(tmp_path, {}, more={"dull": plugin}) as office:
        [problem] = office.core.tables.registry.problems

        assert problem.message == "lifespan failed: RuntimeError: refused: ••••••••"


class Unwilling:
    """Fails by whatever it is asked for."""

    @property
    def __class__(self) -> Any:
        raise RuntimeError("a bug")

    def __repr__(self) -> str:
        raise RuntimeError("a bug")


@pytest.mark.parametrize("hook", ["register_providers", "register_formats", "register_routes"])
async def test_an_answer_that_cannot_be_looked_at_is_left_out(tmp_path: Path, hook: str) -> None:
    plugin = SimpleNamespace(**{hook: hookimpl(lambda: [Unwilling()])})
    async with opened(tmp_path, {}, more={"dull": plugin}) as office:
        [problem] = office.core.tables.registry.problems

        assert (problem.plugin, "raised RuntimeError" in problem.message) == ("dull", True)
        await office.ask("GET", "/api/health")


class Restless(Faulty):
    """Tells its order once."""

    asked = 0

    @property
    def order(self) -> int:  # type: ignore[override]
        self.asked += 1
        if self.asked > 2:
            raise SystemExit(3)
        return 1


async def test_an_interceptor_that_does_not_tell_its_order_is_left_out(tmp_path: Path) -> None:
    plugin = SimpleNamespace(register_interceptors=hookimpl(lambda: [Restless()]))
    async with opened(tmp_path, {}, more={"restless": plugin}) as office:
        [problem] = office.core.tables.registry.problems

        assert problem.message == "interceptor is refused: reading it raised SystemExit"


@pytest.mark.parametrize(
    "context",
    [object(), None, "raise"],
    ids=["no context manager", "nothing", "raises"],
)
async def test_a_lifespan_that_does_not_begin_is_a_problem_of_its_plugin(
    tmp_path: Path, context: Any, caplog: pytest.LogCaptureFixture
) -> None:
    def lifespan() -> Any:
        return raising(RuntimeError("a bug"))() if context == "raise" else context

    plugin = SimpleNamespace(
        register_providers=hookimpl(lambda: [spec("kept")]), lifespan=hookimpl(lifespan)
    )
    with caplog.at_level(logging.WARNING):
        async with opened(tmp_path, {}, more={"dull": plugin}) as office:
            [record] = [p for p in office.core.tables.registry.plugins if p.name == "dull"]
            await office.connect()

            assert record.state is State.FAILED
            assert "lifespan failed" in (record.error or "")
            assert "kept" in office.core.tables.registry.providers
            assert (await office.chat("ac/large")).status_code == 200
            again = [p for p in office.core.tables.registry.plugins if p.name == "dull"]
            assert again == [record]
