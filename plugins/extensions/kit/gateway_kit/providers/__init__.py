"""Cases that a provider plugin has to pass, made from what it declares.

What needs pytest is imported only when it is asked for: ``plugins check`` runs the cases
without it.
"""

from typing import TYPE_CHECKING, Any

from gateway_kit.case import Case

from .service_samples import SAMPLES, ServiceSample
from .subject import Account
from .suite import ProviderSuite

if TYPE_CHECKING:
    from .pytest_cases import live_provider_cases, provider_cases

__all__ = [
    "SAMPLES",
    "Account",
    "Case",
    "ProviderSuite",
    "ServiceSample",
    "live_provider_cases",
    "provider_cases",
]


def __getattr__(name: str) -> Any:
    if name not in ("live_provider_cases", "provider_cases"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import pytest_cases

    return getattr(pytest_cases, name)
