"""A long batch: its input is uploaded, checked and run to its end by a served gateway.

Progress is what the gateway says of the batch itself. Its memory is to stay where it is, however
long the input is.
"""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
from msgspec import Struct

from .native import LoadFailed
from .peers import OWN, filled
from .processes import cpu_seconds, memory
from .stage import RunningPeer, Stage

MODEL = "plain/bench"
CHAT = "/v1/chat/completions"
PATIENCE = 120.0
"""Seconds for an answer to the client: the check of a long input takes a while."""
MIB = 1024 * 1024


class BatchLoad(Struct, kw_only=True):
    """What came of a run. Memory is in MiB."""

    rows: int
    completed: int = 0
    input: float = 0.0
    check: float = 0.0
    """Seconds until the batch was accepted."""
    seconds: float = 0.0
    """From there to its end."""
    cpu: float = 0.0
    """Seconds of a processor, from the upload to the end."""
    before: float = 0.0
    most: float = 0.0
    after: float = 0.0

    def __str__(self) -> str:
        return (
            f"{self.completed:,} of {self.rows:,} rows completed, {self.input:.0f} MiB of input; "
            f"accepted after {self.check:.1f} s, then {self.seconds:.0f} s: "
            f"{self.completed / max(self.seconds, 0.001):.0f} rows/s, "
            f"{1000 * self.cpu / max(self.completed, 1):.2f} ms of processor each; "
            f"memory {self.before:.0f} MiB before, {self.most:.0f} at most, {self.after:.0f} after"
        )


def run_batch(stage: Stage, *, rows: int, size: int, at_once: int, every: float) -> BatchLoad:
    """Run a batch of so many rows of about ``size`` bytes, and print a line at each interval."""
    load, path = BatchLoad(rows=rows), stage.folder / "rows.jsonl"
    _write(path, rows, size)
    load.input = path.stat().st_size / MIB
    variables = {"PLUGIN_BATCHES_ROWS_AT_ONCE": str(at_once)}
    with stage.running_peer(OWN, variables=variables) as gateway, _client(gateway) as client:
        load.before, used = memory(gateway.pid).rss, cpu_seconds(gateway.pid)
        _print(0, gateway, 0, "before")
        with path.open("rb") as content:
            uploaded = _answer(client.post("/v1/files", files={"file": content}))
        begun = time.monotonic()
        made = _answer(client.post("/v1/batches", json={"input_file_id": uploaded["id"]}))
        load.check = time.monotonic() - begun
        _print(0, gateway, 0, "accepted")
        begun = time.monotonic()
        batch = _watch(client, gateway, made["id"], every)
        load.seconds = time.monotonic() - begun
        load.completed = batch["request_counts"]["completed"]
        load.cpu = cpu_seconds(gateway.pid) - used
        figures = memory(gateway.pid)
        load.most, load.after = figures.peak, figures.rss
    return load


def _write(path: Path, rows: int, size: int) -> None:
    question = {"role": "user", "content": "How long does this take? " * (size // 25)}
    body = {"model": MODEL, "messages": [question]}
    with path.open("w") as file:
        for number in range(rows):
            row = {"custom_id": f"row-{number}", "method": "POST", "url": CHAT, "body": body}
            file.write(json.dumps(row) + "\n")


@contextmanager
def _client(gateway: RunningPeer) -> Iterator[httpx2.Client]:
    headers = {name: filled(text, gateway.words) for name, text in OWN.headers.items()}
    url = f"http://127.0.0.1:{gateway.port}"
    with httpx2.Client(base_url=url, headers=headers, trust_env=False, timeout=PATIENCE) as client:
        yield client


def _watch(client: httpx2.Client, gateway: RunningPeer, id: str, every: float) -> dict[str, Any]:
    """The batch once it is over."""
    begun, done, then = time.monotonic(), 0, time.monotonic()
    while True:
        time.sleep(every)
        batch = _answer(client.get(f"/v1/batches/{id}"))
        counts, now = batch["request_counts"], time.monotonic()
        so_far = counts["completed"] + counts["failed"]
        _print(now - begun, gateway, (so_far - done) / (now - then), _progress(batch))
        if batch["status"] in ("completed", "failed", "expired", "cancelled"):
            return batch
        done, then = so_far, now


def _progress(batch: dict[str, Any]) -> str:
    counts = batch["request_counts"]
    return f"{batch['status']}  {counts['completed']:,} of {counts['total']:,}"


def _answer(response: httpx2.Response) -> dict[str, Any]:
    if response.status_code != 200:
        raise LoadFailed(f"{response.request.url}: {response.status_code} {response.text[:500]}")
    answer: dict[str, Any] = response.json()
    return answer


def _print(seconds: float, gateway: RunningPeer, speed: float, note: str) -> None:
    here = memory(gateway.pid)
    line = f"{seconds:6.0f} s  {here.rss:7.1f} MiB (most {here.peak:.1f})  {speed:6.0f} rows/s"
    print(f"{line}  {note}", flush=True)
