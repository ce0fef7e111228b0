"""Cases that a provider plugin has to pass, made from what it declares."""

from gateway_kit.case import Case

from .samples import SAMPLES, ServiceSample
from .subject import Account
from .suite import Suite
from .with_pytest import live_provider_cases, provider_cases

__all__ = [
    "SAMPLES",
    "Account",
    "Case",
    "ServiceSample",
    "Suite",
    "live_provider_cases",
    "provider_cases",
]
