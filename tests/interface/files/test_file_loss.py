"""A killed gateway: what was acknowledged is there, and nothing else."""

import random
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx2
import psutil
from gateway_process import running, start

FILES = "/v1/files"
ROUNDS = 3
MIB = 1024 * 1024


class Uploader:
    """Uploads files of odd sizes until the gateway is gone."""

    def __init__(self, url: str, seed: int) -> None:
        self.url, self.seed = url, seed
        self.kept: dict[str, bytes] = {}
        self.deleted: set[str] = set()
        self.acknowledged = 0
        self.thread = threading.Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        chance = random.Random(self.seed)
        with httpx2.Client(base_url=self.url, trust_env=False, timeout=10) as client:
            try:
                while True:
                    content = chance.randbytes(chance.choice((0, 10, 5000, 700_000)))
                    made = client.post(FILES, files={"file": ("r", content)})
                    assert made.status_code == 200
                    self.kept[made.json()["id"]] = content
                    self.acknowledged += 1
                    if len(self.kept) % 3 == 0:
                        id = next(iter(self.kept))
                        content = self.kept.pop(id)
                        assert client.delete(f"{FILES}/{id}").status_code == 200
                        self.deleted.add(id)
            except httpx2.TransportError:
                return


def test_a_file_is_there_once_it_was_acknowledged(tmp_path: Path) -> None:
    kept: dict[str, bytes] = {}
    deleted: set[str] = set()
    chance = random.Random(17)
    for number in range(ROUNDS):
        here = start(tmp_path)
        uploaders = [Uploader(here.url, 10 * number + n) for n in range(3)]
        for each in uploaders:
            each.thread.start()
        enough = chance.randrange(4, 15)  # the moment of the kill is what is tested
        while sum(each.acknowledged for each in uploaders) < enough:
            assert all(each.thread.is_alive() for each in uploaders)
            time.sleep(0.005)
        here.kill()
        assert here.process.stdout is not None
        here.process.stdout.close()
        for each in uploaders:
            each.thread.join()
            kept |= each.kept
            deleted |= each.deleted

    with running(tmp_path) as here, httpx2.Client(base_url=here.url, trust_env=False) as client:
        listed = {record["id"]: record for record in client.get(FILES).json()["data"]}
        assert kept.keys() <= listed.keys() | deleted
        assert not listed.keys() & deleted
        for id, record in listed.items():
            content = client.get(f"{FILES}/{id}/content").content
            assert len(content) == record["bytes"]
            assert content == kept.get(id, content)
        assert list((tmp_path / "files" / ".parts").iterdir()) == []
    assert len(kept) > ROUNDS


def test_workers_share_the_files_and_their_limits(tmp_path: Path) -> None:
    variables = {"MAX_FILES_PER_KEY": "20"}
    with running(tmp_path, "--workers", "2", variables=variables) as here:
        statuses = []
        for _ in range(25):
            # A connection of its own each time, so that both workers take some.
            with httpx2.Client(base_url=here.url, trust_env=False) as client:
                statuses.append(client.post(FILES, files={"file": ("r", b"x")}).status_code)
                listed = client.get(FILES).json()["data"]
                assert len(listed) == statuses.count(200)

    assert statuses == [200] * 20 + [403] * 5


def test_large_files_and_slow_readers_take_no_memory(tmp_path: Path) -> None:
    size = 150 * MIB

    def body() -> Iterator[bytes]:
        yield b'--b\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\n'
        for _ in range(size // MIB):
            yield bytes(MIB)
        yield b"\r\n--b--\r\n"

    with running(tmp_path) as here, httpx2.Client(base_url=here.url, trust_env=False) as client:
        process = psutil.Process(here.process.pid)
        client.post(FILES, files={"file": ("r", b"x" * MIB)})
        before = process.memory_info().rss
        kind = {"content-type": "multipart/form-data; boundary=b"}
        made = client.post(FILES, content=body(), headers=kind, timeout=60)
        path = f"{FILES}/{made.json()['id']}/content"
        after_upload = process.memory_info().rss
        with ExitStack() as stack:
            for _ in range(20):
                answer = stack.enter_context(client.stream("GET", path))
                assert len(next(answer.iter_raw(1000))) == 1000
            stalled = process.memory_info().rss
        with client.stream("GET", path) as answer:
            whole = sum(map(len, answer.iter_raw()))

    assert made.json()["bytes"] == size == whole
    assert after_upload - before < 24 * MIB
    assert stalled - before < 48 * MIB
