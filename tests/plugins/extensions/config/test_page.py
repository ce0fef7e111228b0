"""What the page on configuration files prints, run as it is printed."""

import re
import shlex
from pathlib import Path

import pytest
from config_files import ConfigCommand

PAGE = (Path(__file__).parents[4] / "docs" / "config-files.md").read_text(encoding="utf-8")
COMMAND = re.compile(r"^model-gateway config (.*)$", re.MULTILINE)
YAML = re.compile(r"^```yaml\n(.*?)^```", re.MULTILINE | re.DOTALL)
LITELLM = "model_list:\n- {model_name: a, litellm_params: {model: gpt-4o, api_key: os.environ/A}}\n"


def test_the_commands_of_the_page_work_as_they_are_printed(
    config: ConfigCommand, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config.yaml").write_text(LITELLM)
    (tmp_path / "backup.json").write_text('{"providerConnections": []}')
    codes = {}

    for command in COMMAND.findall(PAGE):
        words, _, output = command.partition(" > ")
        if " plan " in f" {words}" and "--json" not in words:
            # The page shows a file before it plans one.
            (tmp_path / "gateway.yaml").write_text(YAML.findall(PAGE)[0])
        done = config(*shlex.split(words))
        codes[words] = done.code
        if output:
            (tmp_path / output).write_text(done.output)

    assert codes == {
        "export -o gateway.yaml": 0,
        "diff gateway.yaml": 0,
        "plan gateway.yaml": 2,
        "apply gateway.yaml --new-keys keys.json": 0,
        "plan gateway.yaml --json": 0,
        "import litellm config.yaml": 0,
        "import 9router backup.json": 0,
    }


def test_the_files_of_the_page_can_be_planned(config: ConfigCommand, tmp_path: Path) -> None:
    variables = {"OPENAI_WORK_API_KEY": "x", "PROXY_USER": "ann", "PROXY_PASSWORD": "canary"}

    codes = [config("plan", file=file, variables=variables).code for file in YAML.findall(PAGE)]

    assert codes == [2, 2]
