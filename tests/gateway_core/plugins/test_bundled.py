"""The list of what comes with the gateway is the one that its plugin folders give."""

import importlib.util
import tomllib
from pathlib import Path

from gateway_kit.compatibility import compared

from gateway_core.plugins import bundled
from gateway_core.plugins.sources import find

ROOT = Path(__file__).parents[3]
FILE = ROOT / "gateway_core" / "plugins" / "bundled.json"


def test_the_files_are_fresh() -> None:
    spec = importlib.util.spec_from_file_location("write_bundled", ROOT / "tools" / "bundled.py")
    assert spec is not None
    assert spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)

    hint = "run: python tools/bundled.py"
    assert FILE.read_bytes() == tool.bundled(), hint
    assert (ROOT / tool.ALL).read_text("utf-8") == tool.everything(), hint


def test_one_distribution_installs_every_format_and_vendor() -> None:
    project = tomllib.loads((ROOT / "distributions" / "all" / "pyproject.toml").read_text("utf-8"))
    named = set(project["project"]["dependencies"])
    bring = {
        name for name, each in bundled.distributions().items() if each.formats or each.providers
    }

    assert named == {"model-gateway[fast]", *bring}


def test_each_folder_brings_the_id_it_is_named_for() -> None:
    for kind in ("formats", "providers"):
        for project in (ROOT / "plugins" / kind).glob("*/pyproject.toml"):
            id = project.parent.name
            brought = bundled.distributions()[f"model-gateway-{kind.removesuffix('s')}-{id}"]

            assert id in getattr(brought, kind)


def test_a_vendor_s_second_id_is_kept_for_it_too() -> None:
    assert bundled.provider_ids() >= {"glm", "glm-cn"}


def test_a_format_is_looked_up_by_the_distribution_that_brings_it() -> None:
    assert bundled.distribution_of_format("bedrock") == "model-gateway-provider-bedrock"
    assert bundled.distribution_of_format("openai-completions") == "model-gateway-format-openai"
    assert bundled.distribution_of_format("nobody-s") is None


def test_every_bundled_vendor_and_format_fits_and_takes_nothing_private() -> None:
    kinds = ("model-gateway-provider-", "model-gateway-format-")
    plugins = [
        each for each in find(lambda *problem: None) if (each.distribution or "").startswith(kinds)
    ]

    findings_by_plugin = {each.name: compared(each).findings for each in plugins}

    assert len(findings_by_plugin) >= 33
    assert {name: findings for name, findings in findings_by_plugin.items() if findings} == {}
