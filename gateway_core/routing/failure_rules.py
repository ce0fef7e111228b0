"""What a vendor's failure means for the account and for the call.

The first line that fits decides, as in the table of the operator's guide.
"""

from collections.abc import Sequence

from msgspec import Struct

from ..config.settings import ErrorRule, Settings
from ..contracts.errors import UpstreamError
from ..contracts.provider import ProviderSpec

SEVEN_DAYS = 7 * 24 * 3600.0
REST_AFTER_REFUSAL = 120.0
REST_AFTER_FAILURE = 30.0
REST_AT_MOST_WHEN_FREE = 60.0
_CROWDED = (
    "rate limit",
    "too many requests",
    "quota exceeded",
    "quota reached",
    "individual quota",
    "capacity",
    "overloaded",
)
_ABOUT_THE_REQUEST = ("encrypted content", "encrypted_content", "content policy", "content_policy")


class FailureClass(Struct, frozen=True):
    """``cooldown`` is in seconds; ``backoff`` asks for the growing kind instead."""

    retry: bool
    """Whether another account or member may do better."""
    cooldown: float = 0.0
    backoff: bool = False
    whole_account: bool = False
    """The cooldown is for every model of the account, not only the one asked for."""


STAY = FailureClass(retry=False)


def classify(error: UpstreamError, spec: ProviderSpec, settings: Settings) -> FailureClass:
    """What this failure means."""
    text = error.message.lower()
    if _is_about_the_request(error, text):
        return STAY
    rule = _rule(settings.provider_error_rules.get(spec.id, ()), error.status, text)
    if rule is not None:
        return FailureClass(
            True,
            (rule.cooldown_ms or 0) / 1000,
            backoff=rule.cooldown_ms is None,
            whole_account=rule.scope != "model",
        )
    if error.retry_after is not None:
        return FailureClass(True, min(max(error.retry_after, 0.0), SEVEN_DAYS))
    return _by_text_or_status(error.status, text, spec, settings)


def _is_about_the_request(error: UpstreamError, text: str) -> bool:
    if error.status == 499:
        return True
    if error.status not in (400, 413, 422):
        return False
    told = (error.kind, error.code)
    return "invalid_request_error" in told or any(word in text for word in _ABOUT_THE_REQUEST)


def _rule(rules: Sequence[ErrorRule], status: int, text: str) -> ErrorRule | None:
    for rule in rules:
        status_fits = rule.status is None or rule.status == status
        if status_fits and (rule.match is None or rule.match.lower() in text):
            return rule
    return None


def _by_text_or_status(
    status: int, text: str, spec: ProviderSpec, settings: Settings
) -> FailureClass:
    if "no credentials" in text:
        return FailureClass(True, REST_AFTER_REFUSAL)
    if "request not allowed" in text:
        return FailureClass(True, 5.0)
    if any(word in text for word in _CROWDED):
        return FailureClass(True, backoff=True)
    if status in (401, 402, 403, 404):
        return FailureClass(
            True, _rest(REST_AFTER_REFUSAL, spec, settings), whole_account=status in (401, 402)
        )
    if status == 429:
        return FailureClass(True, backoff=True)
    if status in (400, 413, 422):
        return STAY
    return FailureClass(True, _rest(REST_AFTER_FAILURE, spec, settings))


def _rest(usual: float, spec: ProviderSpec, settings: Settings) -> float:
    own = settings.retry_delay_by_provider.get(spec.id)
    if isinstance(own, int | float):
        return float(own)
    return min(usual, REST_AT_MOST_WHEN_FREE) if spec.free else usual
