"""Interceptors read calls of every format in neutral form, and what they change is sent."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx2
import pytest
from msgspec import Raw
from msgspec.structs import replace
from sdk_clients import CLIENTS, FOLDERS, pick, recordings, script
from served_gateway import Served, serve_gateway

from gateway_core import Call, Conversation, Text, hookimpl
from gateway_core.identity.credentials import CLI_HEADER
from gateway_core.pipeline.translation import Translation

NAMED = {"messages": [{"role": "user", "content": "hi"}]}


class Reading:
    """Does what a test sets, and keeps what it saw."""

    order, required = 1, True

    def __init__(self) -> None:
        self.mode = ""
        self.key_id: str | None = None
        self.read: Conversation | None = None

    async def before(self, call: Call) -> Call:
        self.key_id = call.key_id
        if self.mode in ("", "members"):
            return call if not self.mode else with_member(call)
        self.read = conversation = call.read_conversation()
        if conversation is None or self.mode == "reads":
            return call
        if self.mode == "streams":
            return replace(call, conversation=replace(conversation, stream=not call.stream))
        said = Text(text="Say it in verse.")
        turns = [replace(turn, parts=tuple(map(hide, turn.parts))) for turn in conversation.turns]
        changed = replace(
            conversation, instructions=(*conversation.instructions, said), turns=tuple(turns)
        )
        return replace(call, conversation=changed)

    async def after(self, record: Mapping[str, Any]) -> None: ...


def hide(part: Any) -> Any:
    return replace(part, text=part.text.replace("hi", "▇")) if type(part) is Text else part


def with_member(call: Call) -> Call:
    return replace(call, members={**call.members, "user": Raw(b'"me"')})


FIRST, SECOND = Reading(), Reading()
SECOND.order = 2


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    scripts = {wire: script(wire, known) for wire, known in recordings().items()}
    plugin = SimpleNamespace(register_interceptors=hookimpl(lambda: [FIRST, SECOND]))
    folder = Path(tmp_path_factory.mktemp("gateway"))
    with serve_gateway(folder, scripts, plugins={"reading": plugin}) as running:
        yield running


@pytest.fixture(autouse=True)
def at_rest() -> Iterator[None]:
    yield
    for each in (FIRST, SECOND):
        each.mode, each.key_id, each.read = "", None, None


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("vendor", FOLDERS)
@pytest.mark.parametrize("client", CLIENTS)
def test_a_changed_conversation_is_what_the_vendor_gets(
    here: Served, client: str, vendor: str, stream: bool
) -> None:
    FIRST.mode, SECOND.mode = "changes", "reads"
    item = pick(vendor, "text", stream)

    reply = CLIENTS[client](here, f"v-{vendor}/{item['id']}", stream)

    sent = here.vendors[vendor].received[-1].text
    assert "Say it in verse." in sent
    assert "▇" in sent
    assert '"hi"' not in sent
    assert reply.text
    # The next one sees what the one before it has changed.
    assert SECOND.read is not None
    assert SECOND.read.instructions[-1].text == "Say it in verse."


def test_nothing_is_parsed_for_an_interceptor_that_does_not_ask(
    here: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: Translation) -> Conversation:
        raise AssertionError("the conversation was read")

    monkeypatch.setattr(Translation, "conversation", fail)
    item = pick("openai", "text", stream=False)

    response = ask(here, item["id"])

    assert response.status_code == 200


def test_a_conversation_is_read_once_for_all(here: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    read = []
    side = here.gateway.core.snapshot.registry.formats["openai"].client
    assert side is not None
    real = side.read_request

    def counted(call: Call) -> Conversation:
        read.append(call)
        return real(call)

    monkeypatch.setattr(type(side), "read_request", staticmethod(counted))
    FIRST.mode, SECOND.mode = "reads", "reads"

    ask(here, pick("openai", "text", stream=False)["id"])
    assert len(read) == 1

    FIRST.mode = "members"
    ask(here, pick("openai", "text", stream=False)["id"])
    assert len(read) == 2
    assert SECOND.read is not None
    assert SECOND.read.user == "me"


def ask(here: Served, model: str, key: str | None = None, **more: Any) -> httpx2.Response:
    headers = {} if key is None else {"authorization": f"Bearer {key}"}
    body = {"model": f"v-openai/{model}", **NAMED, **more}
    return httpx2.post(f"{here.url}/v1/chat/completions", json=body, headers=headers)


def test_an_interceptor_knows_the_callers_key(here: Served) -> None:
    operator = {CLI_HEADER: here.gateway.core.identity.cli_token}
    path = f"{here.url}/api/keys"
    made = httpx2.post(path, json={"name": "one", "machineId": "any"}, headers=operator).json()
    model = pick("openai", "text", stream=False)["id"]

    ask(here, model, made["key"])
    assert FIRST.key_id == made["id"]

    ask(here, model)
    assert FIRST.key_id is None


@pytest.mark.parametrize("modes", [("streams", ""), ("changes", "members")])
def test_a_change_that_cannot_be_carried_is_a_failure(here: Served, modes: tuple[str, str]) -> None:
    FIRST.mode, SECOND.mode = modes

    response = ask(here, pick("openai", "text", stream=False)["id"])

    assert response.status_code == 500
    assert response.json()["error"]["message"] == "A required check could not be made"


def test_a_counted_call_that_was_changed_stays_here(here: Served) -> None:
    FIRST.mode = "changes"
    model = pick("claude", "text", stream=False)["id"]
    before = len(here.vendors["claude"].received)

    response = httpx2.post(
        f"{here.url}/v1/messages/count_tokens", json={"model": f"v-claude/{model}", **NAMED}
    )

    assert response.json()["input_tokens"] > 0
    assert len(here.vendors["claude"].received) == before


def test_a_call_that_is_no_chat_has_no_conversation(here: Served) -> None:
    FIRST.mode = "reads"

    httpx2.post(f"{here.url}/v1/embeddings", json={"model": "v-openai/e", "input": "hi"})

    assert FIRST.read is None


def test_a_call_that_only_loads_a_model_is_empty(here: Served) -> None:
    FIRST.mode = "reads"
    model = pick("ollama", "text", stream=False)["id"]

    httpx2.post(f"{here.url}/api/chat", json={"model": f"v-ollama/{model}", "messages": []})

    assert FIRST.read is not None
    assert FIRST.read.turns == ()
