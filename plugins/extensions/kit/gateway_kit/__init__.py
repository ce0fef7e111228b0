"""What plugin authors check their plugins with: cases for pytest, a mock vendor, and
a gateway in front of it.

Nothing is imported before it is asked for, because pytest loads this package
wherever it is installed.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .extensions import extension_cases
    from .formats import format_cases
    from .providers import Account, ServiceSample, live_provider_cases, provider_cases
    from .served_gateway import ServedGateway

__all__ = [
    "Account",
    "ServedGateway",
    "ServiceSample",
    "extension_cases",
    "format_cases",
    "live_provider_cases",
    "provider_cases",
]

_HOMES = {
    "Account": "providers",
    "ServedGateway": "served_gateway",
    "ServiceSample": "providers",
    "extension_cases": "extensions",
    "format_cases": "formats",
    "live_provider_cases": "providers",
    "provider_cases": "providers",
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
