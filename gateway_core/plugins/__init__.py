"""Plugins as the operator lives with them: found, loaded, judged. One module for each concern."""

from .loading import (
    HOOK_LIMIT,
    IMPORT_LIMIT,
    MOST_ANSWERS,
    Loaded,
    Plugin,
    Problem,
    State,
    answers,
    load,
    replies,
    report,
)

__all__ = [
    "HOOK_LIMIT",
    "IMPORT_LIMIT",
    "MOST_ANSWERS",
    "Loaded",
    "Plugin",
    "Problem",
    "State",
    "answers",
    "load",
    "replies",
    "report",
]
