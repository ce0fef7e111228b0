"""Large answers are compressed, and not sent again to who has them."""

import httpx2
import pytest
from admin_gateway import AdminGateway

pytestmark = pytest.mark.anyio
PATH = "/api/openapi.json"
SMALL = "/api/version"


async def raw(admin: AdminGateway, path: str, **headers: str) -> tuple[httpx2.Response, int]:
    """A response, and how many bytes of content were sent."""
    answer = await admin.client.get(path, headers=headers)
    return answer, answer.num_bytes_downloaded


async def test_a_large_answer_is_compressed(admin: AdminGateway) -> None:
    plain, whole = await raw(admin, PATH, **{"accept-encoding": "identity"})
    packed, sent = await raw(admin, PATH, **{"accept-encoding": "gzip, br"})

    assert "content-encoding" not in plain.headers
    assert packed.headers["content-encoding"] == "gzip"
    assert packed.headers["vary"] == "accept-encoding"
    assert int(packed.headers["content-length"]) == sent < whole / 4
    assert packed.content == plain.content


@pytest.mark.parametrize(
    ("header", "is_packed"),
    [
        ("gzip", True),
        ("br;q=1, gzip;q=0.5", True),
        ("*", True),
        ("gzip;q=0", False),
        ("gzip;q=0, *", False),
        ("br", False),
        ("", False),
    ],
)
async def test_only_who_takes_gzip_gets_it(
    admin: AdminGateway, header: str, is_packed: bool
) -> None:
    answer, _ = await raw(admin, PATH, **{"accept-encoding": header})

    assert ("content-encoding" in answer.headers) is is_packed


async def test_what_the_client_has_is_not_sent_again(admin: AdminGateway) -> None:
    first, _ = await raw(admin, PATH)
    tag = first.headers["etag"]

    for shown in (tag, tag.removeprefix("W/"), f'"other", {tag}', "*"):
        again, sent = await raw(admin, PATH, **{"if-none-match": shown})
        assert (again.status_code, sent) == (304, 0)
        assert again.headers["etag"] == tag
        assert again.headers["x-request-id"]
        assert "content-type" not in again.headers
    other, sent = await raw(admin, PATH, **{"if-none-match": '"other"'})
    assert other.status_code == 200
    assert sent


async def test_a_small_answer_is_as_it_was(admin: AdminGateway) -> None:
    answer, _ = await raw(admin, SMALL, **{"accept-encoding": "gzip"})

    assert {"etag", "content-encoding", "vary"}.isdisjoint(answer.headers)
