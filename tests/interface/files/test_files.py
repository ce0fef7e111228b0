"""Files over HTTP (4.8)."""

import re
import time
from collections.abc import Callable
from contextlib import closing
from typing import Any

import httpx2
import pytest
from file_forms import FORM, field, file, form, new_key, set_settings
from own_stores import own_stores
from served_gateway import Served

from gateway_core.identity.credentials import CLI_HEADER
from gateway_files.limits import store_of
from gateway_files.ranges import Span

FILES = "/v1/files"
NOWHERE = "file_" + "0" * 24
Clients = Callable[..., httpx2.Client]
Upload = Callable[..., httpx2.Response]
MIB = 1024 * 1024


@pytest.fixture(scope="module")
def here(anywhere: Served) -> Served:
    """Every test here is of both places for contents."""
    return anywhere


def test_an_uploaded_file_is_described_listed_read_and_deleted(
    client: httpx2.Client, upload: Upload
) -> None:
    before = int(time.time())

    made = upload(client, b'{"a":1}\n', "rows.jsonl", purpose="fine-tune")

    record = made.json()
    assert (made.status_code, record.pop("created_at") >= before) == (200, True)
    id = record["id"]
    assert re.fullmatch(r"file_[0-9a-f]{24}", id)
    assert record == {
        "id": id,
        "object": "file",
        "bytes": 8,
        "filename": "rows.jsonl",
        "purpose": "fine-tune",
    }
    assert client.get(f"{FILES}/{id}").json() == made.json()
    assert client.get(FILES).json() == {
        "object": "list",
        "data": [made.json()],
        "first_id": id,
        "last_id": id,
        "has_more": False,
    }
    content = client.get(f"{FILES}/{id}/content")
    assert (content.status_code, content.content) == (200, b'{"a":1}\n')
    assert client.delete(f"{FILES}/{id}").json() == {"id": id, "object": "file", "deleted": True}
    for path in (f"{FILES}/{id}", f"{FILES}/{id}/content"):
        assert client.get(path).status_code == 404
    assert client.delete(f"{FILES}/{id}").status_code == 404
    assert client.get(FILES).json()["data"] == []


@pytest.mark.parametrize("prefix", ["/v1/v1", "/api/v1"])
def test_files_are_below_the_other_prefixes_too(
    client: httpx2.Client, upload: Upload, prefix: str
) -> None:
    id = upload(client, b"x").json()["id"]

    assert client.get(f"{prefix}/files/{id}/content").content == b"x"


def test_the_usual_purpose_is_batch(client: httpx2.Client, upload: Upload) -> None:
    assert upload(client, b"x").json()["purpose"] == "batch"
    assert upload(client, b"x", purpose="").json()["purpose"] == "batch"


def test_a_purpose_may_stand_behind_the_file(client: httpx2.Client) -> None:
    body = form(file(b"abc"), field("purpose", b"vision"))

    made = client.post(FILES, content=body, headers=FORM).json()

    assert (made["purpose"], made["bytes"]) == ("vision", 3)


@pytest.mark.parametrize("size", [0, 1, 65_536, 300_000, 3 * MIB + 1])
def test_a_file_comes_back_byte_for_byte(client: httpx2.Client, upload: Upload, size: int) -> None:
    content = bytes(range(256)) * (size // 256) + bytes(size % 256)

    made = upload(client, content).json()

    assert made["bytes"] == size
    answer = client.get(f"{FILES}/{made['id']}/content")
    assert answer.content == content
    assert answer.headers["content-length"] == str(size)
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["content-disposition"].startswith("attachment;")


def test_a_content_with_boundaries_in_it_comes_back(client: httpx2.Client) -> None:
    content = b"--\r\n------boundarx\r\n------boundar--\r\n--" * 1000

    made = client.post(FILES, content=form(file(content)), headers=FORM).json()

    assert client.get(f"{FILES}/{made['id']}/content").content == content


NAMES = {
    "../../etc/passwd": "passwd",
    "/etc/passwd": "passwd",
    "C:\\rows.jsonl": "rows.jsonl",
    "a\\..\\b.jsonl": "b.jsonl",
    "": "file",
    "x" * 10_000: None,
    "\u00e4\u00f6\u00fc \u6587.jsonl": "\u00e4\u00f6\u00fc \u6587.jsonl",
}


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_a_name_is_metadata(client: httpx2.Client, here: Served, name: str) -> None:
    made = client.post(FILES, content=form(file(b"x", name)), headers=FORM)

    if name.startswith("x"):
        assert made.status_code == 400  # A header of a part has at most 8 KiB.
        return
    record = made.json()
    assert record["filename"] == NAMES[name]
    assert client.get(f"{FILES}/{record['id']}/content").content == b"x"
    if here.gateway.core.snapshot.registry.file_contents is None:
        folder = here.gateway.core.data_dir.path / "files" / record["id"]
        assert sorted(path.name for path in folder.iterdir()) == ["content", "meta.json"]


def test_a_name_is_sent_back_encoded_and_never_taken_so(client: httpx2.Client) -> None:
    # RFC 7578, section 4.2: forms have no filename*.
    encoded = b"filename*=UTF-8''evil.txt"
    part = b'Content-Disposition: form-data; name="file"; %b\r\n\r\nx'

    refused = client.post(FILES, content=form(part % encoded), headers=FORM)
    both = 'filename="a \u20ac.txt"; '.encode() + encoded
    made = client.post(FILES, content=form(part % both), headers=FORM).json()

    assert refused.status_code == 400
    assert made["filename"] == "a \u20ac.txt"
    answer = client.get(f"{FILES}/{made['id']}/content")
    assert answer.headers["content-disposition"] == (
        "attachment; filename*=UTF-8''a%20%E2%82%AC.txt"
    )


def test_fields_without_a_meaning_are_named(client: httpx2.Client, upload: Upload) -> None:
    made = upload(client, b"x", purpose="batch", colour="red", mood="fine")

    assert made.status_code == 200
    assert made.headers["x-gateway-dropped"] == "colour, mood"
    assert "x-gateway-dropped" not in upload(client, b"x").headers


def test_a_file_may_expire(client: httpx2.Client, upload: Upload) -> None:
    wanted = {"expires_after[anchor]": "created_at", "expires_after[seconds]": "3600"}

    made = upload(client, b"x", **wanted).json()

    assert made["expires_at"] == made["created_at"] + 3600
    assert client.get(f"{FILES}/{made['id']}").json() == made


@pytest.mark.parametrize(
    "wanted",
    [
        {"expires_after[anchor]": "now", "expires_after[seconds]": "3600"},
        {"expires_after[anchor]": "created_at"},
        {"expires_after[seconds]": "3600"},
        {"expires_after[anchor]": "created_at", "expires_after[seconds]": "3599"},
        {"expires_after[anchor]": "created_at", "expires_after[seconds]": "9" * 4000},
        {"expires_after[anchor]": "created_at", "expires_after[seconds]": "-3600"},
        {"purpose": "no spaces please"},
        {"purpose": "p" * 65},
    ],
    ids=range(8),
)
def test_a_field_that_makes_no_sense_is_refused(
    client: httpx2.Client, upload: Upload, wanted: dict[str, str]
) -> None:
    refused = upload(client, b"x", **wanted)

    assert refused.status_code == 400
    assert refused.json()["error"]["code"] == "bad_request"
    assert client.get(FILES).json()["data"] == []


def test_a_list_has_pages(client: httpx2.Client, upload: Upload) -> None:
    purposes = ("batch", "vision", "batch", "vision", "batch")
    ids = [upload(client, b"x", purpose=purpose).json()["id"] for purpose in purposes][::-1]

    def listed(**query: Any) -> tuple[list[str], bool]:
        page = client.get(FILES, params=query).json()
        shown = [record["id"] for record in page["data"]]
        assert page["first_id"] == (shown[0] if shown else None)
        assert page["last_id"] == (shown[-1] if shown else None)
        return shown, page["has_more"]

    assert listed() == (ids, False)
    assert listed(limit=2) == (ids[:2], True)
    assert listed(limit=2, after=ids[1]) == (ids[2:4], True)
    assert listed(limit=2, after=ids[3]) == (ids[4:], False)
    assert listed(order="asc", limit=2) == (ids[:2:-1], True)
    assert listed(order="asc", after=ids[1]) == (ids[:1], False)
    assert listed(purpose="vision") == ([ids[1], ids[3]], False)
    assert listed(purpose="none") == ([], False)
    assert listed(after_id=ids[3]) == (ids[4:], False)
    assert listed(before_id=ids[3], limit=1) == ([ids[2]], True)
    assert listed(limit=10**9) == (ids, False)
    assert listed(limit="9" * 400) == (ids, False)
    assert listed(after="", limit="", unknown="x", beta="true") == (ids, False)
    client.delete(f"{FILES}/{ids[1]}")
    assert listed(limit=2, after=ids[1]) == (ids[2:4], True)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("limit", "0"),
        ("limit", "-1"),
        ("limit", "two"),
        ("limit", "1;select"),
        ("order", "random"),
        ("after", "../x"),
        ("before_id", "'"),
        ("after_id", "%"),
    ],
)
def test_a_query_that_makes_no_sense_is_refused(
    client: httpx2.Client, name: str, value: str
) -> None:
    refused = client.get(FILES, params={name: value})

    assert refused.status_code == 400
    assert refused.json()["error"]["type"] == "invalid_request_error"


@pytest.mark.parametrize("id", ["x", "file_1", "..%2f..%2fetc", NOWHERE.upper(), f"{NOWHERE}0"])
@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_another_shape_of_id_is_refused(client: httpx2.Client, method: str, id: str) -> None:
    refused = client.request(method, f"{FILES}/{id}")

    assert refused.status_code == 400
    if "%" not in id:
        assert refused.json()["error"]["message"] == "invalid id"


def test_an_unknown_id_is_not_found(client: httpx2.Client) -> None:
    missing = client.get(f"{FILES}/{NOWHERE}")

    error = missing.json()["error"]
    assert missing.status_code == 404
    assert error.pop("request_id") == missing.headers["x-request-id"]
    assert error == {
        "message": f"No such file: {NOWHERE}",
        "type": "invalid_request_error",
        "code": "not_found",
        "param": "id",
    }


def test_only_a_form_is_an_upload(client: httpx2.Client) -> None:
    for refused in (
        client.post(FILES, json={"file": "x"}),
        client.post(FILES, content=b"x", headers={"content-type": "application/octet-stream"}),
        client.post(FILES, data={"purpose": "batch"}),
        client.post(FILES),
        client.post(FILES, content=form(file(b"x")), headers={**FORM, "content-encoding": "gzip"}),
    ):
        assert refused.status_code == 415
        assert refused.json()["error"]["type"] == "invalid_request_error"
        assert refused.json()["error"]["code"] == "unsupported_media_type"


MALFORMED = {
    "no parts": b"",
    "nothing but an end": form(),
    "no end": form(file(b"x"), is_whole=False),
    "cut in the file": form(file(b"x" * 400_000))[:300_000],
    "no boundary": b"x" * 100,
    "no name": form(b"Content-Disposition: form-data\r\n\r\nx"),
    "no disposition": form(b"Content-Type: text/plain\r\n\r\nx"),
    "no file": form(field("purpose", b"batch")),
    "a file of another name": form(file(b"x" * 300_000, name="data")),
    "two files": form(file(b"x"), file(b"y")),
    "two long files": form(file(b"x" * 300_000), file(b"y")),
    "two files, one by another name": form(file(b"x"), file(b"y", name="more")),
    "a file without a file's name": form(field("file", b"x")),
    "a long field": form(file(b"x"), field("purpose", b"p" * 5000)),
    "a long preamble": b"x" * MIB + b"\r\n" + form(file(b"x")),
    "a long header": form(b"X: " + b"x" * MIB + b"\r\n" + file(b"x")),
    "many headers": form(b"X: x\r\n" * 100 + file(b"x")),
    "many parts": form(*(field(f"f{n}", b"x") for n in range(10_000)), file(b"x")),
    "many files": form(*(file(b"x" * 100) for _ in range(10_000))),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_form_leaves_nothing_behind(
    client: httpx2.Client, here: Served, name: str
) -> None:
    refused = client.post(FILES, content=MALFORMED[name], headers=FORM)

    assert refused.status_code in (400, 413)
    assert refused.json()["error"]["type"] == "invalid_request_error"
    assert client.get(FILES).json()["data"] == []
    assert leftovers(here) == []


@pytest.mark.parametrize("boundary", ["", "x" * 201, "x" * 4096])
def test_a_boundary_has_a_length(client: httpx2.Client, boundary: str) -> None:
    kind = {"content-type": f"multipart/form-data; boundary={boundary}"}
    body = form(file(b"x"), boundary=boundary.encode())

    assert client.post(FILES, content=body, headers=kind).status_code == 400


def leftovers(here: Served) -> list[Any]:
    core = here.gateway.core
    if core.snapshot.registry.file_contents is not None:
        assert not (core.data_dir.path / "files").exists()
        return here.do(core.stores.database.fetch("SELECT * FROM files WHERE id IS NULL"))
    return list((here.gateway.core.data_dir.path / "files" / ".parts").iterdir())


def test_owners_never_see_one_anothers_files(
    here: Served, clients: Clients, upload: Upload
) -> None:
    mine, other, keyless = clients(here), clients(here), clients(here, {})
    id = upload(mine, b"secret").json()["id"]

    for stranger in (other, keyless):
        for method, path in (
            ("GET", f"{FILES}/{id}"),
            ("HEAD", f"{FILES}/{id}"),
            ("GET", f"{FILES}/{id}/content"),
            ("HEAD", f"{FILES}/{id}/content"),
            ("DELETE", f"{FILES}/{id}"),
        ):
            foreign = stranger.request(method, path)
            missing = stranger.request(method, path.replace(id, NOWHERE))
            assert foreign.status_code == missing.status_code == 404
            if method != "HEAD":
                texts = [foreign.json()["error"]["message"], missing.json()["error"]["message"]]
                assert texts[0].replace(id, NOWHERE) == texts[1]
        assert id not in stranger.get(FILES).text
        assert id not in stranger.get(FILES, params={"after": id, "order": "asc"}).text
    assert mine.get(f"{FILES}/{id}/content").content == b"secret"


def test_callers_without_a_key_share_an_owner(
    here: Served, clients: Clients, upload: Upload
) -> None:
    token = {CLI_HEADER: here.gateway.core.identity.cli_token}
    first, second, cli = clients(here, {}), clients(here, {}), clients(here, token)

    id = upload(first, b"x").json()["id"]

    placeholder = clients(here, {"authorization": "Bearer sk-whatever"})
    for caller in (second, cli, placeholder):
        assert caller.get(f"{FILES}/{id}").status_code == 200
    assert first.delete(f"{FILES}/{id}").status_code == 200


def test_a_key_can_be_required(narrow: Served, clients: Clients, upload: Upload) -> None:
    set_settings(narrow, requireApiKey=True)
    keyless, keyed = clients(narrow, {}), clients(narrow)

    missing = upload(keyless, b"x")
    wrong = clients(narrow, {"authorization": "Bearer sk-12345678"}).get(FILES)

    assert (missing.status_code, missing.json()["error"]["message"]) == (401, "Missing API key")
    assert (wrong.status_code, wrong.json()["error"]["message"]) == (401, "Invalid API key")
    assert upload(keyed, b"x").status_code == 200


@pytest.mark.parametrize("change", [{"is_active": False}, {"expires_at": "2020-01-01T00:00:00Z"}])
def test_a_key_that_is_no_longer_good_opens_nothing(
    here: Served, clients: Clients, upload: Upload, change: dict[str, Any]
) -> None:
    bad = clients(here, new_key(here, **change))

    for refused in (upload(bad, b"x"), bad.get(FILES), bad.get(f"{FILES}/{NOWHERE}")):
        assert refused.status_code == 401
        assert "Invalid API key" in refused.text


@pytest.mark.parametrize(
    "change",
    [{"inference_only": True}, {"allowed_combos": ("team",)}, {"policy": {"rpmLimit": 1}}],
)
def test_a_narrowed_key_keeps_files(
    here: Served, clients: Clients, upload: Upload, change: dict[str, Any]
) -> None:
    narrowed = clients(here, new_key(here, **change))

    ids = [upload(narrowed, b"x").json()["id"] for _ in range(3)]

    assert len(narrowed.get(FILES).json()["data"]) == 3
    assert narrowed.delete(f"{FILES}/{ids[0]}").status_code == 200


def test_files_of_a_deleted_key_stay(here: Served, clients: Clients, upload: Upload) -> None:
    client = clients(here)
    id = upload(client, b"x").json()["id"]
    core = here.gateway.core
    store, keys = store_of(core), here.do(core.stores.keys.list())
    owner = next(key.id for key in keys if store.find(key.id, id) is not None)

    async def delete_key() -> None:
        await own_stores(core).keys.delete(owner)
        await core.refresh()

    here.do(delete_key())
    record = store.find(owner, id)

    assert client.get(f"{FILES}/{id}").status_code in (401, 404)
    assert record is not None
    with closing(store.open(record, Span(0, 1))) as content:
        assert content.read(1) == b"x"


def test_head_answers_without_a_body(client: httpx2.Client, upload: Upload) -> None:
    id = upload(client, b"12345").json()["id"]

    for path in (FILES, f"{FILES}/{id}", f"{FILES}/{id}/content"):
        probed = client.head(path)
        assert (probed.status_code, probed.content) == (200, b"")
    assert client.head(f"{FILES}/{id}/content").headers["content-length"] == "5"
    assert client.head(f"{FILES}/{NOWHERE}").status_code == 404
    assert client.head(f"{FILES}/x").status_code == 400


@pytest.mark.parametrize(
    ("path", "methods"),
    [
        (FILES, "GET, HEAD, OPTIONS, POST"),
        (f"{FILES}/{NOWHERE}", "DELETE, GET, HEAD, OPTIONS"),
        (f"{FILES}/{NOWHERE}/content", "GET, HEAD, OPTIONS"),
    ],
)
def test_other_methods_are_refused(client: httpx2.Client, path: str, methods: str) -> None:
    received = client.options(path)
    refused = client.put(path, content=b"x")

    assert (received.status_code, received.headers["allow"]) == (204, methods)
    assert (refused.status_code, refused.headers["allow"]) == (405, methods)
    override = client.get(FILES, headers={"x-http-method-override": "DELETE"})
    assert override.status_code == 200


def test_a_file_that_is_too_large_is_refused(
    narrow: Served, clients: Clients, upload: Upload
) -> None:
    client = clients(narrow)

    refused = upload(client, b"x" * 1001)

    assert upload(client, b"x" * 1000).status_code == 200
    assert refused.status_code == 413
    assert refused.json()["error"]["message"] == "A file may have at most 1000 bytes"
    assert refused.json()["error"]["code"] == "file_too_large"
    assert len(client.get(FILES).json()["data"]) == 1
    assert leftovers(narrow) == []


def test_the_files_of_a_key_are_counted_together(
    narrow: Served, clients: Clients, upload: Upload
) -> None:
    client, other = clients(narrow), clients(narrow)
    ids = [upload(client, b"x" * 1000).json()["id"] for _ in range(2)]

    refused = upload(client, b"x" * 501)

    assert refused.status_code == 403
    assert refused.json()["error"]["code"] == "insufficient_quota"
    assert "2500 bytes" in refused.json()["error"]["message"]
    assert upload(other, b"x" * 1000).status_code == 200
    client.delete(f"{FILES}/{ids[0]}")
    assert upload(client, b"x" * 1000).status_code == 200
    assert leftovers(narrow) == []


def test_a_key_has_only_so_many_files(narrow: Served, clients: Clients, upload: Upload) -> None:
    client = clients(narrow)

    statuses = [upload(client, b"").status_code for _ in range(7)]

    assert statuses == [200] * 5 + [403] * 2
    assert "5 files" in upload(client, b"").json()["error"]["message"]


def test_limits_may_be_settings(here: Served, clients: Clients, upload: Upload) -> None:
    client = clients(here)
    set_settings(here, maxFileBytes=10, maxFilesPerKey=1)
    try:
        assert upload(client, b"x" * 11).status_code == 413
        assert upload(client, b"x" * 10).status_code == 200
        assert upload(client, b"").status_code == 403
    finally:
        set_settings(here, maxFileBytes=None, maxFilesPerKey=None)
    assert upload(client, b"x" * 11).status_code == 200
