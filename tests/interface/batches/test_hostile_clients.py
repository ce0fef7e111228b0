"""Clients that send batches wrongly, too much or not to their end."""

import gzip
import json
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from batch_clients import CHAT, BatchGateway, lines, row
from raw_http import HOST, connect, send_and_read

BATCHES, MESSAGES = "/v1/batches", "/v1/messages/batches"
DEEP = 100_000
MIB = 1024 * 1024
NOWHERE = "file_" + "0" * 24
JSON = {"content-type": "application/json"}


def folders(here: BatchGateway) -> list[Path]:
    """The working folders of batches."""
    home = here.folder / "batches"
    return list(home.iterdir()) if home.exists() else []


def wait_for(reached: Callable[[], bool]) -> None:
    """Poll for what happens in the gateway's thread."""
    until = time.monotonic() + 10
    while not reached():
        assert time.monotonic() < until
        time.sleep(0.01)


def message_rows(count: int, size: int = 1) -> dict[str, object]:
    text = "x" * size
    params = {"model": "v-openai/m", "max_tokens": 9}
    received = {**params, "messages": [{"role": "user", "content": text}]}
    return {"requests": [{"custom_id": f"{n}", "params": received} for n in range(count)]}


BODIES = {
    "lists": b"[" * DEEP,
    "objects": b'{"a":' * DEEP,
    "deep metadata": b'{"input_file_id":"x","metadata":' + b'{"a":' * DEEP,
    "deep requests": b'{"requests":' + b"[" * DEEP,
    "deep params": b'{"requests":[{"custom_id":"1","params":' + b'{"a":' * DEEP,
    "a number": b"9" * DEEP,
    "nothing": b"",
    "null": b"null",
    "bytes": b'{"input_file_id":"\xff","requests":"\xff"}',
    "a list": b"[]",
    "other types": b'{"input_file_id":[],"requests":{}}',
    "requests of other types": b'{"requests":[1,null,"x"],"input_file_id":1}',
    "a large one": b'{"input_file_id":"' + b"x" * 60 * MIB + b'","requests":[]}',
}


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("path", [BATCHES, MESSAGES])
def test_a_body_that_is_no_batch_leaves_nothing_behind(
    here: BatchGateway, path: str, name: str
) -> None:
    before = len(folders(here))

    refused = here.client.http.post(path, content=BODIES[name], headers=JSON)

    assert refused.status_code in (400, 413)
    assert refused.json()["error"]["message"]
    assert len(folders(here)) == before


@pytest.mark.parametrize("path", [BATCHES, MESSAGES])
def test_a_body_that_inflates_is_refused(here: BatchGateway, path: str) -> None:
    bomb = gzip.compress(b'{"requests":[' + b" " * 200 * MIB)

    refused = here.client.http.post(
        path, content=bomb, headers={**JSON, "content-encoding": "gzip"}
    )

    assert refused.status_code in (400, 413)


INPUTS = {
    "empty lines": b"\n" * 1_000_000,
    "spaces": b" \t \r\n" * 1000,
    "zeros": bytes(1000),
    "not text": b"\xff\xfe\n" * 3,
    "a very long line": lines([row(1)]) + b'{"custom_id":"' + b"x" * 60 * MIB + b'"}\n',
    "deep rows": b'{"custom_id":"1","method":"POST","url":' + b"[" * DEEP + b"\n",
    "an unfinished row": lines([row(1)])[:-10],
    "management": lines([{**row(1), "url": "/api/keys"}]),
    "files": lines([{**row(1), "url": "/v1/files"}]),
    "batches": lines([{**row(1), "url": BATCHES}]),
    "a path around": lines([{**row(1), "url": "/v1/chat/completions/../../api/keys"}]),
    "an address": lines([{**row(1), "url": "http://127.0.0.1/v1/chat/completions"}]),
    "a query": lines([{**row(1), "url": f"{CHAT}?key=x"}]),
    "another method": lines([{**row(1), "method": "DELETE"}]),
    "no object": lines([{**row(1), "body": [1]}]),
    "ids that are no texts": lines([{**row(1), "custom_id": {"a": 1}}]),
    "the same id twice": lines([row(1), {**row(2), "custom_id": "row-1"}]),
}


@pytest.mark.parametrize("name", INPUTS)
def test_an_input_that_is_not_rows_is_refused_whole(here: BatchGateway, name: str) -> None:
    before, written = len(folders(here)), here.script.total

    refused = here.client.try_create(INPUTS[name])

    error = refused.json()["error"]
    assert refused.status_code == 400
    assert error["message"].startswith("invalid input file: ")
    assert len(error["message"]) < 1000
    assert 1 <= len(error["details"]) <= 100
    assert len(folders(here)) == before
    assert here.script.total == written


def test_a_hundred_thousand_bad_lines_are_a_short_answer(here: BatchGateway) -> None:
    refused = here.client.try_create(b"{" * 100 + b"\n" + b"{}\n" * 100_000)

    assert refused.status_code == 400
    assert len(refused.content) < 32 * 1024


def test_odd_but_valid_lines_are_rows(here: BatchGateway) -> None:
    odd = {**row(2), "custom_id": "\u0000 \u2028 \U0001f600 \"'", "colour": "red"}
    text = b"\r\n".join([json.dumps(row(1)).encode(), b"", json.dumps(odd).encode()])

    batch = here.client.create(text)
    ended = here.client.wait(batch["id"])

    # A text's own line ends (U+2028) are no ends of lines of JSON.
    content = here.client.http.get(f"/v1/files/{ended['output_file_id']}/content").content
    ids = {json.loads(line)["custom_id"] for line in content.rstrip(b"\n").split(b"\n")}
    assert ended["request_counts"]["completed"] == 2
    assert ids == {"row-1", odd["custom_id"]}


def test_a_row_is_checked_like_any_request(here: BatchGateway) -> None:
    """Each is refused by the pipeline, with its own line."""
    bodies = {
        "twice": b'{"model":"v-openai/m","model":"v-openai/m","messages":[]}',
        "unknown": b'{"model":"nobody/m","messages":[{"role":"user","content":"x"}]}',
        "nothing": b"{}",
    }
    text = b"".join(
        b'{"custom_id":"%b","method":"POST","url":"%b","body":%b}\n'
        % (name.encode(), CHAT.encode(), body)
        for name, body in bodies.items()
    )

    ended = here.client.wait(here.client.create(text)["id"])

    statuses = {
        line["custom_id"]: line["response"]["status_code"] for line in here.client.output(ended)
    }
    assert statuses.keys() == bodies.keys()
    assert all(400 <= status < 500 for status in statuses.values())
    assert ended["status"] == "failed"


@pytest.mark.parametrize(
    "id", ["../../etc/passwd", "x", "", ".parts", "file_" + "0" * 23, "/etc/passwd", "file_\u0000"]
)
def test_an_input_is_named_by_its_id_only(here: BatchGateway, id: str) -> None:
    refused = here.client.http.post(BATCHES, json={"input_file_id": id})

    assert refused.status_code == 400
    assert refused.json()["error"]["message"] == "invalid id"


def test_a_batch_is_no_input(here: BatchGateway) -> None:
    batch = here.client.create([row(1)])

    for id in (batch["id"], NOWHERE):
        refused = here.client.http.post(BATCHES, json={"input_file_id": id})
        assert refused.status_code == 404


TARGETS = (
    *("../../etc/passwd", "%2e%2e", "..%2f..%2fmaster-key", "batch_%00", ".", "~", "batch_1"),
    *("batch_" + "0" * 23 + "%2f", "msgbatch_..", NOWHERE.upper()),
)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("path", [BATCHES, MESSAGES])
def test_no_path_leads_out_of_the_batches(here: BatchGateway, path: str, target: str) -> None:
    for method, rest in (("GET", ""), ("POST", "/cancel"), ("GET", "/results"), ("HEAD", "")):
        received = f"{method} {path}/{target}{rest} HTTP/1.1\r\n".encode() + HOST
        answer = send_and_read(
            here.served.url, received + b"connection: close\r\ncontent-length: 0\r\n\r\n"
        )
        assert 400 <= answer.status < 500, (method, rest)


@pytest.mark.parametrize("path", [BATCHES, MESSAGES])
def test_methods_and_types_of_bodies(here: BatchGateway, path: str) -> None:
    http = here.client.http
    batch = here.client.create([row(1)]) if path == BATCHES else None
    own = batch["id"] if batch else http.post(path, json=message_rows(1)).json()["id"]

    assert http.post(path, content=b"{}", headers={"content-type": "text/plain"}).status_code == 415
    assert http.post(path, data={"input_file_id": "x"}).status_code == 415
    for method, place in (
        ("DELETE", path),
        ("PUT", f"{path}/{own}"),
        ("GET", f"{path}/{own}/cancel"),
    ):
        answer = http.request(method, place, headers={"x-http-method-override": "POST"})
        assert answer.status_code == 405, (method, place)
    assert http.options(path).status_code == 204


def test_a_client_that_leaves_before_its_batch_is_complete_has_none(here: BatchGateway) -> None:
    body = json.dumps(message_rows(200, 10_000)).encode()
    before = len(folders(here))
    listed = here.client.http.get(MESSAGES, params={"limit": 1000}).json()["data"]
    head = b"POST /v1/messages/batches HTTP/1.1\r\n" + HOST
    head += b"content-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(body)

    for _ in range(5):
        with connect(here.served.url) as peer:
            peer.sendall(head + body[: len(body) // 2])

    after = here.client.http.get(MESSAGES, params={"limit": 1000}).json()["data"]
    assert len(after) == len(listed)
    assert len(folders(here)) == before


def test_many_who_cancel_at_once_get_one_answer(here: BatchGateway) -> None:
    here.script.held |= {f"row {n}" for n in range(10)}
    batch = here.client.create([row(n) for n in range(10)])
    wait_for(lambda: here.script.total >= 1)
    url = f"{here.served.url}{BATCHES}/{batch['id']}/cancel"

    with ThreadPoolExecutor(20) as pool:
        answers = [pool.submit(here.client.http.post, url) for _ in range(20)]
        wait_for(lambda: here.client.get(batch["id"])["status"] == "cancelling")
        here.script.held.clear()
        found = [answer.result() for answer in answers]

    views = [answer.json() for answer in found]
    assert {answer.status_code for answer in found} == {200}
    assert {view["status"] for view in views} == {"cancelled"}
    counts = here.client.get(batch["id"])["request_counts"]
    assert counts["completed"] + counts["failed"] + counts["canceled"] == counts["total"] == 10
    assert all(view["request_counts"] == counts for view in views)


def test_the_same_input_may_make_many_batches(here: BatchGateway) -> None:
    id = here.client.upload([row(1)])

    with ThreadPoolExecutor(8) as pool:
        made = list(
            pool.map(
                lambda _: here.client.http.post(BATCHES, json={"input_file_id": id}).json()["id"],
                range(12),
            )
        )
    here.client.http.delete(f"/v1/files/{id}")

    ended = [here.client.wait(each) for each in made]
    assert len(set(made)) == 12
    assert {each["status"] for each in ended} == {"completed"}
    assert len({each["output_file_id"] for each in ended}) == 12
