"""A 9router export becomes a file that a gateway takes."""

import json

from config_files import ConfigCommand

NODE = "openai-compatible-chat-1"
EXPORT = {
    "settings": {"comboStrategy": "round-robin", "stickyRoundRobinLimit": "x", "tunnelUrl": "u"},
    "users": [{"username": "ann", "password": "canary-hash"}],
    "providerConnections": [
        {
            "id": "c1",
            "provider": "openai",
            "authType": "apikey",
            "name": "work",
            "priority": 1,
            "isActive": True,
            "apiKey": "sk-canary",
            "testStatus": "active",
            "providerSpecificData": {"proxyPoolId": "p1", "region": "eu"},
        },
        {"id": "c2", "provider": "claude-oauth", "authType": "oauth", "email": "a@b"},
        {
            "id": "c3",
            "provider": NODE,
            "authType": "apikey",
            "name": "mine",
            "isActive": False,
            "apiKey": "canary",
            "providerSpecificData": {"prefix": "mine", "baseUrl": "http://127.0.0.1:9/v1"},
        },
    ],
    "providerNodes": [
        {
            "id": NODE,
            "type": "openai-compatible",
            "name": "Mine",
            "prefix": "mine",
            "apiType": "chat",
            "baseUrl": "http://127.0.0.1:9/v1",
        }
    ],
    "proxyPools": [
        {"id": "p1", "name": "out", "type": "http", "proxyUrl": "http://a:canary@127.0.0.1:1"},
        {"id": "p2", "name": "relay", "type": "vercel", "proxyUrl": "https://x"},
    ],
    "apiKeys": [{"id": "k1", "key": "sk-canary-key", "name": "laptop", "isActive": True}],
    "combos": [
        {"name": "best", "models": ["openai/gpt-4o", "mine/llama", "gone/x", "second"]},
        {"name": "second", "models": ["echo/echo"]},
    ],
    "modelAliases": {"fast": "openai/gpt-4o", "lost": "gone/x"},
    "customModels": [{"providerAlias": "mine", "id": "llama", "type": "llm", "name": "Llama"}],
    "mitmAlias": {},
    "pricing": {"openai": {"gpt-4o": {"input": 2.5, "output": 10, "other": 1}}},
}


def test_an_export_is_applied_and_the_rest_is_listed(config: ConfigCommand) -> None:
    read = config("import", "9router", file=json.dumps(EXPORT))
    variables = dict.fromkeys(("OPENAI_WORK_API_KEY", "MINE_MINE_API_KEY"), "sk-canary")
    variables["PROXIES_OUT_PROXY_URL"] = "http://a:canary@127.0.0.1:1"

    made = config("apply", file=read.output, variables=variables)

    assert read.code == 0, read.errors
    assert "canary" not in read.output
    assert made.code == 0, made.errors + made.output + read.output
    stored = {
        section: {each.name: each.fields for each in config.world().stored(section)}
        for section in ("connections", "proxies", "combos", "aliases", "prices", "keys")
    }
    assert set(stored["connections"]) == {("openai", "work"), ("mine", "mine")}
    assert stored["connections"]["openai", "work"]["proxyPool"] == "out"
    assert stored["connections"]["mine", "mine"]["isActive"] is False
    assert set(stored["proxies"]) == {("out",)}
    assert stored["combos"]["best",]["models"] == ["openai/gpt-4o", "mine/llama", "second"]
    assert stored["aliases"] == {("fast",): {"": "openai/gpt-4o"}}
    assert stored["prices"]["openai", "gpt-4o"] == {"input": 2.5, "output": 10.0}
    assert set(stored["keys"]) == {("laptop",)}
    for note in (
        "the account claude-oauth/a@b: no such provider",
        "the proxy relay of type vercel",
        "the member gone/x of the combo best",
        "the alias lost",
        "settings.stickyRoundRobinLimit",
        "settings.tunnelUrl",
        "the text of the key laptop: the gateway makes a new one",
        "users",
    ):
        assert f"#   {note}\n" in read.output


def test_a_file_that_is_none_of_9router_is_refused(config: ConfigCommand) -> None:
    empty, broken = config("import", "9router", file="{}"), config("import", "9router", file="{")
    deep = config("import", "9router", file="[" * 1_000_000)
    large = config("import", "9router", file=b" " * 50_000_000)

    assert [each.code for each in (empty, broken, deep, large)] == [1, 1, 1, 1]
    assert "a 9router export has providerConnections" in empty.errors
    assert "this is no JSON" in broken.errors
    assert "the file is larger than 16384 KiB" in large.errors
