"""Watch a reply of this format pass from a vendor to a client."""

from .compact import relay_compaction
from .watch import relay_reply

__all__ = ["relay_compaction", "relay_reply"]
