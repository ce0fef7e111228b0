"""Putting bugs into a copy of a plugin, and seeing whether its cases and its tests find them."""

from .hunt import Finding, hunt
from .planted import PlantedBug, plant, read_bugs

__all__ = ["Finding", "PlantedBug", "hunt", "plant", "read_bugs"]
