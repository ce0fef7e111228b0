"""Whose a vendor's resources are, and who pays for them."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fake_vendor import MockResponse, ReceivedRequest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from native_gateway import Native, NativeGateway, error_of, serve_native

from gateway_core.contracts.usage import Usage
from gateway_native import charges
from gateway_native.resources import NativeResourceStore, ResourceName

MODEL = "openai/gpt-4o"
USAGE = {"input_tokens": 11, "output_tokens": 5, "total_tokens": 16}
UNKNOWN = (403, "Unknown native resource owner")


class Responses:
    """A vendor that keeps responses: each is complete once somebody has said so."""

    def __init__(self) -> None:
        self.made = 0
        self.complete: set[str] = set()
        self.deleted: set[str] = set()

    def say(self, received: ReceivedRequest) -> MockResponse:
        path = received.path.removeprefix("/v1/responses").strip("/")
        if received.method == "POST" and not path:
            self.made += 1
            id = f"resp_{self.made}"
            if received.json().get("background"):
                return answer({"id": id, "status": "queued", "usage": None})
            self.complete.add(id)
            return answer({"id": id, "status": "completed", "usage": USAGE})
        id = path.partition("/")[0]
        if id in self.deleted:
            return answer({"error": {"message": "gone"}}, 404)
        if received.method == "DELETE":
            self.deleted.add(id)
            return answer({"id": id, "deleted": True})
        is_complete = id in self.complete
        status = "completed" if is_complete else "in_progress"
        return answer({"id": id, "status": status, "usage": USAGE if is_complete else None})


def answer(value: Any, status: int = 200) -> MockResponse:
    return MockResponse((json.dumps(value).encode(),), status=status)


def create(gateway: NativeGateway, key: str = "", **more: Any) -> tuple[str, str]:
    """A response's id and its account."""
    made = gateway.call("POST", "openai/v1/responses", key=key, json={"model": MODEL, **more})
    assert made.status_code == 200, made.text
    return made.json()["id"], made.headers["x-gateway-connection-id"]


def poll(gateway: NativeGateway, id: str, pin: str, key: str = "") -> httpx2.Response:
    path = f"openai/v1/responses/{id}"
    return gateway.call("GET", path, key=key, pin=pin, params={"model": MODEL})


def charged(gateway: NativeGateway) -> list[tuple[str | None, int, int]]:
    """Key and tokens of each row that has some, oldest first."""
    rows = [row for row in reversed(gateway.rows()) if row.input_tokens or row.output_tokens]
    return [(row.api_key_id, row.input_tokens, row.output_tokens) for row in rows]


def test_a_completed_background_response_is_charged_once(native: Native) -> None:
    vendor = Responses()
    gateway = native(vendor.say)
    key = gateway.key("mine")
    id, pin = create(gateway, key["key"], background=True)
    poll(gateway, id, pin, key["key"])
    before = charged(gateway)
    vendor.complete.add(id)

    answers = [poll(gateway, id, pin, key["key"]) for _ in range(3)]

    assert before == []
    assert [each.json()["usage"] for each in answers] == [USAGE] * 3
    assert charged(gateway) == [(key["id"], 11, 5)]


def test_a_response_that_was_charged_when_it_was_made_is_not_charged_again(
    native: Native,
) -> None:
    gateway = native(Responses().say)
    key = gateway.key("mine")
    id, pin = create(gateway, key["key"])

    assert poll(gateway, id, pin, key["key"]).status_code == 200
    assert charged(gateway) == [(key["id"], 11, 5)]


def test_polls_at_the_same_time_are_charged_once(native: Native) -> None:
    vendor = Responses()
    gateway = native(vendor.say)
    key = gateway.key("mine")
    id, pin = create(gateway, key["key"], background=True)
    vendor.complete.add(id)

    async def poll_all() -> list[httpx2.Response]:
        headers = {"authorization": f"Bearer {key['key']}", "x-connection-id": pin}
        url = f"{gateway.here.url}/v1/native/openai/v1/responses/{id}?model={MODEL}"
        async with httpx2.AsyncClient(trust_env=False, timeout=30) as client:
            return await asyncio.gather(*(client.get(url, headers=headers) for _ in range(12)))

    answers = asyncio.run(poll_all())

    assert {each.status_code for each in answers} == {200}
    assert charged(gateway) == [(key["id"], 11, 5)]


def test_the_operator_may_poll_and_the_creator_is_charged(native: Native) -> None:
    vendor = Responses()
    gateway = native(vendor.say)
    key = gateway.key("mine")
    id, pin = create(gateway, key["key"], background=True)
    vendor.complete.add(id)

    assert poll(gateway, id, pin).status_code == 200
    assert charged(gateway) == [(key["id"], 11, 5)]


def test_a_creator_that_was_deleted_is_charged_and_nobody_else(native: Native) -> None:
    vendor = Responses()
    gateway = native(vendor.say)
    key, other = gateway.key("mine"), gateway.key("other")
    id, pin = create(gateway, key["key"], background=True)
    vendor.complete.add(id)
    gone = gateway.http.delete(f"{gateway.here.url}/api/keys/{key['id']}")

    refused = poll(gateway, id, pin, other["key"])
    seen = poll(gateway, id, pin)

    assert gone.status_code == 200
    assert error_of(refused) == UNKNOWN
    assert seen.status_code == 200
    assert charged(gateway) == [(key["id"], 11, 5)]


def test_what_the_operator_creates_is_not_for_keys(native: Native) -> None:
    gateway = native(Responses().say)
    id, pin = create(gateway)

    assert error_of(poll(gateway, id, pin, gateway.key("mine")["key"])) == UNKNOWN


def test_an_id_of_another_family_is_no_ones(native: Native) -> None:
    def say(received: ReceivedRequest) -> MockResponse:
        return answer({"id": "same"})

    gateway = native(say)
    body = {"model": "anthropic/claude-haiku-4-5", "requests": []}
    made = gateway.call("POST", "anthropic/v1/messages/batches", json=body)
    pin = made.headers["x-gateway-connection-id"]
    params = {"model": body["model"]}

    found = gateway.call("GET", "anthropic/v1/files/same", pin=pin, params=params)

    assert error_of(found) == UNKNOWN


def test_a_vendor_that_names_what_exists_already_gives_it_to_nobody_else(native: Native) -> None:
    gateway = native(lambda received: answer({"id": "resp_1", "usage": None}))
    first, second = gateway.key("first")["key"], gateway.key("second")["key"]
    id, pin = create(gateway, first)
    create(gateway, second)

    assert poll(gateway, id, pin, first).status_code == 200
    assert error_of(poll(gateway, id, pin, second)) == UNKNOWN


def test_two_ids_in_one_call_are_refused(native: Native) -> None:
    gateway = native(lambda received: answer({"task_id": "1"}))
    model = "minimax/MiniMax-H3"
    made = gateway.call("POST", "minimax/v2/video_generation", json={"model": model})
    pin = made.headers["x-gateway-connection-id"]
    gateway.received.clear()

    for query in ("task_id=1&task_id=2", "", "task_id=", "task_id=1%2F2"):
        path = f"minimax/v2/query/video_generation?model={model}&{query}"
        answered = gateway.call("GET", path, pin=pin)
        assert error_of(answered) == (400, "Missing native resource ID")
    assert gateway.received == []


STREAM = (
    b'event: response.created\ndata: {"type":"response.created","response":{"id":"resp_1"}}\n\n',
    b'data: {"type":"response.output_text.delta","delta":"hi"}\n\n',
    b'data: {"type":"response.completed","response":{"id":"resp_1","usage":'
    b'{"input_tokens":11,"output_tokens":5}}}\n\n',
)


def test_a_streamed_response_is_owned_before_its_client_sees_it(native: Native) -> None:
    def say(received: ReceivedRequest) -> MockResponse:
        if received.method == "POST":
            return MockResponse.stream(*STREAM)
        return answer({"id": "resp_1", "status": "completed", "usage": USAGE})

    gateway = native(say)
    key = gateway.key("mine")
    body = {"model": MODEL, "stream": True, "input": "hi"}
    made = gateway.call("POST", "openai/v1/responses", key=key["key"], json=body)

    assert made.content == b"".join(STREAM)
    pin = made.headers["x-gateway-connection-id"]
    assert poll(gateway, "resp_1", pin, key["key"]).status_code == 200
    assert charged(gateway) == [(key["id"], 11, 5)]


def test_a_streamed_poll_is_charged_once_before_its_last_event(native: Native) -> None:
    def say(received: ReceivedRequest) -> MockResponse:
        if received.method == "POST":
            return answer({"id": "resp_1", "status": "queued", "usage": None})
        return MockResponse.stream(*STREAM)

    gateway = native(say)
    key = gateway.key("mine")
    id, pin = create(gateway, key["key"], background=True)
    path, params = f"openai/v1/responses/{id}", {"model": MODEL, "stream": "true"}

    first, second = (
        gateway.call("GET", path, key=key["key"], pin=pin, params=params) for _ in range(2)
    )

    assert first.content == second.content == b"".join(STREAM)
    assert gateway.received[-1].target == f"/v1/responses/{id}?stream=true"
    assert charged(gateway) == [(key["id"], 11, 5)]


def test_a_poll_that_breaks_off_is_not_charged(native: Native) -> None:
    def say(received: ReceivedRequest) -> MockResponse:
        if received.method == "POST":
            return answer({"id": "resp_1", "status": "queued", "usage": None})
        if len(gateway.received) == 2:
            return MockResponse.stream(*STREAM[:2], STREAM[2][:40], cut=True)
        return MockResponse.stream(*STREAM)

    gateway = native(say)
    id, pin = create(gateway, background=True)
    path, params = f"openai/v1/responses/{id}", {"model": MODEL, "stream": "true"}

    broken = gateway.call("GET", path, pin=pin, params=params)
    between = charged(gateway)
    whole = gateway.call("GET", path, pin=pin, params=params)

    assert b"Native provider request failed" in broken.content
    assert between == []
    assert whole.content == b"".join(STREAM)
    assert charged(gateway) == [(None, 11, 5)]


NAME = ResourceName(provider="openai", connection_id="c", family="response", resource_id="resp_1")


@pytest.mark.parametrize("has_row", [False, True], ids=["before its row", "after its row"])
def test_a_process_that_ends_at_a_charge_leaves_it_charged_once(
    native: Native, has_row: bool
) -> None:
    gateway = native(Responses().say)
    core = gateway.here.gateway.core
    store = NativeResourceStore(core.stores.database, clock=core.clock)

    async def end_in_the_middle() -> None:
        await store.add(NAME, "key-1", "gpt-4o", charged_by=None)
        assert await store.claim(NAME, "request-1", Usage(input_tokens=11, output_tokens=5))
        if has_row:
            [claimed] = await store.unsettled(core.clock())
            core.ledger.record(charges._record(core, claimed))
            await core.ledger.flush()

    async def start_again() -> int:
        found = await charges.recover_charges(core)
        assert await charges.recover_charges(core) == 0
        assert not await store.claim(NAME, "request-2", Usage(input_tokens=1))
        return found

    gateway.here.do(end_in_the_middle())
    recovered = gateway.here.do(start_again())

    assert recovered == (0 if has_row else 1)
    assert charged(gateway) == [("key-1", 11, 5)]
    [row] = [row for row in gateway.rows() if row.request_id == "request-1"]
    assert (row.provider, row.model_sent, row.connection_id) == ("openai", "gpt-4o", "c")


class Owners(RuleBasedStateMachine):
    """Keys that make, poll and delete; a model of who may and who pays."""

    gateway: NativeGateway
    vendor: Responses
    keys: dict[str, dict[str, Any]]

    def __init__(self) -> None:
        super().__init__()
        self.owners: dict[str, str] = {}
        self.background: set[str] = set()
        self.paid: dict[str, int] = {}
        self.rows_before = len(charged(self.gateway))

    @property
    def ids(self) -> list[str]:
        return sorted(self.owners, key=lambda id: int(id[5:]))

    @initialize(who=st.sampled_from("ab"))
    def begin(self, who: str) -> None:
        self.make(who, False)

    @rule(who=st.sampled_from("ab"), background=st.booleans())
    def make(self, who: str, background: bool) -> None:
        id, self.pin = create(self.gateway, self.keys[who]["key"], background=background)
        self.owners[id] = who
        if background:
            self.background.add(id)
        else:
            self.paid[id] = 1

    @rule(index=st.integers(0, 20))
    def complete(self, index: int) -> None:
        self.vendor.complete.add(self.ids[index % len(self.owners)])

    @rule(index=st.integers(0, 20), who=st.sampled_from("abo"))
    def look(self, index: int, who: str) -> None:
        id = self.ids[index % len(self.owners)]
        seen = poll(self.gateway, id, self.pin, self.keys[who]["key"] if who != "o" else "")
        if id in self.vendor.deleted or who not in ("o", self.owners[id]):
            assert error_of(seen) == UNKNOWN
        else:
            assert seen.status_code == 200
            if id in self.vendor.complete:
                self.paid[id] = 1

    @rule(index=st.integers(0, 20), who=st.sampled_from("ab"))
    def delete(self, index: int, who: str) -> None:
        id = self.ids[index % len(self.owners)]
        is_there = id not in self.vendor.deleted
        path, params = f"openai/v1/responses/{id}", {"model": MODEL}
        key = self.keys[who]["key"]
        gone = self.gateway.call("DELETE", path, key=key, pin=self.pin, params=params)
        if is_there and who == self.owners[id]:
            assert gone.status_code == 200
        else:
            assert error_of(gone) == UNKNOWN

    @invariant()
    def everything_is_paid_once_by_its_owner(self) -> None:
        rows = charged(self.gateway)[self.rows_before :]
        wanted = sorted(self.keys[self.owners[id]]["id"] for id in self.paid)
        assert sorted(key or "" for key, _, _ in rows) == wanted


@pytest.fixture
def owners(tmp_path: Path, http: httpx2.Client) -> Iterator[type[Owners]]:
    vendor = Responses()
    with serve_native(tmp_path, vendor.say, http) as gateway:
        keys = {who: gateway.key(who) for who in "ab"}

        class Bound(Owners):
            pass

        Bound.gateway, Bound.vendor, Bound.keys = gateway, vendor, keys
        yield Bound


def test_resources_keep_their_owners(owners: type[Owners]) -> None:
    from hypothesis.stateful import run_state_machine_as_test

    few = settings(max_examples=8, stateful_step_count=12, deadline=None)
    run_state_machine_as_test(owners, settings=few)
