"""Cases that an extension has to pass, made from the hooks that it implements.

What needs pytest is imported only when it is asked for: ``plugins check`` runs the cases
without it.
"""

from typing import TYPE_CHECKING, Any

from .suite import ExtensionSuite

if TYPE_CHECKING:
    from .pytest_cases import extension_cases

__all__ = ["ExtensionSuite", "extension_cases"]


def __getattr__(name: str) -> Any:
    if name != "extension_cases":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .pytest_cases import extension_cases

    return extension_cases
