"""Read a vendor's stream into events."""

from .compact import CompactionReader
from .reader import Reader

__all__ = ["CompactionReader", "Reader"]
