"""What a vendor's failure means for the account and for the call.

The first line that fits decides, as in the table of the operator's guide.
"""

from msgspec import Struct

from ..config.settings import Settings
from ..contracts.errors import AnswerFailed, TooSlow, UpstreamError
from ..contracts.provider import ProviderSpec

SEVEN_DAYS = 7 * 24 * 3600.0
REST_AFTER_REFUSAL = 120.0
REST_AFTER_FAILURE = 30.0
REST_AT_MOST_WHEN_FREE = 60.0
REFUSED_REQUEST = (400, 413, 422)
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
    status, text = error.status, error.message.lower()
    if status == 499:
        return STAY
    if status in REFUSED_REQUEST and (
        "invalid_request_error" in (error.kind, error.code)
        or any(phrase in text for phrase in _ABOUT_THE_REQUEST)
    ):
        return STAY
    for rule in settings.provider_error_rules.get(spec.id, ()):
        if rule.status is not None and rule.status != status:
            continue
        if rule.match is not None and rule.match.lower() not in text:
            continue
        return FailureClass(
            True,
            (rule.cooldown_ms or 0) / 1000,
            backoff=rule.cooldown_ms is None,
            whole_account=rule.scope != "model",
        )
    if isinstance(error, TooSlow | AnswerFailed):
        return FailureClass(True)
    if error.retry_after is not None:
        return FailureClass(True, min(max(error.retry_after, 0.0), SEVEN_DAYS))
    if "no credentials" in text:
        return FailureClass(True, REST_AFTER_REFUSAL)
    if "request not allowed" in text:
        return FailureClass(True, 5.0)
    if any(phrase in text for phrase in _CROWDED):
        return FailureClass(True, backoff=True)
    if status in (401, 402, 403, 404):
        return FailureClass(
            True, _rest(REST_AFTER_REFUSAL, spec, settings), whole_account=status in (401, 402)
        )
    if status == 429:
        return FailureClass(True, backoff=True)
    if status in REFUSED_REQUEST:
        return STAY
    return FailureClass(True, _rest(REST_AFTER_FAILURE, spec, settings))


def _rest(usual: float, spec: ProviderSpec, settings: Settings) -> float:
    own = settings.retry_delay_by_provider.get(spec.id)
    if isinstance(own, int | float):
        return float(own)
    return min(usual, REST_AT_MOST_WHEN_FREE) if spec.free else usual
