"""Other gateways, installed on demand and started as their own documentation says.

They get the same requests as the gateway, with a key if they check one, and do not log requests.
One that cannot be installed or started is left out with a note.
"""

import shutil
import subprocess
import sys
from pathlib import Path

from .answers import CHAT, MODES
from .peers import DIRECT, NGINX, OWN, ROOT, Peer
from .rounds import Scenario
from .scenarios import ANSWER
from .tools import ToolMissing

PLACE = Path(__file__).parent / ".others"
"""Where they are installed; ignored by git."""
LITELLM_VERSION = "1.106.2"
PORTKEY_VERSION = "1.15.2"
_PORTKEY = "node_modules/@portkey-ai/gateway/build/start-server.js"
_PORTKEY_PACKAGE = f"""{{
    "private": true,
    "dependencies": {{"@portkey-ai/gateway": "{PORTKEY_VERSION}"}},
    "overrides": {{"@hono/node-server": "1.8.2"}}
}}
"""
"""With the newest server that this release admits, it answers every stream with 500."""
_LITELLM_KEY = "sk-bench"


def _litellm_models() -> str:
    """A model of each mode, at the vendor."""
    lines = []
    for mode in MODES:
        kind, base = ("openai", "/v1") if mode.dialect == CHAT else ("anthropic", "")
        lines += [
            f"  - model_name: {mode.name}/bench",
            "    litellm_params:",
            f"      model: {kind}/bench",
            f"      api_base: http://127.0.0.1:{{vendor}}/{mode.name}{base}",
            "      api_key: none",
        ]
    return "\n".join(lines)


LITELLM = Peer(
    name=f"LiteLLM {LITELLM_VERSION}",
    command=(
        *(str(PLACE / "litellm/bin/litellm"), "--config", "{folder}/litellm.yaml"),
        *("--host", "127.0.0.1", "--port", "{port}", "--num_workers", "1"),
    ),
    files={
        "litellm.yaml": f"model_list:\n{_litellm_models()}\n"
        "litellm_settings:\n  telemetry: false\n  set_verbose: false\n"
        f"general_settings:\n  master_key: {_LITELLM_KEY}\n"
    },
    variables={
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "LITELLM_LOG": "ERROR",
        "LITELLM_MODE": "PRODUCTION",
    },
    health="/health/liveliness",
    headers={"authorization": f"Bearer {_LITELLM_KEY}"},
)
PORTKEY = Peer(
    name=f"Portkey {PORTKEY_VERSION}",
    command=("node", str(PLACE / _PORTKEY), "--port={port}", "--headless"),
    variables={"NODE_ENV": "production", "TRUSTED_CUSTOM_HOSTS": "127.0.0.1"},
    headers={
        "authorization": "Bearer none",
        "x-portkey-provider": "{kind}",
        "x-portkey-custom-host": "http://127.0.0.1:{vendor}/{mode}/v1",
    },
)
OTHERS = (NGINX, OWN, PORTKEY, LITELLM, DIRECT)
BESIDE = tuple(
    Scenario(mode=mode, peers=tuple(peer.name for peer in OTHERS), spread=spread, seconds=seconds)
    for mode, spread, seconds in (
        ("plain", 0.0, 2.0),
        ("stream", 0.0, 2.0),
        ("paced", ANSWER, 2.0),
        ("messages", 0.0, 2.0),
        ("messages-stream", 0.0, 2.0),
    )
)


def fetch() -> list[str]:
    """Install what is not there yet. Gives a note for each that could not be."""
    PLACE.mkdir(exist_ok=True)
    notes = []
    for name, present, install in (
        (LITELLM.name, Path(LITELLM.command[0]), _fetch_litellm),
        (PORTKEY.name, Path(PORTKEY.command[1]), _fetch_portkey),
    ):
        try:
            if not present.exists():
                print(f"fetching {name}", file=sys.stderr)
                install()
        except (OSError, subprocess.CalledProcessError, ToolMissing) as error:
            notes.append(f"{name} could not be installed: {error}")
    return notes


def _fetch_litellm() -> None:
    uv, python = str(ROOT / ".tools/bin/uv"), str(PLACE / "litellm/bin/python")
    subprocess.run(
        [uv, "venv", "--quiet", "--python", sys.executable, PLACE / "litellm"], check=True
    )
    package = f"litellm[proxy]=={LITELLM_VERSION}"
    subprocess.run([uv, "pip", "install", "--quiet", "--python", python, package], check=True)


def _fetch_portkey() -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise ToolMissing("npm is not installed")
    (PLACE / "package.json").write_text(_PORTKEY_PACKAGE)
    subprocess.run([npm, "install", "--silent", "--prefix", PLACE], check=True)
