"""Whose batches a caller sees, and the pages of lists."""

import pytest
from batch_clients import BatchGateway, row

REQUESTS = {"requests": [{"custom_id": "a", "params": row(1)["body"]}]}


def test_another_keys_batch_is_not_there(here: BatchGateway) -> None:
    owner, other = here.client_of(here.key(name="a")), here.client_of(here.key(name="b"))
    batch = owner.create([row(1)])
    made = owner.http.post("/v1/messages/batches", json=REQUESTS).json()
    paths = (f"/v1/batches/{batch['id']}", f"/v1/messages/batches/{made['id']}")
    owner.wait(batch["id"])

    for path in paths:
        assert owner.http.get(path).status_code == 200
        for stranger in (other, here.client):
            assert stranger.http.get(path).status_code == 404
            assert stranger.http.post(f"{path}/cancel").status_code == 404
    assert other.http.get(f"{paths[1]}/results").status_code == 404
    assert other.http.get("/v1/batches").json()["data"] == []
    assert other.http.get("/v1/messages/batches").json()["data"] == []


def test_another_keys_file_is_no_input(here: BatchGateway) -> None:
    owner, other = here.client_of(here.key(name="a")), here.client_of(here.key(name="b"))

    answer = other.http.post("/v1/batches", json={"input_file_id": owner.upload([row(1)])})

    assert answer.status_code == 404


def test_each_surface_lists_its_own_batches(here: BatchGateway) -> None:
    client = here.client_of(here.key())
    batch = client.create([row(1)])
    made = client.http.post("/v1/messages/batches", json=REQUESTS).json()

    listed = client.http.get("/v1/batches").json()
    messages = client.http.get("/v1/messages/batches").json()

    assert [each["id"] for each in listed["data"]] == [batch["id"]]
    assert [each["id"] for each in messages["data"]] == [made["id"]]
    assert client.http.get(f"/v1/messages/batches/{batch['id']}").status_code == 404
    assert client.http.get(f"/v1/batches/{made['id']}").status_code == 404


def test_completions_pages_go_from_the_newest_to_the_oldest(here: BatchGateway) -> None:
    client = here.client_of(here.key())
    ids = [client.create([row(1)])["id"] for _ in range(5)][::-1]

    def page(query: str) -> tuple[list[str], bool]:
        listed = client.http.get(f"/v1/batches?{query}").json()
        assert listed["object"] == "list"
        found = [each["id"] for each in listed["data"]]
        ends = (found[0], found[-1]) if found else (None, None)
        assert (listed["first_id"], listed["last_id"]) == ends
        return found, listed["has_more"]

    assert page("") == (ids, False)
    assert page("limit=2") == (ids[:2], True)
    assert page(f"limit=2&after={ids[1]}") == (ids[2:4], True)
    assert page(f"limit=2&after={ids[3]}") == (ids[4:], False)
    assert page(f"after={ids[4]}") == ([], False)


def test_messages_pages_go_both_ways(here: BatchGateway) -> None:
    client = here.client_of(here.key())
    path = "/v1/messages/batches"
    ids = [client.http.post(path, json=REQUESTS).json()["id"] for _ in range(5)][::-1]

    def page(query: str) -> tuple[list[str], bool]:
        listed = client.http.get(f"{path}?{query}").json()
        return [each["id"] for each in listed["data"]], listed["has_more"]

    assert page("limit=2") == (ids[:2], True)
    assert page(f"limit=2&after_id={ids[1]}") == (ids[2:4], True)
    assert page(f"limit=2&before_id={ids[4]}") == (ids[2:4], True)
    assert page(f"limit=3&before_id={ids[2]}") == (ids[:2], False)


@pytest.mark.parametrize(
    "query", ["limit=0", "limit=101", "limit=x", "after=elsewhere", "before_id=x"]
)
def test_a_page_that_makes_no_sense_is_refused(here: BatchGateway, query: str) -> None:
    assert here.client.http.get(f"/v1/batches?{query}").status_code == 400


def test_a_list_is_probed_with_head(here: BatchGateway) -> None:
    for path in ("/v1/batches", "/v1/messages/batches"):
        answer = here.client.http.head(path)
        assert answer.status_code == 200
        assert answer.content == b""


def test_errors_are_those_of_the_surface(here: BatchGateway) -> None:
    completions = here.client.http.get(f"/v1/batches/batch_{'0' * 24}").json()
    messages = here.client.http.get(f"/v1/messages/batches/msgbatch_{'0' * 24}").json()

    assert set(completions) == {"error"}
    assert completions["error"]["type"] == "invalid_request_error"
    assert messages["type"] == "error"
    assert messages["error"]["type"] == "not_found_error"
    assert messages["request_id"]
