"""What the gateway makes of a store: one that is away, one that many gateways have, its doctor."""

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx2
import psutil
import pytest
from batch_clients import ChatScript, lines, row, wait_for
from click.testing import CliRunner
from gateway_process import running
from object_store import ObjectStore
from postgres_servers import VERSIONS, empty_tables, free_port
from served_gateway import Served, serve_gateway

from gateway_cli.main import cli
from gateway_files.limits import store_of

FILES = "/v1/files"
MIB = 1024 * 1024
MOST = 10


def upload(client: httpx2.Client, content: bytes) -> httpx2.Response:
    return client.post(FILES, files={"file": ("r", content)})


def rows(here: Served) -> list[Any]:
    return here.do(here.gateway.core.stores.database.fetch("SELECT * FROM files"))


def test_while_the_store_is_away_files_are_listed_and_deleted_but_not_sent(
    store: ObjectStore, here: Served, client: httpx2.Client
) -> None:
    kept = upload(client, b"kept").json()["id"]

    store.hold()
    try:
        unread = client.get(f"{FILES}/{kept}/content")
        listed = client.get(FILES).json()["data"]
        deleted = client.delete(f"{FILES}/{kept}").json()["deleted"]
    finally:
        store.release()
    is_waiting = len(rows(here)) == 1
    store_of(here.gateway.core).remove_expired()

    assert unread.status_code == 503
    assert [each["id"] for each in listed] == [kept]
    assert deleted is True
    assert client.get(FILES).json()["data"] == []
    assert is_waiting
    assert rows(here) == store.objects() == []


def test_a_store_that_goes_in_the_middle_of_an_upload_leaves_nothing(
    store: ObjectStore, here: Served, client: httpx2.Client
) -> None:
    def body() -> Iterator[bytes]:
        yield b'--b\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\n'
        for _ in range(7):
            yield bytes(MIB)
        wait_for(store.unfinished)
        store.hold()
        for _ in range(7):
            yield bytes(MIB)
        yield b"\r\n--b--\r\n"

    kind = {"content-type": "multipart/form-data; boundary=b"}
    try:
        refused = client.post(FILES, content=body(), headers=kind)
    finally:
        store.release()
    store_of(here.gateway.core).remove_expired()

    assert refused.status_code == 503
    assert refused.json()["error"]["message"] == "The upload could not be stored"
    assert rows(here) == store.objects() == store.unfinished() == []
    # Nothing of it counts.
    made = upload(client, bytes(15 * MIB))
    assert made.status_code == 200
    client.delete(f"{FILES}/{made.json()['id']}")


def test_a_gateway_starts_while_the_store_is_away(tmp_path: Path, store: ObjectStore) -> None:
    nowhere = {"GATEWAY_OBJECT_STORE_ENDPOINT": f"http://127.0.0.1:{free_port()}"}
    with (
        serve_gateway(tmp_path, {}, variables={**store.variables, **nowhere}) as here,
        httpx2.Client(base_url=here.url, trust_env=False, timeout=30) as client,
    ):
        assert client.get("/api/health").status_code == 200
        assert upload(client, b"x").status_code == 503
        assert client.get(FILES).json()["data"] == []


def test_what_a_killed_gateway_was_writing_is_removed_later(
    store: ObjectStore, here: Served
) -> None:
    core = here.gateway.core
    files = store_of(core)
    files.create("key", "x", "batch").write(bytes(6 * MIB))

    files.remove_expired()
    is_kept = len(rows(here)) == len(store.unfinished()) == 1
    here.do(core.stores.database.execute("UPDATE files SET touched_at = touched_at - 7200"))
    files.remove_expired()

    assert is_kept
    assert rows(here) == []
    assert store.unfinished() == []


def test_an_upload_and_its_readers_take_no_memory(tmp_path: Path, store: ObjectStore) -> None:
    size = 64 * MIB

    def body() -> Iterator[bytes]:
        yield b'--b\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\n'
        for _ in range(size // MIB):
            yield bytes(MIB)
        yield b"\r\n--b--\r\n"

    kind = {"content-type": "multipart/form-data; boundary=b"}
    with (
        running(tmp_path, variables=store.variables) as here,
        httpx2.Client(base_url=here.url, trust_env=False, timeout=60) as client,
    ):
        process = psutil.Process(here.process.pid)
        upload(client, bytes(6 * MIB))
        before = process.memory_info().rss
        made = client.post(FILES, content=body(), headers=kind)
        uploaded = process.memory_info().rss
        with client.stream("GET", f"{FILES}/{made.json()['id']}/content") as answer:
            whole = sum(map(len, answer.iter_raw()))
        sent = process.memory_info().rss

    assert made.json()["bytes"] == size == whole
    assert uploaded - before < 24 * MIB
    assert sent - before < 32 * MIB


class Replicas:
    """Gateways on one database and one store."""

    def __init__(self, place: Path, variables: dict[str, str], stack: ExitStack) -> None:
        self._place, self._variables, self._stack = place, variables, stack
        self.script = ChatScript()

    def start(self, name: str, **more: str) -> httpx2.Client:
        data_dir = self._place / name
        data_dir.mkdir(mode=0o700)
        (data_dir / "master-key").write_text("5e" * 32)
        variables = {**self._variables, **more}
        gateway = serve_gateway(data_dir, {"openai": self.script}, variables=variables)
        url = self._stack.enter_context(gateway).url
        client = httpx2.Client(base_url=url, trust_env=False, timeout=60)
        return self._stack.enter_context(client)

    def stop(self) -> None:
        self._stack.pop_all().close()


@pytest.fixture
def replicas(
    tmp_path: Path, store: ObjectStore, postgres: Callable[[str, str], str]
) -> Iterator[Replicas]:
    url = postgres(VERSIONS[0], "object_store")
    empty_tables(url, "migrations")
    variables = {
        **store.variables,
        "API_KEY_SECRET": "a-canary-that-signs-keys-of-every-replica",
        "GATEWAY_PG_SSLMODE": "disable",
        "GATEWAY_PG_URL": url,
        "MAX_FILES_PER_KEY": str(MOST),
    }
    with ExitStack() as stack:
        yield Replicas(tmp_path, variables, stack)


def test_gateways_have_the_same_files_and_one_quota(replicas: Replicas) -> None:
    pair = replicas.start("one"), replicas.start("other")

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda n: upload(pair[n % 2], b"%d" % n), range(2 * MOST)))
    made = next(each.json()["id"] for each in answers if each.status_code == 200)

    assert Counter(each.status_code for each in answers) == {200: MOST, 403: MOST}
    contents = {client.get(f"{FILES}/{made}/content").content for client in pair}
    assert len(contents) == 1
    assert pair[0].delete(f"{FILES}/{made}").status_code == 200
    assert pair[1].get(f"{FILES}/{made}").status_code == 404
    assert [len(client.get(FILES).json()["data"]) for client in pair] == [MOST - 1] * 2


def test_a_batch_of_one_is_ended_by_the_other(replicas: Replicas, tmp_path: Path) -> None:
    shared, script = {"FILES_DIR": str(tmp_path / "shared")}, replicas.script
    script.held |= {"row 3"}
    one = replicas.start("one", **shared)
    source = upload(one, lines([row(n) for n in range(6)])).json()["id"]
    id = one.post("/v1/batches", json={"input_file_id": source}).json()["id"]
    one.delete(f"{FILES}/{source}")
    wait_for(lambda: script.written["row 3"])
    replicas.stop()
    script.held.clear()
    other = replicas.start("other", **shared)

    def ended() -> dict[str, Any] | None:
        batch: dict[str, Any] = other.get(f"/v1/batches/{id}").json()
        return batch if batch["status"] == "completed" else None

    output = other.get(f"{FILES}/{wait_for(ended)['output_file_id']}/content").text

    ids = [json.loads(line)["custom_id"] for line in output.splitlines()]
    assert Counter(ids) == {f"row-{n}": 1 for n in range(6)}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({}, "can be written and read"),
        ({"GATEWAY_OBJECT_STORE_SECRET_ACCESS_KEY": "canary-secret"}, "SignatureDoesNotMatch"),
        ({"GATEWAY_OBJECT_STORE_BUCKET": "nowhere"}, "NoSuchBucket"),
    ],
    ids=["good", "credentials", "bucket"],
)
def test_doctor_tries_the_store(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    store: ObjectStore,
    change: dict[str, str],
    reason: str,
) -> None:
    monkeypatch.setattr(sys, "argv", ["model-gateway"])
    for name, value in {"DATA_DIR": str(tmp_path), **store.variables, **change}.items():
        monkeypatch.setenv(name, value)

    reported = CliRunner().invoke(cli, ["doctor", "--json"])

    finding = next(each for each in json.loads(reported.output) if each["check"] == "files")
    assert reason in finding["detail"]
    assert finding["state"] == ("bad" if change else "good")
    assert "canary-secret" not in reported.output
