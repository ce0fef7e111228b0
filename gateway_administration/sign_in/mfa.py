"""Switching the second factor off; its codes are read where it is used to sign in."""

from collections.abc import Mapping

RESET = "mfa.reset"
"""The act in the audit trail."""
OFF: Mapping[str, bool | None] = {
    "mfaEnabled": False,
    "mfaSecret": None,
    "mfaBackupCodes": None,
    "mfaLastStep": None,
}
"""The settings of an installation without a second factor."""
