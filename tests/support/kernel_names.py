"""Ids of bundled vendors and formats, and the few places of the kernel where one may stand."""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from gateway_core.plugins import bundled

ROOT = Path(__file__).parents[2]
WORD = re.compile(r"[a-z0-9]+")
ENGLISH = frozenset({"echo", "factory", "together"})
"""Ids of bundled vendors that are also words of prose."""
FIXED_NAMES: Mapping[str, Mapping[str, str]] = {
    "gateway_cli.serving": {
        "echo": "the greeting's example is a call that needs no account",
        "openai": "the greeting's example is a request in this format",
    },
    "gateway_core.config.settings": {
        "claude_classifier_compat": "a member of the settings that clients read and write (4.13)",
        "firecrawl_base_url": "the same",
    },
    "gateway_core.config.unsupported": {
        "OLLAMA_LOCAL_CONNECT_TIMEOUT_MS": "a variable that the configuration documents (J)",
        "AZURE_OPENAI_ENDPOINT": "what is set in the place of another one",
        "OPENAI_API_VERSION": "the same",
        "AZURE_OPENAI_DEPLOYMENT": "the same",
    },
    "gateway_core.contracts.provider": {
        "openai-responses": "the format that the manifest's responsesBaseUrl is about (2.7)",
        "openai": "the format of a vendor that names none (2.7)",
    },
    "gateway_core.http.models": {
        "anthropic-version": "the header that asks for the messages-style list (4.1 and 9)",
    },
    "gateway_core.routing.model_listing": {
        "claude-": "the prefix of names in the messages-style list (4.1)",
    },
    "gateway_core.routing.model_resolver": {
        "claude-": "the same prefix, taken off a name that nobody knows",
        "glm": "a family of models, as in auto/glm, whoever serves them",
        "minimax": "a family of models",
        "gemini": "a family of models",
    },
    "gateway_core.upstream.response_headers": {
        "anthropic-ratelimit-": "the beginning of names of response headers that reach the client",
    },
}
"""By module: what may stand there although a bundled vendor or format is in it, and why."""


@cache
def bundled_ids() -> frozenset[str]:
    """The names of the folders of formats and providers, and every id that they register."""
    groups = ("formats", "providers")
    folders = {
        each.parent.name for g in groups for each in ROOT.glob(f"plugins/{g}/*/pyproject.toml")
    }
    brought = bundled.distributions().values()
    return frozenset(folders.union(*([*each.formats, *each.providers] for each in brought)))
