"""How plugins stand to one another: which come with the gateway, and which the operator trusts.

Nothing here is a defence against code that runs in the process. It decides who
goes first where two plugins want the same name, and who is given the whole
gateway instead of a part of it.
"""

from collections.abc import Container

from .discovery import Found, Origin
from .records import Plugin
from .sources import CORE

HOUSE_FORMATS = ("claude", "gemini", "ollama", "openai", "openai-responses")
"""Wire formats that come with the gateway, each in a distribution of its own."""
HOUSE_PROVIDERS = (
    *("anthropic", "azure-openai", "bedrock", "cerebras", "cohere", "deepseek", "echo"),
    *("fireworks", "gemini", "github-models", "glm", "groq", "huggingface", "llamacpp"),
    *("lmstudio", "minimax", "mistral", "moonshot", "nvidia", "ollama", "openai", "openrouter"),
    *("perplexity", "qwen", "together", "vertex", "vllm", "xai"),
)
"""Vendors that come with the gateway, each in a distribution of its own."""
HOUSE_EXTENSIONS = ("kit",)
"""Extensions that come with the gateway, each in a distribution of its own."""
_HOUSE = frozenset(
    {
        CORE,
        *(f"{CORE}-format-{name}" for name in HOUSE_FORMATS),
        *(f"{CORE}-provider-{name}" for name in HOUSE_PROVIDERS),
        *(f"{CORE}-{name}" for name in HOUSE_EXTENSIONS),
    }
)


def is_house(plugin: Plugin | Found) -> bool:
    """Whether it comes with the gateway."""
    return plugin.origin is Origin.INSTALLED and plugin.distribution in _HOUSE


def has_precedence(plugin: Plugin) -> bool:
    """Whether it keeps its names, paths and variables when a stranger claims them."""
    return plugin.origin is Origin.GIVEN or is_house(plugin)


def is_trusted(plugin: Plugin, trusted: Container[str]) -> bool:
    """Whether it gets the whole gateway; ``trusted`` holds the names the operator trusts."""
    is_core = plugin.origin is Origin.INSTALLED and plugin.distribution == CORE
    return plugin.origin is Origin.GIVEN or is_core or plugin.name in trusted
