"""The operator sees the files of all keys, and no key does."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import httpx2
import pytest
from served_gateway import Served, serve_gateway

from gateway_core.identity.credentials import CLI_HEADER

PATH = "/api/files"


class Operator(NamedTuple):
    served: Served
    http: httpx2.Client
    keys: dict[str, dict[str, Any]]
    files: dict[str, str]
    """Ids by name."""


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Operator]:
    folder = tmp_path_factory.mktemp("gateway")
    with serve_gateway(folder, {}, variables={"FILE_QUOTA_BYTES": "5000"}) as served:
        token = {CLI_HEADER: served.gateway.core.identity.cli_token}
        with httpx2.Client(base_url=served.url, headers=token, trust_env=False) as http:
            keys, files = dict[str, dict[str, Any]](), dict[str, str]()
            for owner, name, content in (
                ("ann", "rows.jsonl", b"{}\n"),
                ("ann", "Notes.txt", b"x" * 100),
                ("ben", "rows.jsonl", b"y" * 10),
                ("", "mine.txt", b"z"),
            ):
                if owner and owner not in keys:
                    body = {"name": owner, "machineId": "any"}
                    keys[owner] = http.post("/api/keys", json=body).json()
                purpose = "batch" if name == "rows.jsonl" else "user_data"
                answer = httpx2.post(
                    f"{served.url}/v1/files",
                    files={"file": (name, content)},
                    data={"purpose": purpose},
                    headers=_bearer(keys[owner]["key"]) if owner else {},
                    trust_env=False,
                )
                assert answer.status_code == 200, answer.text
                files[f"{owner}/{name}"] = answer.json()["id"]
            yield Operator(served, http, keys, files)


def _bearer(key: str) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"}


def names(here: Operator, **query: Any) -> list[str]:
    answer = here.http.get(PATH, params=query)
    assert answer.status_code == 200, answer.text
    return [f"{row['ownerName'] or ''}/{row['filename']}" for row in answer.json()["rows"]]


def test_the_files_of_all_keys_are_listed_newest_first(here: Operator) -> None:
    listed = here.http.get(PATH).json()

    assert [row["id"] for row in listed["rows"]] == list(here.files.values())[::-1]
    assert (listed["total"], listed["bytes"]) == (4, 114)
    newest = listed["rows"][0]
    assert (newest["owner"], newest["ownerName"]) == ("local", None)
    assert listed["rows"][1]["owner"] == here.keys["ben"]["id"]


def test_files_are_filtered_and_paged(here: Operator) -> None:
    assert names(here, search="NOTES") == ["ann/Notes.txt"]
    assert names(here, search=here.files["ben/rows.jsonl"]) == ["ben/rows.jsonl"]
    assert names(here, owner=here.keys["ann"]["id"]) == ["ann/Notes.txt", "ann/rows.jsonl"]
    assert names(here, owner="local") == ["/mine.txt"]
    assert names(here, purpose="batch", limit=1) == ["ben/rows.jsonl"]
    assert names(here, purpose="batch", limit=1, offset=1) == ["ann/rows.jsonl"]


def test_what_each_owner_has_stands_beside_what_it_may_have(here: Operator) -> None:
    usage = here.http.get(f"{PATH}/usage").json()

    assert [(each["ownerName"], each["bytes"], each["files"]) for each in usage["owners"]] == [
        ("ann", 103, 2),
        ("ben", 10, 1),
        (None, 1, 1),
    ]
    assert (usage["bytes"], usage["files"], usage["quota"]) == (114, 4, 5000)
    assert usage["purposes"] == ["batch", "user_data"]


def test_a_content_is_downloaded_and_that_is_recorded(here: Operator) -> None:
    id = here.files["ben/rows.jsonl"]

    answer = here.http.get(f"{PATH}/{id}/content", headers={"range": "bytes=0-3"})

    assert (answer.status_code, answer.content) == (206, b"yyyy")
    assert answer.headers["content-disposition"].startswith("attachment")
    assert answer.headers["x-request-id"]
    (row,) = here.http.get("/api/audit", params={"action": "file.download"}).json()["rows"]
    assert (row["target"], row["detail"]["owner"]) == (id, here.keys["ben"]["id"])


def test_a_file_is_deleted_for_its_owner_too(here: Operator) -> None:
    key = here.keys["ben"]
    answer = httpx2.post(
        f"{here.served.url}/v1/files",
        files={"file": ("gone.txt", b"1")},
        data={"purpose": "user_data"},
        headers=_bearer(key["key"]),
        trust_env=False,
    )
    id = answer.json()["id"]

    assert here.http.delete(f"{PATH}/{id}").json() == {"success": True}

    gone = httpx2.get(
        f"{here.served.url}/v1/files/{id}", headers=_bearer(key["key"]), trust_env=False
    )
    assert gone.status_code == 404
    again = here.http.delete(f"{PATH}/{id}")
    assert again.status_code == 404
    assert again.json()["error"] == f"No such file: {id}"


def test_a_name_of_another_shape_is_no_path(here: Operator) -> None:
    for id, status in (("..", 404), ("file_x", 400), (f"file_{'0' * 24}", 404)):
        assert here.http.get(f"{PATH}/{id}/content").status_code == status


@pytest.mark.parametrize("query", ["limit=0", "limit=201", "offset=-1", "page=1"])
def test_a_query_that_makes_no_sense_is_refused(here: Operator, query: str) -> None:
    answer = here.http.get(f"{PATH}?{query}")

    assert answer.status_code == 400
    assert query.partition("=")[0] in answer.json()["error"]


def test_no_key_sees_the_files_of_others(here: Operator) -> None:
    id = here.files["ben/rows.jsonl"]
    for method, path in (
        ("GET", PATH),
        ("GET", f"{PATH}/usage"),
        ("GET", f"{PATH}/{id}/content"),
        ("DELETE", f"{PATH}/{id}"),
    ):
        answer = httpx2.request(
            method,
            f"{here.served.url}{path}",
            headers=_bearer(here.keys["ann"]["key"]),
            trust_env=False,
        )
        assert answer.status_code == 403, path
