"""What is an alert, and how it begins and ends."""

from collections.abc import Iterable

import pytest
from gateway_extension_alerts.alert import CALM, Active, Alert, Severity, advance
from gateway_extension_alerts.rules import error_alerts, limits_alerts, rest_alerts, spend_alerts
from gateway_extension_alerts.settings import Settings

from gateway_observing.figures import Calls, LimitUse, Rest

QUIET = Settings()


def ids(alerts: Iterable[Alert]) -> list[tuple[str, str]]:
    return [(each.id, each.severity) for each in alerts]


def use(used: float, limit: float = 100) -> LimitUse:
    return LimitUse(
        key_id="k",
        key="team",
        field="monthlyBudget",
        label="monthly budget",
        used=used,
        limit=limit,
        is_money=True,
    )


@pytest.mark.parametrize(
    ("used", "severity"), [(79.9, None), (80, "warning"), (99.9, "warning"), (100, "critical")]
)
def test_a_limit_is_near_and_then_reached(used: float, severity: str | None) -> None:
    found = ids(limits_alerts([use(used)], 0.8))

    assert found == ([("limit:k:monthlyBudget", severity)] if severity else [])


def test_money_is_shown_as_dollars() -> None:
    [alert] = limits_alerts([use(85.5)], 0.8)

    assert alert.title == "Key team has used 86% of its monthly budget"
    assert alert.text == "$85.5 of $100."


@pytest.mark.parametrize(
    ("last", "usual", "is_jump"),
    [
        (4.99, 0.0, False),
        (5.0, 0.0, True),
        (29.9, 10.0, False),
        (30.0, 10.0, True),
        (0.0, 0, False),
    ],
)
def test_a_jump_is_large_and_larger_than_usual(last: float, usual: float, is_jump: bool) -> None:
    assert bool(ids(spend_alerts(last, [usual] * 168, QUIET))) is is_jump


def test_without_a_least_sum_nothing_spent_is_no_jump() -> None:
    assert ids(spend_alerts(0.0, [0.0], Settings(spend_least=0))) == []


@pytest.mark.parametrize(
    ("errors", "requests", "severity"),
    [(19, 19, None), (4, 20, None), (5, 20, "warning"), (20, 20, "critical"), (0, 0, None)],
)
def test_errors_count_once_there_are_enough_calls(
    errors: int, requests: int, severity: str | None
) -> None:
    found = ids(error_alerts({"p": Calls(errors=errors, requests=requests)}, QUIET))

    assert found == ([("errors:p", severity)] if severity else [])


@pytest.mark.parametrize(("left", "is_alert"), [(299, False), (300, True)])
def test_a_short_rest_is_nothing_to_tell(left: float, is_alert: bool) -> None:
    rest = Rest(
        account_id="a", account="main", provider="p", model="m", until=1000 + left, reason="429"
    )

    found = list(rest_alerts([rest], 1000, 300))

    assert [each.title for each in found] == ["Account main of p rests for m"] * is_alert


def alert(severity: Severity = "warning") -> Alert:
    return Alert(id="x", kind="spend", severity=severity, title="t", text="")


def test_an_alert_is_told_when_it_begins_worsens_and_ends() -> None:
    active: dict[str, Active] = {}
    told = []
    for now, found in (
        (0, [alert()]),
        (60, [alert()]),
        (120, [alert("critical")]),
        (180, [alert()]),
        (240, []),
        (240 + CALM - 61, []),
        (240 + CALM, []),
        (300 + CALM, [alert()]),
    ):
        active, events = advance(active, found, now)
        told += [(now, each.event) for each in events]

    assert told == [
        (0, "begins"),
        (120, "worsens"),
        (240 + CALM, "ends"),
        (300 + CALM, "begins"),
    ]


def test_its_beginning_is_kept() -> None:
    active, _ = advance({}, [alert()], 5)
    active, _ = advance(active, [alert()], 65)

    assert (active["x"].since, active["x"].seen) == (5, 65)


@pytest.mark.parametrize(
    "wrong",
    [
        {"webhook_url": "ftp://a.example"},
        {"slack_url": "a.example"},
        {"smtp_host": "mail.example"},
        {"smtp_host": "mail.example", "mail_from": "a@b.c"},
        {"mail_to": ("nobody",)},
        {"mail_from": "a@b.c\nBcc: d@e.f"},
    ],
)
def test_settings_that_cannot_work_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"address|mail"):
        Settings(**wrong)  # type: ignore[arg-type]
