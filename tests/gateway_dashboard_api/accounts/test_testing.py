"""Trying accounts out."""

from typing import Any

import pytest
from fake_vendor import Said
from office import KEY, LIST, REPLY, Office, refused

from gateway_core.contracts.errors import UpstreamError
from gateway_core.routing.failure_rules import FailureClass
from gateway_dashboard_api.accounts import testing as connection_tests

pytestmark = pytest.mark.anyio
VALIDATE = "/api/providers/validate"


async def outcome(office: Office, row: dict[str, Any]) -> dict[str, Any]:
    answer: dict[str, Any] = await office.ask("POST", f"/api/providers/{row['id']}/test")
    return answer


async def shown(office: Office, row: dict[str, Any]) -> dict[str, Any]:
    answer = await office.ask("GET", f"/api/providers/{row['id']}")
    found: dict[str, Any] = answer["connection"]
    return found


async def test_a_key_that_opens_the_list_is_good_and_costs_nothing(office: Office) -> None:
    row = await office.connect()

    answer = await outcome(office, row)

    assert answer.pop("latencyMs") >= 0
    assert answer == {
        "valid": True,
        "error": None,
        "refreshed": False,
        "statusCode": None,
        "diagnosis": {"type": "ok", "source": "upstream", "code": None, "message": None},
    }
    assert (await shown(office, row))["testStatus"] == "active"
    assert office.vendor.calls("/chat/completions") == []


async def test_a_wrong_key_is_told_and_noted_without_being_repeated(office: Office) -> None:
    row = await office.connect(apiKey="wrong-canary")

    answer = await outcome(office, row)

    assert (answer["valid"], answer["statusCode"]) == (False, 401)
    assert answer["error"] == "Incorrect API key provided: Bearer ***"
    assert answer["diagnosis"]["type"] == "upstream_auth_error"
    after = await shown(office, row)
    assert (after["testStatus"], after["errorCode"]) == ("error", 401)
    assert after["lastError"] == answer["error"]


async def test_a_list_that_is_open_to_everybody_proves_nothing(office: Office) -> None:
    office.vendor.open_list = True
    good, wrong = await office.connect(), await office.connect(name="b", apiKey="wrong-canary")

    right = await outcome(office, good)
    assert (await outcome(office, wrong))["valid"] is False

    assert right["valid"] is True
    greetings = [asked.json() for asked in office.vendor.calls("/chat/completions")]
    assert [(each["model"], each["max_tokens"]) for each in greetings] == [("large", 1)] * 2


async def test_a_greeting_is_in_the_ledger(office: Office) -> None:
    office.vendor.open_list = True
    row = await office.connect()

    await outcome(office, row)

    await office.core.ledger.flush()
    page = await office.core.stores.usage.page(limit=5)
    assert [(each.connection_id, each.input_tokens, each.model_sent) for each in page.rows] == [
        (row["id"], 3, "large")
    ]


async def test_the_default_model_is_greeted_where_there_is_one(office: Office) -> None:
    office.vendor.open_list = True
    row = await office.connect(defaultModel="small")

    await outcome(office, row)

    assert office.vendor.calls("/chat/completions")[0].json()["model"] == "small"


async def test_a_vendor_without_a_list_is_greeted(office: Office) -> None:
    office.vendor.said["/models"] = refused(404, "No such path")
    row = await office.connect()

    assert (await outcome(office, row))["valid"] is True


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
    office: Office, status: int, message: str, valid: bool, kind: str
) -> None:
    office.vendor.open_list = True
    office.vendor.said["/chat/completions"] = refused(status, message)
    row = await office.connect()

    answer = await outcome(office, row)

    assert (answer["valid"], answer["diagnosis"]["type"]) == (valid, kind)


async def test_a_vendor_that_is_not_there_is_told(office: Office) -> None:
    row = await office.connect()
    await office.vendor.aclose()

    answer = await outcome(office, row)

    assert (answer["valid"], answer["diagnosis"]["type"]) == (False, "network_error")


async def test_a_vendor_that_does_not_answer_is_given_up(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection_tests, "LIMIT", 0.05)
    office.vendor.said["/models"] = Said((LIST,), delay=5)
    row = await office.connect()

    answer = await outcome(office, row)

    assert (answer["valid"], answer["statusCode"]) == (False, 504)
    assert answer["diagnosis"]["type"] == "timeout"


@pytest.mark.parametrize("open_list", [False, True])
async def test_a_failed_test_does_not_change_how_calls_are_routed(
    office: Office, open_list: bool
) -> None:
    office.vendor.open_list = open_list
    row = await office.connect(apiKey="wrong-canary")

    assert (await outcome(office, row))["valid"] is False

    assert office.core.cooldowns.all_active() == []


@pytest.mark.parametrize("open_list", [False, True])
async def test_a_resting_or_inactive_account_is_tried_and_rests_no_more(
    office: Office, open_list: bool
) -> None:
    office.vendor.open_list = open_list
    row = await office.connect()
    await office.ask("PUT", f"/api/providers/{row['id']}", {"isActive": False})
    refusal = UpstreamError("busy", status=429)
    office.core.cooldowns.record_failure(
        row["id"], "large", refusal, FailureClass(True, backoff=True)
    )

    assert (await outcome(office, row))["valid"] is True

    assert (await shown(office, row))["isActive"] is False
    assert office.core.cooldowns.all_active() == []


async def test_a_vendor_in_this_process_is_greeted(office: Office) -> None:
    made = await office.ask("POST", "/api/providers", {"provider": "echo", "name": "a"}, status=201)

    assert (await outcome(office, made["connection"]))["valid"] is True


async def test_a_secret_that_cannot_be_opened_is_no_good(office: Office) -> None:
    row = await office.connect()
    await office.core.stores.database.execute("UPDATE connections SET secrets = 'rubbish'")

    answer = await outcome(office, row)

    assert (answer["valid"], answer["diagnosis"]["source"]) == (False, "local")
    assert office.vendor.asked == []


async def test_nobody_is_not_found(office: Office) -> None:
    await office.ask("POST", "/api/providers/x/test", status=404)


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
    office: Office, provider: str, key: str, expected: dict[str, Any]
) -> None:
    answer = await office.ask("POST", VALIDATE, {"provider": provider, "apiKey": key})

    assert answer == expected
    assert (await office.ask("GET", "/api/providers"))["connections"] == []


async def test_a_key_is_validated_at_the_address_it_is_for(office: Office) -> None:
    office.other.key = "new-canary"
    body = {"provider": "acme", "apiKey": "new-canary", "baseUrl": f"{office.other.url}/v1/"}

    assert (await office.ask("POST", VALIDATE, body))["valid"] is True
    assert office.vendor.asked == []
    assert {asked.target for asked in office.other.asked} == {"/v1/models"}


async def test_a_validation_leaves_an_account_out_of_the_ledger(office: Office) -> None:
    office.vendor.open_list = True

    await office.ask("POST", VALIDATE, {"provider": "acme", "apiKey": KEY})

    await office.core.ledger.flush()
    page = await office.core.stores.usage.page(limit=5)
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
    office: Office, body: dict[str, Any], error: str
) -> None:
    answer = await office.ask("POST", VALIDATE, body, status=400)

    assert answer["error"].startswith(error)


async def many(office: Office) -> dict[str, str]:
    """Accounts of every sort, by name, to their ids."""
    node = {"name": "Mine", "prefix": "mine", "baseUrl": f"{office.vendor.url}/v1"}
    mine = (await office.ask("POST", "/api/provider-nodes", node, status=201))["node"]["id"]
    made = [
        await office.connect(name="good"),
        await office.connect(name="wrong", apiKey="wrong-canary"),
        await office.connect(name="off"),
        await office.connect(mine, name="own"),
        await office.connect("open", name="free", apiKey=""),
    ]
    await office.ask("PUT", f"/api/providers/{made[2]['id']}", {"isActive": False})
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
    office: Office, body: dict[str, Any], names: set[str]
) -> None:
    await many(office)

    answer = await office.ask("POST", "/api/providers/test-batch", body)

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


async def test_accounts_are_tried_by_their_ids_active_or_not(office: Office) -> None:
    ids = await many(office)
    body = {"ids": [ids["off"], ids["good"], ids["off"]]}

    answer = await office.ask("POST", "/api/providers/test-batch", body)

    assert [result["connectionId"] for result in answer["results"]] == [ids["off"], ids["good"]]


@pytest.mark.parametrize(
    ("body", "status"),
    [({}, 400), ({"mode": "some"}, 400), ({"mode": "provider"}, 400), ({"ids": ["x"]}, 404)],
)
async def test_an_odd_batch_is_refused(office: Office, body: dict[str, Any], status: int) -> None:
    await office.ask("POST", "/api/providers/test-batch", body, status=status)


async def test_no_more_than_ten_accounts_are_tried_at_a_time(office: Office) -> None:
    office.vendor.said["/models"] = Said((LIST,), delay=0.02)
    for number in range(25):
        await office.connect("local", name=str(number))

    found = await office.ask("POST", "/api/providers/test-batch", {"mode": "all"})

    assert found["summary"]["total"] == 25
    assert 2 <= office.core.network.counts().open <= 10


async def test_an_answer_that_is_no_list_is_no_proof(office: Office) -> None:
    office.vendor.said["/models"] = Said((b"<html>",), content_type="text/html")
    office.vendor.said["/chat/completions"] = Said((REPLY,))
    row = await office.connect("local")

    assert (await outcome(office, row))["valid"] is True
