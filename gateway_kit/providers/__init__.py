"""Cases that a provider plugin has to pass, made from what it declares."""

from .case import Case
from .subject import Account
from .suite import Suite
from .with_pytest import live_provider_cases, provider_cases

__all__ = ["Account", "Case", "Suite", "live_provider_cases", "provider_cases"]
