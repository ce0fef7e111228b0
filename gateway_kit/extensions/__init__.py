"""Cases that an extension has to pass, made from the hooks that it implements."""

from .suite import Suite
from .with_pytest import extension_cases

__all__ = ["Suite", "extension_cases"]
