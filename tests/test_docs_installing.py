"""The lines of the pages that install, build and start: what they name is there."""

import itertools
import os
import re
import shlex
import subprocess
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import gateway_extension_valkey
import pytest
import yaml
from containerfile import steps
from packaging.requirements import Requirement

from benchmarks.__main__ import argument_parser
from gateway_core.config import environment
from gateway_core.plugins import load
from gateway_core.plugins.registry import build
from gateway_core.plugins.setting_fields import described
from gateway_core.routing.environment_accounts import variables_read

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("benchmarks/*.md")])
BLOCK = re.compile(r"^ *```sh\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`((?:docker|make|pip) [^`]+)`")
PROJECTS = {
    project["name"]: project
    for file in (ROOT / "pyproject.toml", *ROOT.glob("plugins/*/*/pyproject.toml"))
    if (project := tomllib.loads(file.read_text("utf-8"))["project"])
}
COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))["services"]


def commands(program: str) -> list[tuple[str, str]]:
    """Page and command, of every line that calls a program, in blocks and in sentences."""
    return [
        (page.name, line)
        for page in PAGES
        for line in lines_of(page)
        if re.match(rf"(?:[A-Z_]+=\S+ )*{program} ", line)
    ]


@cache
def variables() -> frozenset[str]:
    """What the gateway and the plugins that come with it read."""
    own = {name for name, _, _ in environment.reference()}
    own |= {
        field.variable for field in described("extension-valkey", gateway_extension_valkey.Settings)
    }
    return frozenset(own.union(variables_read(build(load()).providers.values())))


def lines_of(page: Path) -> Iterator[str]:
    text = page.read_text("utf-8")
    for block in BLOCK.findall(text):
        for line in re.sub(r"\\\n\s*", "", block).splitlines():
            yield line.partition("  #")[0].partition(" # ")[0].strip()
    for line in INLINE.findall(text.replace("\n", " ")):
        yield re.sub(r"\s+", " ", line)


@pytest.mark.parametrize(("page", "line"), commands("make"))
def test_make_knows_the_target_and_its_program_the_options(page: str, line: str) -> None:
    words = [word for word in shlex.split(line) if "=" not in word or word.startswith("ARGS=")]
    # The tests may themselves have been started by make, which hands its options on.
    inherited = {
        name: value
        for name, value in os.environ.items()
        if name != "ARGS" and not name.startswith(("MAKE", "MFLAGS"))
    }
    done = subprocess.run(
        ["make", "--dry-run", *words[1:]],
        cwd=ROOT,
        env=inherited,
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert done.returncode == 0, done.stderr
    for called in re.findall(r"-m benchmarks (.+)", done.stdout):
        argument_parser().parse_args(shlex.split(called))


@pytest.mark.parametrize(("page", "line"), commands("pip"))
def test_pip_is_given_packages_and_extras_of_this_repository(page: str, line: str) -> None:
    # The tutorials' own projects (acme, ``-e .``) are installed by their tests.
    own = [word for word in shlex.split(line) if word.startswith("model-gateway")]
    for wanted in map(Requirement, (word for word in own if not word.endswith("-acme"))):
        extras = PROJECTS[wanted.name].get("optional-dependencies", {})
        assert wanted.extras <= set(extras), line


DOCKER = [(page, line) for page, line in commands("docker") if "..." not in line]
RUN = [(page, line) for page, line in commands("docker") if line.startswith("docker run -")]


@pytest.mark.parametrize(("page", "line"), RUN)
def test_docker_run_names_what_the_image_and_the_gateway_have(page: str, line: str) -> None:
    image = {step.word: step.rest for step in steps((ROOT / "Containerfile").read_text("utf-8"))}
    words = shlex.split(line)

    for option, value in itertools.pairwise(words):
        if option == "-e":
            assert value.partition("=")[0] in variables(), line
        elif option == "-p":
            assert value.rpartition(":")[2] == image["EXPOSE"], line
        elif option == "-v":
            assert value.split(":")[1] in (image["VOLUME"], "/tls"), line
    assert "model-gateway" in words, line


@pytest.mark.parametrize(
    ("page", "line"), [each for each in DOCKER if " compose " in each[1] or " exec " in each[1]]
)
def test_docker_compose_and_exec_name_a_service_of_the_compose_file(page: str, line: str) -> None:
    words = shlex.split(line)

    built = [service["build"] for service in COMPOSE.values() if "build" in service]
    assert [build["dockerfile"] for build in built] == ["Containerfile"]
    assert (ROOT / "Containerfile").is_file()
    if "exec" in words:
        container, program = words[words.index("exec") + 1 :][:2]
        assert (container in COMPOSE, program) == (True, "model-gateway")


def test_compose_hands_on_variables_that_there_are() -> None:
    assert set(COMPOSE["gateway"]["environment"]) <= variables()


def test_lines_of_each_program_are_found() -> None:
    assert {page for page, _ in commands("make")} >= {
        "README.md",
        "container.md",
        "contributing.md",
    }
    assert {page for page, _ in commands("pip")} >= {"quick-start.md", "plugins-new.md"}
    assert len(DOCKER) >= 5
