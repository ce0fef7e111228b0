"""Two gateways on one PostgreSQL database that keep files and batches in one folder."""

from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from threading import Event
from typing import NamedTuple

import httpx2
import pytest
from batch_clients import BatchClient, ChatScript, row, wait_for
from file_forms import FORM, file, form
from postgres_servers import VERSIONS, empty_tables
from served_gateway import Served, serve_gateway

from gateway_files import store
from gateway_files.limits import store_of

MOST = 10
SEAL = "5e" * 32


class Sharing(NamedTuple):
    """A gateway's server, and how the next one on the same folder and database is started."""

    start: Callable[[str], Served]
    stop: Callable[[], None]
    folder: Path
    script: ChatScript


@pytest.fixture
def sharing(tmp_path: Path, postgres: Callable[[str, str], str]) -> Iterator[Sharing]:
    url, folder, script = postgres(VERSIONS[0], "shared_folder"), tmp_path / "shared", ChatScript()
    empty_tables(url, "migrations")
    variables = {
        "API_KEY_SECRET": "a-canary-that-signs-keys-of-every-replica",
        "GATEWAY_PG_SSLMODE": "disable",
        "GATEWAY_PG_URL": url,
        "FILES_DIR": str(folder),
        "MAX_FILES_PER_KEY": str(MOST),
    }
    with ExitStack() as stack:

        def start(name: str) -> Served:
            data_dir = tmp_path / name
            data_dir.mkdir(mode=0o700)
            (data_dir / "master-key").write_text(SEAL)
            gateway = serve_gateway(data_dir, {"openai": script}, variables=variables)
            return stack.enter_context(gateway)

        yield Sharing(start, lambda: stack.pop_all().close(), folder, script)


def upload(here: Served, text: str) -> httpx2.Response:
    body = form(file(text.encode()))
    with httpx2.Client(base_url=here.url, trust_env=False, timeout=60) as http:
        return http.post("/v1/files", content=body, headers=FORM)


def test_a_file_of_one_is_a_file_of_the_other(sharing: Sharing, http: httpx2.Client) -> None:
    one, other = sharing.start("one"), sharing.start("other")
    made = upload(one, "kept").json()

    listed = http.get(f"{other.url}/v1/files").json()["data"]
    content = http.get(f"{other.url}/v1/files/{made['id']}/content").text
    deleted = http.delete(f"{other.url}/v1/files/{made['id']}").json()["deleted"]
    gone = http.get(f"{one.url}/v1/files/{made['id']}").status_code

    assert [each["id"] for each in listed] == [made["id"]]
    assert content == "kept"
    assert deleted is True
    assert gone == 404
    assert not list(sharing.folder.parent.glob("o*/files"))


def test_a_quota_holds_where_the_folder_keeps_no_locks(
    sharing: Sharing, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As on a share between machines whose locks of files do not reach the other one.
    monkeypatch.setattr(store, "lock_exclusively", lambda descriptor, wait=False: None)
    pair = sharing.start("one"), sharing.start("other")

    with ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(lambda n: upload(pair[n % 2], str(n)), range(3 * MOST)))

    assert Counter(each.status_code for each in answers) == {200: MOST, 403: 2 * MOST}
    assert len(list((sharing.folder / "files").glob("file_*"))) == MOST


def test_turns_are_taken_where_the_folder_keeps_no_locks(
    sharing: Sharing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "lock_exclusively", lambda descriptor, wait=False: None)
    one, other = (store_of(sharing.start(name).gateway.core) for name in ("one", "other"))
    has_turn = Event()

    def take_turn() -> None:
        with other._locked():
            has_turn.set()

    with ThreadPoolExecutor(1) as pool:
        with one._locked():
            taking = pool.submit(take_turn)
            is_early = has_turn.wait(0.5)
        taking.result(30)

    assert not is_early
    assert has_turn.is_set()


def test_a_start_leaves_what_another_one_is_writing(
    sharing: Sharing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "lock_exclusively", lambda descriptor, wait=False: None)
    sharing.start("one")
    part = sharing.folder / "files" / ".parts" / "0123456789ab"
    part.mkdir()
    (part / "content").write_bytes(b"half")

    sharing.start("other")

    assert (part / "content").read_bytes() == b"half"


def test_a_batch_of_one_is_ended_by_the_other(sharing: Sharing) -> None:
    script = sharing.script
    script.held |= {"row 3"}
    one = sharing.start("one")
    with BatchClient(one.url, sharing.folder) as client:
        id = client.create([row(n) for n in range(6)])["id"]
        wait_for(lambda: script.written["row 3"])
    sharing.stop()
    script.held.clear()
    other = sharing.start("other")
    with BatchClient(other.url, sharing.folder) as client:
        output = client.output(client.wait(id))

    assert Counter(line["custom_id"] for line in output) == {f"row-{n}": 1 for n in range(6)}
