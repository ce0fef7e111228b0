"""A client of batches over HTTP, and what it needs to fill them."""

import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Self

import httpx2
from fake_vendor import MockResponse, ReceivedRequest
from served_gateway import Served

from gateway_batches.batch import Batch
from gateway_batches.batches import batches_of
from gateway_core.identity.credentials import CLI_HEADER
from gateway_files.store import LOCAL, FileStore
from gateway_files.unfinished import FileLimits

CHAT = "/v1/chat/completions"
LONGEST = 60.0
"""Seconds within which everything ends."""


def row(number: int, url: str = CHAT, **body: Any) -> dict[str, Any]:
    """A row whose answer repeats its number."""
    received = {"model": "v-openai/m", "messages": [{"role": "user", "content": f"row {number}"}]}
    return {
        "custom_id": f"row-{number}",
        "method": "POST",
        "url": url,
        "body": {**received, **body},
    }


def lines(rows: Iterable[Mapping[str, Any]]) -> bytes:
    return b"".join(json.dumps(each).encode() + b"\n" for each in rows)


def reply(received: ReceivedRequest) -> MockResponse:
    """A chat answer that repeats the last message, or a vector."""
    usage: dict[str, Any] = {"prompt_tokens": 3, "total_tokens": 5}
    members = received.json()
    if received.path.endswith("/embeddings"):
        data = [{"object": "embedding", "index": 0, "embedding": [0.25, 1e-7]}]
        body = {"object": "list", "data": data, "model": "m", "usage": usage}
        return MockResponse((json.dumps(body).encode(),))
    text = members["messages"][-1]["content"]
    if members.get("stream"):
        return MockResponse.stream(
            *(_event(delta) for delta in ({"content": text}, {})), b"data: [DONE]\n\n"
        )
    message = {"role": "assistant", "content": text}
    body = {
        "id": "c",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {**usage, "completion_tokens": 2},
    }
    # Over several lines, as some vendors write.
    return MockResponse((json.dumps(body, indent=1).encode(),))


def _event(delta: dict[str, str]) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": None if delta else "stop"}
    chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return b"data: %b\n\n" % json.dumps({**chunk, "choices": [choice]}).encode()


class ChatScript:
    """A vendor whose answers a test decides, by what the last message says."""

    def __init__(self) -> None:
        self.refusals: dict[str, list[MockResponse]] = {}
        """What is answered first to a message, in order."""
        self.held: set[str] = set()
        """Messages whose answers wait until they are taken from here."""
        self.written = Counter[str]()
        """How often each message came."""

    def __call__(self, received: ReceivedRequest) -> MockResponse:
        if received.method == "GET":
            return MockResponse((b'{"object":"list","data":[]}',))
        members = received.json()
        text = str(members["messages"][-1]["content"] if "messages" in members else members)
        self.written[text] += 1
        if self.refusals.get(text):
            return self.refusals[text].pop(0)
        answer = reply(received)
        if text in self.held:
            pieces = Waiting(lambda: text in self.held, answer.pieces)
            return MockResponse(pieces, chunked=True, pause=0.01)
        return answer

    @property
    def total(self) -> int:
        return self.written.total()


class Waiting(Sequence[bytes]):
    """Pieces of an answer behind spaces, which are sent for as long as something holds."""

    def __init__(self, holds: Callable[[], bool], pieces: Sequence[bytes]) -> None:
        self._holds, self._pieces = holds, pieces
        self._is_begun = False

    def __iter__(self) -> Iterator[bytes]:
        # The first time only their lengths are looked at.
        if self._is_begun:
            while self._holds():
                yield b" "
            yield from self._pieces
        self._is_begun = True

    def __len__(self) -> int:
        return len(self._pieces)

    def __getitem__(self, place: Any) -> Any:
        return self._pieces[place]


def refusal(status: int, **headers: str) -> MockResponse:
    body = b'{"error":{"message":"not now","type":"refused","code":"refused"}}'
    return MockResponse(
        (body,), status, headers={n.replace("_", "-"): v for n, v in headers.items()}
    )


class BatchClient:
    """Files and batches of one caller."""

    def __init__(
        self, url: str, data_dir: Path, key: str | None = None, owner: str = LOCAL
    ) -> None:
        self.owner = owner
        unlimited = FileLimits(largest=2**62, quota=2**62, most=2**62)
        self.files = FileStore(data_dir, lambda: unlimited, time.time)
        headers = {} if key is None else {"authorization": f"Bearer {key}"}
        self.http = httpx2.Client(base_url=url, headers=headers, trust_env=False, timeout=60)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.http.close()

    def upload(self, rows: Iterable[Mapping[str, Any]] | bytes) -> str:
        writer = self.files.create(self.owner, "input.jsonl", "batch")
        writer.write(rows if isinstance(rows, bytes) else lines(rows))
        return writer.finish().id

    def create(self, rows: Iterable[Mapping[str, Any]] | bytes, **more: Any) -> dict[str, Any]:
        answer = self.try_create(rows, **more)
        assert answer.status_code == 200, answer.text
        batch: dict[str, Any] = answer.json()
        return batch

    def try_create(self, rows: Iterable[Mapping[str, Any]] | bytes, **more: Any) -> httpx2.Response:
        return self.http.post("/v1/batches", json={"input_file_id": self.upload(rows), **more})

    def get(self, id: str) -> dict[str, Any]:
        answer = self.http.get(f"/v1/batches/{id}")
        assert answer.status_code == 200, answer.text
        batch: dict[str, Any] = answer.json()
        return batch

    def wait(self, id: str, *states: str) -> dict[str, Any]:
        """The batch once it is in one of these states, or over."""
        ends = states or ("completed", "failed", "cancelled", "expired")
        return wait_for(lambda: batch if (batch := self.get(id))["status"] in ends else None)

    def content(self, file_id: str | None) -> list[dict[str, Any]]:
        """The lines of a file; none where there is no file."""
        if file_id is None:
            return []
        record = self.files.find(self.owner, file_id)
        assert record is not None
        text = self.files.path(record).read_text()
        return [json.loads(line) for line in text.splitlines()]

    def output(self, batch: Mapping[str, Any]) -> list[dict[str, Any]]:
        return self.content(batch["output_file_id"])

    def errors(self, batch: Mapping[str, Any]) -> list[dict[str, Any]]:
        return self.content(batch["error_file_id"])


class BatchGateway:
    """A gateway, its vendor, and who calls it."""

    def __init__(self, served: Served, script: ChatScript, folder: Path, stack: ExitStack) -> None:
        self.served, self.script, self.folder = served, script, folder
        self._stack = stack
        self.client = self.client_of()

    def client_of(self, key: dict[str, Any] | None = None) -> BatchClient:
        """A client with a key, or one on this machine without."""
        known = {} if key is None else {"key": key["key"], "owner": key["id"]}
        client = BatchClient(self.served.url, self.folder, **known)
        return self._stack.enter_context(client)

    def operate(self, method: str, path: str, body: Any = None) -> Any:
        """Call the admin API."""
        token = self.served.gateway.core.identity.cli_token
        with httpx2.Client(base_url=self.served.url, trust_env=False) as http:
            answer = http.request(method, path, json=body, headers={CLI_HEADER: token})
        assert answer.status_code < 300, answer.text
        return answer.json()

    def key(self, **more: Any) -> dict[str, Any]:
        made: dict[str, Any] = self.operate(
            "POST", "/api/keys", {"name": "one", "machineId": "any", **more}
        )
        return made

    def wait(self, id: str) -> Batch:
        """A batch once it is over, as it is stored: whoever may read it."""
        store = batches_of(self.served.gateway.core).store

        def look() -> Batch | None:
            batch = self.served.do(store.get(id))
            return batch if batch is not None and batch.is_over else None

        ended: Batch = wait_for(look)
        return ended

    def wait_for_all(self) -> None:
        """Until no batch runs, so that none sends a row during the next test."""
        store = batches_of(self.served.gateway.core).store

        async def open_batches() -> list[Batch]:
            return await store.waiting(time.time(), "", is_alone=True)

        wait_for(lambda: not self.served.do(open_batches()))

    @contextmanager
    def posting(self, path: str, body: Any = None) -> Iterator[Future[httpx2.Response]]:
        """A request that is under way while the block runs."""
        with ThreadPoolExecutor(1) as pool:
            yield pool.submit(self.client.http.post, path, json=body)

    async def forget_cooldowns(self) -> None:
        cooldowns = self.served.gateway.core.cooldowns
        for account, model, _ in cooldowns.all_active():
            cooldowns.clear([account], model)

    def set(self, **settings: Any) -> None:
        """Change settings of batches."""
        self.operate("PATCH", "/api/plugins/batches/settings", settings)


def wait_for(look: Callable[[], Any]) -> Any:
    """What a look gives, once it gives something."""
    until = time.monotonic() + LONGEST
    while not (found := look()):
        assert time.monotonic() < until
        time.sleep(0.02)
    return found
