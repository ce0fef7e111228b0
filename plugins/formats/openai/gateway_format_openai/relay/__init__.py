"""Passing a vendor's answer through to a client that speaks this dialect too."""

from .changes import begin_relay
from .watch import ChatRelay, ChatWatch

__all__ = ["ChatRelay", "ChatWatch", "begin_relay"]
