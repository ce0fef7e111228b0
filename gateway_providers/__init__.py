"""A vendor author's tools. They name no vendor."""

from .compatible import openai_compatible

__all__ = ["openai_compatible"]
