"""Trying accounts out."""

from typing import Any

import pytest
from admin_gateway import KEY, LIST, REPLY, AdminGateway, refused
from fake_vendor import MockResponse

from gateway_core.contracts.errors import UpstreamError
from gateway_core.routing.failure_rules import FailureClass
from gateway_dashboard_api.accounts import testing as connection_tests

pytestmark = pytest.mark.anyio
VALIDATE = "/api/providers/validate"


async def outcome(admin: AdminGateway, row: dict[str, Any]) -> dict[str, Any]:
    answer: dict[str, Any] = await admin.call("POST", f"/api/providers/{row['id']}/test")
    return answer


async def shown(admin: AdminGateway, row: dict[str, Any]) -> dict[str, Any]:
    answer = await admin.call("GET", f"/api/providers/{row['id']}")
    found: dict[str, Any] = answer["connection"]
    return found


async def test_a_key_that_opens_the_list_is_good_and_costs_nothing(admin: AdminGateway) -> None:
    row = await admin.connect()

    answer = await outcome(admin, row)

    assert answer.pop("latencyMs") >= 0
    assert answer == {
        "valid": True,
        "error": None,
        "refreshed": False,
        "statusCode": None,
        "diagnosis": {"type": "ok", "source": "upstream", "code": None, "message": None},
    }
    assert (await shown(admin, row))["testStatus"] == "active"
    assert admin.vendor.calls("/chat/completions") == []


async def test_a_wrong_key_is_told_and_noted_without_being_repeated(admin: AdminGateway) -> None:
    row = await admin.connect(apiKey="wrong-canary")

    answer = await outcome(admin, row)

    assert (answer["valid"], answer["statusCode"]) == (False, 401)
    assert answer["error"] == "Incorrect API key provided: Bearer ***"
    assert answer["diagnosis"]["type"] == "upstream_auth_error"
    after = await shown(admin, row)
    assert (after["testStatus"], after["errorCode"]) == ("error", 401)
    assert after["lastError"] == answer["error"]


async def test_a_list_that_is_open_to_everybody_proves_nothing(admin: AdminGateway) -> None:
    admin.vendor.open_list = True
    good, wrong = await admin.connect(), await admin.connect(name="b", apiKey="wrong-canary")

    right = await outcome(admin, good)
    assert (await outcome(admin, wrong))["valid"] is False

    assert right["valid"] is True
    calls = [received.json() for received in admin.vendor.calls("/chat/completions")]
    assert [(each["model"], each["max_tokens"]) for each in calls] == [("large", 1)] * 2


async def test_a_test_call_is_in_the_ledger(admin: AdminGateway) -> None:
    admin.vendor.open_list = True
    row = await admin.connect()

    await outcome(admin, row)

    await admin.core.ledger.flush()
    page = await admin.core.stores.usage.page(limit=5)
    assert [(each.connection_id, each.input_tokens, each.model_sent) for each in page.rows] == [
        (row["id"], 3, "large")
    ]


async def test_the_default_model_is_called_where_there_is_one(admin: AdminGateway) -> None:
    admin.vendor.open_list = True
    row = await admin.connect(defaultModel="small")

    await outcome(admin, row)

    assert admin.vendor.calls("/chat/completions")[0].json()["model"] == "small"


async def test_a_vendor_without_a_list_is_called(admin: AdminGateway) -> None:
    admin.vendor.written["/models"] = refused(404, "No such path")
    row = await admin.connect()

    assert (await outcome(admin, row))["valid"] is True


@pytest.mark.parametrize(
    ("status", "message", "valid", "kind"),
    [
        (429, "Slow down", True, "ok"),
        (400, "max_tokens is too small", True, "ok"),
        (404, "The model does not exist", True, "ok"),
        (400, "API key not valid. Please pass a valid API key.", False, "upstream_auth_error"),
        (403, "Forbidden", False, "upstream_auth_error"),
        (402, "Pay first", False, "upstream_error"),
        (500, "Oops", False, "upstream_unavailable"),
    ],
)
async def test_a_refusal_after_the_door_shows_that_the_key_is_good(
    admin: AdminGateway, status: int, message: str, valid: bool, kind: str
) -> None:
    admin.vendor.open_list = True
    admin.vendor.written["/chat/completions"] = refused(status, message)
    row = await admin.connect()

    answer = await outcome(admin, row)

    assert (answer["valid"], answer["diagnosis"]["type"]) == (valid, kind)


async def test_a_vendor_that_is_not_there_is_told(admin: AdminGateway) -> None:
    row = await admin.connect()
    await admin.vendor.aclose()

    answer = await outcome(admin, row)

    assert (answer["valid"], answer["diagnosis"]["type"]) == (False, "network_error")


async def test_a_vendor_that_does_not_answer_is_given_up(
    admin: AdminGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection_tests, "LIMIT", 0.05)
    admin.vendor.written["/models"] = MockResponse((LIST,), delay=5)
    row = await admin.connect()

    answer = await outcome(admin, row)

    assert (answer["valid"], answer["statusCode"]) == (False, 504)
    assert answer["diagnosis"]["type"] == "timeout"


@pytest.mark.parametrize("open_list", [False, True])
async def test_a_failed_test_does_not_change_how_calls_are_routed(
    admin: AdminGateway, open_list: bool
) -> None:
    admin.vendor.open_list = open_list
    row = await admin.connect(apiKey="wrong-canary")

    assert (await outcome(admin, row))["valid"] is False

    assert admin.core.cooldowns.all_active() == []


@pytest.mark.parametrize("open_list", [False, True])
async def test_a_resting_or_inactive_account_is_tried_and_rests_no_more(
    admin: AdminGateway, open_list: bool
) -> None:
    admin.vendor.open_list = open_list
    row = await admin.connect()
    await admin.call("PUT", f"/api/providers/{row['id']}", {"isActive": False})
    refusal = UpstreamError("busy", status=429)
    admin.core.cooldowns.record_failure(
        row["id"], "large", refusal, FailureClass(True, backoff=True)
    )

    assert (await outcome(admin, row))["valid"] is True

    assert (await shown(admin, row))["isActive"] is False
    assert admin.core.cooldowns.all_active() == []


async def test_a_vendor_in_this_process_is_called(admin: AdminGateway) -> None:
    made = await admin.call("POST", "/api/providers", {"provider": "echo", "name": "a"}, status=201)

    assert (await outcome(admin, made["connection"]))["valid"] is True


async def test_a_secret_that_cannot_be_opened_is_no_good(admin: AdminGateway) -> None:
    row = await admin.connect()
    await admin.core.stores.database.execute("UPDATE connections SET secrets = 'rubbish'")

    answer = await outcome(admin, row)

    assert (answer["valid"], answer["diagnosis"]["source"]) == (False, "local")
    assert admin.vendor.received == []


async def test_nobody_is_not_found(admin: AdminGateway) -> None:
    await admin.call("POST", "/api/providers/x/test", status=404)


@pytest.mark.parametrize(
    ("provider", "key", "expected"),
    [
        ("acme", KEY, {"valid": True, "error": None}),
        ("ac", KEY, {"valid": True, "error": None}),
        (
            "acme",
            "wrong-canary",
            {"valid": False, "error": "Incorrect API key provided: Bearer ***"},
        ),
    ],
)
async def test_a_key_is_validated_before_it_is_saved(
    admin: AdminGateway, provider: str, key: str, expected: dict[str, Any]
) -> None:
    answer = await admin.call("POST", VALIDATE, {"provider": provider, "apiKey": key})

    assert answer == expected
    assert (await admin.call("GET", "/api/providers"))["connections"] == []


async def test_a_key_is_validated_at_the_address_it_is_for(admin: AdminGateway) -> None:
    admin.other.key = "new-canary"
    body = {"provider": "acme", "apiKey": "new-canary", "baseUrl": f"{admin.other.url}/v1/"}

    assert (await admin.call("POST", VALIDATE, body))["valid"] is True
    assert admin.vendor.received == []
    assert {received.target for received in admin.other.received} == {"/v1/models"}


async def test_a_validation_leaves_an_account_out_of_the_ledger(admin: AdminGateway) -> None:
    admin.vendor.open_list = True

    await admin.call("POST", VALIDATE, {"provider": "acme", "apiKey": KEY})

    await admin.core.ledger.flush()
    page = await admin.core.stores.usage.page(limit=5)
    assert [(each.connection_id, each.endpoint) for each in page.rows] == [(None, VALIDATE)]


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({}, "Provider and API key required"),
        ({"provider": "acme"}, "Provider and API key required"),
        ({"apiKey": KEY}, "Provider and API key required"),
        ({"provider": "nobody", "apiKey": KEY}, "Invalid provider"),
        (
            {"provider": "acme", "apiKey": KEY, "baseUrl": "http://169.254.169.254/"},
            "The provider's address is not allowed",
        ),
    ],
)
async def test_what_cannot_be_validated_is_refused(
    admin: AdminGateway, body: dict[str, Any], error: str
) -> None:
    answer = await admin.call("POST", VALIDATE, body, status=400)

    assert answer["error"].startswith(error)


async def many(admin: AdminGateway) -> dict[str, str]:
    """Accounts of every sort, by name, to their ids."""
    node = {"name": "Mine", "prefix": "mine", "baseUrl": f"{admin.vendor.url}/v1"}
    mine = (await admin.call("POST", "/api/provider-nodes", node, status=201))["node"]["id"]
    made = [
        await admin.connect(name="good"),
        await admin.connect(name="wrong", apiKey="wrong-canary"),
        await admin.connect(name="off"),
        await admin.connect(mine, name="own"),
        await admin.connect("open", name="free", apiKey=""),
    ]
    await admin.call("PUT", f"/api/providers/{made[2]['id']}", {"isActive": False})
    return {row["name"]: row["id"] for row in made}


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ({"mode": "all"}, {"good", "wrong", "own", "free"}),
        ({"mode": "provider", "providerId": "ac"}, {"good", "wrong"}),
        ({"mode": "apikey"}, {"good", "wrong"}),
        ({"mode": "compatible"}, {"own"}),
        ({"mode": "free"}, {"free"}),
        ({"mode": "oauth"}, set()),
    ],
)
async def test_many_accounts_are_tried_at_once(
    admin: AdminGateway, body: dict[str, Any], names: set[str]
) -> None:
    await many(admin)

    answer = await admin.call("POST", "/api/providers/test-batch", body)

    assert {result["connectionName"] for result in answer["results"]} == names
    assert answer["mode"] == body["mode"]
    failed = len(names & {"wrong", "free"})  # The vendor wants a key from everybody.
    assert answer["summary"] == {
        "total": len(names),
        "passed": len(names) - failed,
        "failed": failed,
    }
    for result in answer["results"]:
        assert result["valid"] is (result["connectionName"] not in {"wrong", "free"})
        assert result["testedAt"] <= answer["testedAt"]


async def test_accounts_are_tried_by_their_ids_active_or_not(admin: AdminGateway) -> None:
    ids = await many(admin)
    body = {"ids": [ids["off"], ids["good"], ids["off"]]}

    answer = await admin.call("POST", "/api/providers/test-batch", body)

    assert [result["connectionId"] for result in answer["results"]] == [ids["off"], ids["good"]]


@pytest.mark.parametrize(
    ("body", "status"),
    [({}, 400), ({"mode": "some"}, 400), ({"mode": "provider"}, 400), ({"ids": ["x"]}, 404)],
)
async def test_an_odd_batch_is_refused(
    admin: AdminGateway, body: dict[str, Any], status: int
) -> None:
    await admin.call("POST", "/api/providers/test-batch", body, status=status)


async def test_no_more_than_ten_accounts_are_tried_at_a_time(admin: AdminGateway) -> None:
    admin.vendor.written["/models"] = MockResponse((LIST,), delay=0.02)
    for number in range(25):
        await admin.connect("local", name=str(number))

    found = await admin.call("POST", "/api/providers/test-batch", {"mode": "all"})

    assert found["summary"]["total"] == 25
    assert 2 <= admin.core.network.counts().open <= 10


async def test_an_answer_that_is_no_list_is_no_proof(admin: AdminGateway) -> None:
    admin.vendor.written["/models"] = MockResponse((b"<html>",), content_type="text/html")
    admin.vendor.written["/chat/completions"] = MockResponse((REPLY,))
    row = await admin.connect("local")

    assert (await outcome(admin, row))["valid"] is True
