"""What is an alert: the figures of the gateway, compared with the thresholds."""

from collections.abc import Iterator
from statistics import fmean

from gateway_observing.figures import Calls, Figures, LimitUse, Rest

from .alert import Alert
from .settings import Settings

ERROR_SPAN = 600.0
SPEND_SPAN = 3600.0
"""Seconds, both."""
WEEK = 7 * 24
"""Hours."""
MOST = 100
"""Alerts of one rule at once; the ones after that say nothing new."""
EVERY_MODEL = "__all"


async def find_alerts(figures: Figures, settings: Settings) -> list[Alert]:
    """What is the matter now. Raises Unavailable while the database is away."""
    found: list[Alert] = []
    if settings.limit_share:
        found += _limited(limits_alerts(await figures.limits(), settings.limit_share))
    if settings.spend_factor:
        last = sum(each.cost for each in (await figures.calls_by_provider(SPEND_SPAN)).values())
        found += spend_alerts(last, await figures.spend_by_hour(WEEK), settings)
    if settings.error_share:
        calls = await figures.calls_by_provider(ERROR_SPAN)
        found += _limited(error_alerts(calls, settings))
    if settings.rest_seconds:
        rests = await figures.rests()
        found += _limited(rest_alerts(rests, figures.now(), settings.rest_seconds))
    return found


def _limited(alerts: Iterator[Alert]) -> list[Alert]:
    return [alert for alert, _ in zip(alerts, range(MOST), strict=False)]


def limits_alerts(limits: list[LimitUse], share: float) -> Iterator[Alert]:
    for each in limits:
        used = each.used / each.limit
        if used < share:
            continue
        unit = "$" if each.is_money else ""
        yield Alert(
            id=f"limit:{each.key_id}:{each.field}",
            kind="limit",
            severity="critical" if used >= 1 else "warning",
            title=f"Key {each.key} has used {used:.0%} of its {each.label}",
            text=f"{unit}{each.used:,.10g} of {unit}{each.limit:,.10g}."
            + (" Its calls are refused." if used >= 1 else ""),
            values={
                "keyId": each.key_id,
                "key": each.key,
                "field": each.field,
                "used": each.used,
                "limit": each.limit,
            },
        )


def spend_alerts(last: float, hours: list[float], settings: Settings) -> Iterator[Alert]:
    """``last`` is what the last sixty minutes cost, ``hours`` what the hours before did."""
    usual = fmean(hours)
    if last < max(settings.spend_least, settings.spend_factor * usual) or not last:
        return
    yield Alert(
        id="spend",
        kind="spend",
        severity="warning",
        title=f"The last hour cost ${last:,.2f}",
        text=f"An hour of the last seven days cost ${usual:,.2f} on average.",
        values={"lastHour": last, "usualHour": usual},
    )


def error_alerts(calls: dict[str, Calls], settings: Settings) -> Iterator[Alert]:
    for provider, each in sorted(calls.items()):
        share = each.errors / each.requests if each.requests else 0.0
        if each.requests < settings.error_calls or share < settings.error_share:
            continue
        yield Alert(
            id=f"errors:{provider}",
            kind="errors",
            severity="critical" if each.errors == each.requests else "warning",
            title=f"{share:.0%} of the calls to {provider} fail",
            text=f"{each.errors} of {each.requests} calls within ten minutes.",
            values={"provider": provider, "errors": each.errors, "calls": each.requests},
        )


def rest_alerts(rests: list[Rest], now: float, least: float) -> Iterator[Alert]:
    for each in rests:
        left = each.until - now
        if left < least:
            continue
        what = "" if each.model == EVERY_MODEL else f" for {each.model}"
        yield Alert(
            id=f"rest:{each.account_id}:{each.model}",
            kind="rest",
            severity="warning",
            title=f"Account {each.account} of {each.provider} rests{what}",
            text=f"For {left / 60:.0f} more minutes. {each.reason}".strip(),
            values={
                "connectionId": each.account_id,
                "provider": each.provider,
                "model": each.model,
                "secondsLeft": round(left),
            },
        )
