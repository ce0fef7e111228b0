"""Keys by page, and searched."""

import pytest
from admin_gateway import AdminGateway

pytestmark = pytest.mark.anyio
PATH = "/api/keys"


async def make_keys(admin: AdminGateway, *names: str) -> None:
    for name in names:
        await admin.call("POST", PATH, {"name": name, "machineId": "any"}, status=201)


async def test_keys_are_listed_page_by_page(admin: AdminGateway) -> None:
    await make_keys(admin, "a", "b", "c")

    whole = await admin.call("GET", PATH)
    second = await admin.call("GET", PATH, params={"page": 2, "pageSize": 2})

    assert len(whole["keys"]) == 3
    assert "pagination" not in whole
    assert second["keys"] == whole["keys"][2:]
    assert second["pagination"] == {
        "page": 2,
        "pageSize": 2,
        "totalItems": 3,
        "totalPages": 2,
        "hasNext": False,
        "hasPrev": True,
    }
    await admin.call("GET", PATH, params={"page": 0}, status=400)


@pytest.mark.parametrize(
    ("search", "names"),
    [
        ("LAP", ["laptop"]),
        ("o", ["laptop", "phone"]),
        ("crew", ["phone"]),
        ("%", []),
        ("", ["laptop", "phone", "car"]),
    ],
)
async def test_keys_are_searched(admin: AdminGateway, search: str, names: list[str]) -> None:
    await make_keys(admin, "laptop", "phone", "car")
    phone = next(key for key in (await admin.call("GET", PATH))["keys"] if key["name"] == "phone")
    await admin.call("PATCH", f"{PATH}/{phone['id']}", {"groups": ["The Crew"]})

    found = await admin.call("GET", PATH, params={"search": search, "page": 1})

    assert [key["name"] for key in found["keys"]] == names
    assert found["pagination"]["totalItems"] == len(names)
