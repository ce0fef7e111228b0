"""The command ``config`` against a served gateway, and a gateway with one of everything."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from click.testing import CliRunner
from fake_vendor import MockResponse, ReceivedRequest
from gateway_extension_config.commands import config_group
from gateway_extension_config.sections import SECTIONS
from gateway_extension_config.world import World
from msgspec import Struct
from served_gateway import Served

from gateway_cli.api_client import ask
from gateway_core.config.environment import from_environ

KEYS: Mapping[str, str] = {
    "OPENAI_WORK_API_KEY": "sk-canary-work",
    "OPENAI_SPARE_API_KEY": "sk-canary-spare",
    "HERE_LOCAL_API_KEY": "sk-canary-node",
    "AZURE_OPENAI_EUROPE_API_KEY": "sk-canary-azure",
    "PROXIES_OFFICE_PROXY_URL": "http://ann:canary@127.0.0.1:3128",
    "SETTINGS_OIDC_CLIENT_SECRET": "canary-oidc",
    "PLUGIN_SETTINGS_EXTENSION_OBJECT_STORE_SECRET_ACCESS_KEY": "canary-store",
    "PLUGIN_SETTINGS_EXTENSION_OBJECT_STORE_ACCESS_KEY_ID": "canary-store-id",
}
"""What an export of ``FULL`` names, and its values."""

FULL = """
version: 1
plugins:
  groq: {enabled: false}
pluginSettings:
  extension-object-store:
    prefix: mine/
    accessKeyId: ${env:PLUGIN_SETTINGS_EXTENSION_OBJECT_STORE_ACCESS_KEY_ID}
    secretAccessKey: ${env:PLUGIN_SETTINGS_EXTENSION_OBJECT_STORE_SECRET_ACCESS_KEY}
settings:
  comboStrategy: round-robin
  comboStrategies:
    helpful: {fallbackStrategy: weighted}
  oidcIssuerUrl: http://127.0.0.1:9/issuer
  oidcClientId: gateway
  oidcClientSecret: ${env:SETTINGS_OIDC_CLIENT_SECRET}
proxies:
  office:
    proxyUrl: ${env:PROXIES_OFFICE_PROXY_URL}
    noProxy: localhost
nodes:
  here: {name: Here, type: openai-compatible, baseUrl: "%(vendor)s/v1"}
connections:
  openai:
    work:
      apiKey: ${env:OPENAI_WORK_API_KEY}
      priority: 1
      proxyPool: office
      providerSpecificData: {organization: mine, note: "costs $${5}"}
    spare:
      apiKey: ${env:OPENAI_SPARE_API_KEY}
      priority: 2
      isActive: false
      autoPing: true
  azure-openai:
    europe:
      apiKey: ${env:AZURE_OPENAI_EUROPE_API_KEY}
      providerSpecificData: {azureEndpoint: "https://europe.openai.azure.com"}
  here:
    local: {apiKey: "${env:HERE_LOCAL_API_KEY}"}
connectionGroups:
  Work: {connections: [openai/work, openai/spare]}
customModels:
  openai:
    llm:
      a-model: {name: A model, capabilities: {contextWindow: 128000}}
    embedding:
      a-model: {}
enabledModels:
  azure-openai: [gpt-5, gpt-5-mini]
disabledModels:
  openai: [gpt-4]
aliases:
  parrot: echo/echo
  chain: outer
combos:
  inner: {models: [echo/echo]}
  helpful:
    models: [echo/echo, openai/a-model]
    members:
    - {model: echo/echo, weight: 2}
    - {model: openai/a-model, weight: 1, connection: openai/work}
    allowedConnections: [openai/work]
  outer: {models: [inner, parrot]}
mediaRoutes:
  embedding: [openai/a-model]
prices:
  openai:
    a-model: {input: 3, output: 15.5}
keyGroups:
  team: {color: "#3366cc"}
keys:
  laptop:
    isActive: true
    inferenceOnly: true
    expiresAt: "2031-05-06T07:08:09.000Z"
    allowedCombos: [helpful]
    policy: {rpmLimit: 20, allowedModels: [echo/echo]}
    dailyLimitTokens: 1000
    connections: [openai/work]
    groups: [team]
"""
"""One of everything; ``vendor`` is a server of models."""


class Outcome(Struct, frozen=True):
    """What a command did."""

    code: int
    output: str
    errors: str

    @property
    def json(self) -> Any:
        return json.loads(self.output)


class ConfigCommand:
    """Runs the command against one gateway."""

    def __init__(self, here: Served, data_dir: Path, folder: Path) -> None:
        self.here = here
        self.data_dir = data_dir
        self.folder = folder
        """Where files are written."""

    def __call__(
        self,
        *words: str,
        file: str | bytes | None = None,
        variables: Mapping[str, str] = KEYS,
        url: str | None = None,
    ) -> Outcome:
        """Run ``config WORDS…``, with a file of this text behind them."""
        path = []
        if file is not None:
            written = self.folder / "gateway.yaml"
            written.write_bytes(file.encode() if isinstance(file, str) else file)
            path = [str(written)]
        environment = from_environ({"DATA_DIR": str(self.data_dir), **variables})
        arguments = [*words, "--url", url or self.here.url, *path]
        result = CliRunner().invoke(config_group, arguments, obj=environment)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Outcome(result.exit_code, result.stdout, result.stderr)

    def full(self) -> str:
        return FULL % {"vendor": self.here.vendors["openai"].url}

    def world(self) -> World:
        """The gateway, read anew."""
        environment = from_environ({"DATA_DIR": str(self.data_dir)})

        def send(method: str, path: str, body: bytes | None) -> tuple[int, bytes]:
            answer = ask(environment, self.here.url, method, path, body)
            return answer.status, answer.body

        return World(send, SECTIONS)

    def clear(self) -> None:
        """Bring the gateway back to what it was when it was new."""
        world = self.world()
        for section in reversed(SECTIONS.values()):
            if section.can_prune:
                for stored in world.stored(section.name):
                    section.delete(world, stored)
        world.call("POST", "/api/plugins/groq/enable")
        world.call("DELETE", "/api/plugins/extension-object-store/settings")
        world.call("PUT", "/api/media-providers/routes", {"kind": "embedding", "models": []})
        shown = world.call("GET", "/api/settings")
        changed = (
            "comboStrategy",
            "comboStrategies",
            "oidcIssuerUrl",
            "oidcClientId",
            "modelTimeouts",
        )
        world.call("PATCH", "/api/settings", {n: None for n in changed if n in shown})


def list_models(received: ReceivedRequest) -> MockResponse:
    """A server of models that has none of its own."""
    return MockResponse((b'{"object":"list","data":[]}',))
