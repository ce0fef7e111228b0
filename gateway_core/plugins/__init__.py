"""Plugins as the operator lives with them: found, loaded, judged. One module for each concern."""

from .asking import HOOK_LIMIT, MOST_ANSWERS, answers, replies
from .discovery import Found, Origin
from .files import PluginFolder
from .loading import IMPORT_LIMIT, load
from .records import Loaded, Plugin, Problem, State, report
from .settings import PluginSettings, settings_of

__all__ = [
    "HOOK_LIMIT",
    "IMPORT_LIMIT",
    "MOST_ANSWERS",
    "Found",
    "Loaded",
    "Origin",
    "Plugin",
    "PluginFolder",
    "PluginSettings",
    "Problem",
    "State",
    "answers",
    "load",
    "replies",
    "report",
    "settings_of",
]
