"""Replaces one collaborator of a running gateway, which are frozen, for the rest of a test."""

from typing import Any

from msgspec.structs import force_setattr

from gateway_core.pipeline.context import Collaborators


def replace_collaborator(core: Collaborators, name: str, value: Any) -> None:
    """Let everything that looks ``name`` up in the collaborators get ``value``."""
    getattr(core, name)  # A name that does not exist would be set without a word.
    force_setattr(core, name, value)
