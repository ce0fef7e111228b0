"""The table of the operator's guide, line by line: the first that fits decides."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from snapshots import provider

from gateway_core import UpstreamError
from gateway_core.config.settings import read_settings
from gateway_core.contracts.errors import TooSlow
from gateway_core.routing.failure_rules import SEVEN_DAYS, STAY, FailureClass, classify

ACME = provider("acme")
GROWING = FailureClass(True, backoff=True)


def verdict(
    status: int, message: str = "", settings: dict[str, Any] | None = None, **error: Any
) -> FailureClass:
    return classify(
        UpstreamError(message, status=status, **error), ACME, read_settings(settings or {})
    )


def rules(*given: dict[str, Any]) -> dict[str, Any]:
    return {"providerErrorRules": {"acme": list(given)}}


def test_a_slow_model_rests_no_account_unless_a_rule_says_so() -> None:
    slow, settings = TooSlow("late"), read_settings(rules({"status": 504, "cooldownMs": 5}))

    assert classify(slow, ACME, read_settings({})) == FailureClass(retry=True)
    assert classify(slow, ACME, settings).cooldown == 0.005


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (verdict(499), STAY),
        (verdict(400, "rate limit", kind="invalid_request_error"), STAY),
        (verdict(422, code="invalid_request_error"), STAY),
        (verdict(400, "Bad encrypted_content", retry_after=3.0), STAY),
        (verdict(400, "against our Content Policy"), STAY),
        (verdict(400), STAY),
        (verdict(413), STAY),
        (verdict(422), STAY),
        (verdict(400, retry_after=3.0), FailureClass(True, 3.0)),
        (verdict(429, "overloaded", retry_after=9.0), FailureClass(True, 9.0)),
        (verdict(500, "No credentials here"), FailureClass(True, 120.0)),
        (verdict(403, "Request not allowed"), FailureClass(True, 5.0)),
        (verdict(400, "Rate limit reached"), GROWING),
        (verdict(401, "Too many requests"), GROWING),
        (verdict(500, "Model is overloaded"), GROWING),
        (verdict(503, "no capacity left"), GROWING),
        (verdict(401), FailureClass(True, 120.0, whole_account=True)),
        (verdict(402), FailureClass(True, 120.0, whole_account=True)),
        (verdict(403), FailureClass(True, 120.0)),
        (verdict(404), FailureClass(True, 120.0)),
        (verdict(429), GROWING),
        (verdict(500), FailureClass(True, 30.0)),
        (verdict(502), FailureClass(True, 30.0)),
        (verdict(504), FailureClass(True, 30.0)),
        (verdict(418), FailureClass(True, 30.0)),
    ],
)
def test_the_first_line_that_fits_decides(found: FailureClass, expected: FailureClass) -> None:
    assert found == expected


@given(st.floats(allow_nan=False))
def test_a_vendors_own_time_counts_up_to_seven_days(seconds: float) -> None:
    found = verdict(503, retry_after=seconds)

    assert found.retry
    assert found.cooldown == min(max(seconds, 0), SEVEN_DAYS)


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ({"status": 429}, GROWING),
        ({"status": 429, "cooldownMs": 1500}, FailureClass(True, 1.5)),
        ({"match": "BUSY"}, GROWING),
        (
            {"match": "busy", "scope": "connection"},
            FailureClass(True, backoff=True, whole_account=True),
        ),
        ({"scope": "provider", "cooldownMs": 0}, FailureClass(True, whole_account=True)),
    ],
    ids=["status", "cooldown", "text", "connection", "provider"],
)
def test_an_operators_rule_comes_before_the_vendors_own_time(
    rule: dict[str, Any], expected: FailureClass
) -> None:
    assert verdict(429, "We are busy", rules(rule), retry_after=7.0) == expected


def test_a_rule_must_fit_in_both_conditions_and_the_first_that_does_counts() -> None:
    given = rules(
        {"status": 500, "match": "busy", "cooldownMs": 1000},
        {"status": 429, "match": "asleep", "cooldownMs": 2000},
        {"match": "busy", "cooldownMs": 3000},
        {"status": 429, "cooldownMs": 4000},
    )

    assert verdict(429, "busy", given) == FailureClass(True, 3.0)


def test_no_rule_changes_what_a_bad_request_means() -> None:
    given = rules({"status": 400, "cooldownMs": 1000})

    assert verdict(400, kind="invalid_request_error", settings=given) == STAY


@pytest.mark.parametrize("status", [401, 404, 500])
def test_an_operators_delay_replaces_the_usual_one(status: int) -> None:
    assert verdict(status, settings={"retryDelayByProvider": {"acme": 7}}).cooldown == 7


def test_a_delay_called_auto_is_the_usual_one() -> None:
    assert verdict(500, settings={"retryDelayByProvider": {"acme": "auto"}}).cooldown == 30


@pytest.mark.parametrize(("status", "seconds"), [(401, 60.0), (404, 60.0), (500, 30.0)])
def test_a_free_provider_rests_a_minute_at_most(status: int, seconds: float) -> None:
    free = provider("acme", free=True)

    assert classify(UpstreamError("", status=status), free, read_settings({})).cooldown == seconds
