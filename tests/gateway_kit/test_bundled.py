"""The bundled providers pass the kit that other authors are given."""

from plugin_folders import ACCOUNTS, folders

from gateway_kit import Account, provider_cases

SECRETS = {"vertex": "AIza-kit-0123456789abcdef"}
THOROUGH = ("groq", "anthropic", "gemini", "ollama", "openai", "bedrock", "cohere")
"""One for each wire format."""
KNOWN = {**ACCOUNTS, **dict.fromkeys(SECRETS, {})}

test_bundled_provider = provider_cases(
    *(folder.module_name for folder in folders("provider")),
    accounts={
        id: Account(secret=SECRETS.get(id, "sk-kit-0123456789abcdef"), data=ACCOUNTS.get(id, {}))
        for id in KNOWN
    },
    thorough=THOROUGH,
    answers_itself=("echo",),
)
