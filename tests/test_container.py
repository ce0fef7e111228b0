"""The container: its own file is carried out in a folder, and what it makes serves there.

What only an engine can show, such as another user and a root that cannot be written, is not
shown here.
"""

import fcntl
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import tomllib
import venv
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPConnection
from importlib.metadata import distributions
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from containerfile import Ignored, Image
from drop_ins import files_of, vendor, wheel
from packaging.requirements import Requirement

from gateway_core.config.environment import Environment
from gateway_core.plugins.sources import plain

ROOT = Path(__file__).parents[1]
KIT = ROOT / "plugins" / "extensions" / "kit"
"""What plugin authors need and operators do not."""
MEMBERS = sorted({file.parent for file in ROOT.glob("plugins/*/*/pyproject.toml")} - {KIT})
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PACKAGES: list[str] = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
OWN_PLUGINS = PROJECT["project"]["entry-points"]["model_gateway"]
ASKED = {"model": "echo/echo", "messages": [{"role": "user", "content": "Hello"}]}
MILLISECONDS = 1000

pytestmark = pytest.mark.timeout(300)  # an empty cache of packages is filled first


class Serving(NamedTuple):
    """A gateway that the image's entry point started."""

    image: Image
    process: "subprocess.Popen[str]"
    port: int


@pytest.fixture(scope="session")
def image() -> Iterator[Image]:
    """Built once for all test processes; the last one that needs it takes it away.

    It is on the disk, because it is too large for memory.
    """
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid()))
    folder = Path(tempfile.gettempdir(), f"gateway-image-{run}")
    with open(folder.with_suffix(".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        made = built(folder)
        fcntl.flock(lock, fcntl.LOCK_SH)
        yield made
        with suppress(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder)
            os.unlink(lock.name)


def built(folder: Path) -> Image:
    made = Image(ROOT / "Containerfile", ROOT / ".dockerignore", folder)
    kept = folder / "kept.json"
    if not kept.exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        made.build()
        kept.write_text(json.dumps([made.env, made.written]))
    made.env, made.written = json.loads(kept.read_text())
    return made


def called(image: Image, *arguments: str, **more: str) -> "subprocess.CompletedProcess[str]":
    """The entry point with arguments, as ``docker run IMAGE ARGUMENTS`` calls it."""
    return ended([*image.words("ENTRYPOINT"), *arguments], {**image.env, **more})


def checked(image: Image, data: Path) -> "subprocess.CompletedProcess[str]":
    """The image's health check."""
    return ended(image.words("HEALTHCHECK"), {**image.env, "DATA_DIR": str(data)})


def ended(words: list[str], env: dict[str, str]) -> "subprocess.CompletedProcess[str]":
    path = shutil.which(words[0], path=env["PATH"])
    assert path is not None
    return subprocess.run(
        [path, *words[1:]], env=env, cwd="/", capture_output=True, text=True, timeout=60
    )


@contextmanager
def serving(image: Image, data: Path, **more: str) -> Iterator[Serving]:
    """The entry point without arguments; it has to stop in order on SIGTERM."""
    (word,) = image.words("ENTRYPOINT")
    path = shutil.which(word, path=image.env["PATH"])
    assert path is not None
    env = {**image.env, "DATA_DIR": str(data), "PORT": "0", **more}
    with subprocess.Popen([path], env=env, cwd="/", stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            found = re.search(
                r"listens on http://127\.0\.0\.1:(\d+) \(fast on uvloop", next(process.stdout)
            )
            assert found is not None
            yield Serving(image, process, int(found[1]))
            process.send_signal(signal.SIGTERM)
            assert process.wait(20) == 0
        finally:
            process.kill()


def answered(host: str, port: int) -> Any:
    received = HTTPConnection(host, port, timeout=20)
    headers = {"content-type": "application/json"}
    received.request("POST", "/v1/chat/completions", json.dumps(ASKED), headers)
    answer = received.getresponse()
    text = answer.read()
    received.close()
    assert answer.status == 200, text
    return json.loads(text)["choices"][0]["message"]["content"]


def packages_of(file: Path) -> dict[str, str]:
    """Names and versions of what a file of requirements pins for this interpreter."""
    lines = re.findall(r"^[a-z0-9].*?(?=\s*\\?$)", file.read_text("utf-8"), re.MULTILINE)
    wanted = [Requirement(line) for line in lines]
    here = [each for each in wanted if each.marker is None or each.marker.evaluate()]
    return {plain(each.name): str(each.specifier).removeprefix("==") for each in here}


def site(image: Image) -> Path:
    (found,) = (image.root / "opt/gateway/lib").glob("python3*/site-packages")
    return found


def files(folder: Path) -> dict[str, int]:
    """What lies below, with the time of its last change."""
    found = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.stat().st_mtime_ns for path in found}


def test_the_image_holds_what_is_pinned_and_every_plugin_and_nothing_else(image: Image) -> None:
    there = {plain(each.name): each.version for each in distributions(path=[str(site(image))])}

    pip, core = there.pop("pip"), there.pop("model-gateway")
    plugins = {name: there.pop(name) for name in list(there) if name.startswith("model-gateway-")}
    assert pip
    assert core
    assert len(plugins) == len(MEMBERS) > 30
    assert there == packages_of(ROOT / "requirements" / "image.txt")
    assert {"uvloop"} <= set(there)
    assert {"pytest", "mypy", "ruff", "hypothesis", "setuptools", "uv", "hatchling"}.isdisjoint(
        there
    )


def test_what_the_image_pins_is_what_the_tests_run_with() -> None:
    image, lock = (packages_of(ROOT / "requirements" / f"{name}.txt") for name in ("image", "lock"))

    assert len(image) > 40
    assert image.items() <= lock.items()


def test_the_image_holds_our_packages_file_for_file_and_compiled(image: Image) -> None:
    for package in PACKAGES:
        here, there = set(files(ROOT / package)), set(files(site(image) / package))
        sources = {name for name in here if "__pycache__" not in name}
        assert sources == {name for name in there if "__pycache__" not in name}
        compiled = {name for name in there if "__pycache__" in name}
        assert len(compiled) == len({name for name in sources if name.endswith(".py")})


def test_it_serves_is_healthy_and_stops_and_writes_only_its_data(
    image: Image, tmp_path: Path
) -> None:
    before, data = files(image.root), tmp_path / "data"
    assert checked(image, data).returncode == 1

    with serving(image, data) as gateway:
        assert answered("127.0.0.1", gateway.port) == "Hello"
        healthy = checked(image, data)
    stopped = checked(image, data)

    assert (healthy.returncode, healthy.stderr) == (0, "")
    assert healthy.stdout == f"http://127.0.0.1:{gateway.port} answers 200\n"
    assert (stopped.returncode, stopped.stderr) == (1, "")
    assert files(image.root) == before
    assert (data / "master-key").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("name", ["the image's", "the container's"])
def test_it_listens_on_every_address_whatever_the_engine_calls_it(
    image: Image, tmp_path: Path, name: str
) -> None:
    more = {"HOSTNAME": socket.gethostname()} if name == "the container's" else {}

    with serving(image, tmp_path / "data", **more) as gateway:
        assert answered("127.0.0.2", gateway.port) == "Hello"


def test_a_gateway_that_hangs_is_not_healthy(image: Image, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        (tmp_path / "gateway.address").write_text(address)
        reported = checked(image, tmp_path)

    assert reported.returncode == 1
    assert reported.stdout == f"{address} does not answer: timed out\n"


def test_every_bundled_plugin_works_in_the_image(image: Image, tmp_path: Path) -> None:
    reported = called(image, "plugins", "list", "--json", DATA_DIR=str(tmp_path))

    assert reported.returncode == 0, reported.stderr
    states = {each["name"]: each["state"] for each in json.loads(reported.stdout)}
    assert len(states) == len(MEMBERS) + len(OWN_PLUGINS)
    assert set(states.values()) == {"loaded"}


def test_a_plugin_is_installed_beside_the_data_and_the_image_stays_as_it_is(
    image: Image, tmp_path: Path
) -> None:
    before, data = files(image.root), str(tmp_path / "data")
    contents = files_of("acme", vendor("acme"), plugin="acme", requires=("model-gateway",))
    package = wheel(tmp_path, "acme", contents)
    options = ("--into", "data", "--", "--no-index")

    installed = called(image, "plugins", "install", str(package), *options, DATA_DIR=data)
    listed = called(image, "plugins", "list", "--json", DATA_DIR=data)

    assert installed.returncode == 0, installed.stderr
    (acme,) = (each for each in json.loads(listed.stdout) if each["name"] == "acme")
    assert (acme["origin"], acme["state"]) == ("folder", "loaded")
    assert files(image.root) == before


def test_the_packages_of_the_quick_start_install_as_it_is_written(
    image: Image, tmp_path: Path
) -> None:
    """In a clean environment, from the wheels that were built for the image."""
    page = (ROOT / "docs" / "quick-start.md").read_text("utf-8")
    lines = re.findall(r"^pip install .+$", page, re.MULTILINE)
    wheels = image.root.parent / "stage-build" / "opt" / "wheels"
    venv.create(tmp_path / "clean", with_pip=True)
    programs = tmp_path / "clean" / "bin"
    # What others have published is pinned by its hash elsewhere, and needs a network.
    settings = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(wheels), "PIP_NO_DEPS": "1"}
    for line in lines:
        done = ended(["bash", "-c", line], {"PATH": f"{programs}:{os.environ['PATH']}", **settings})
        assert done.returncode == 0, done.stderr

    listed = ended([f"{programs}/pip", "list", "--format", "json"], {"PATH": os.environ["PATH"]})
    names = {each["name"] for each in json.loads(listed.stdout)}
    assert len(lines) == 2
    assert {word for line in lines for word in re.findall(r"model-gateway[a-z-]*", line)} <= names
    assert (programs / "model-gateway").is_file()


def test_the_image_runs_as_nobody_else_may_and_keeps_its_data_apart(image: Image) -> None:
    data = image.root / "data"

    assert image.written["USER"] == "10001:10001"
    assert image.written["VOLUME"] == image.env["DATA_DIR"].removeprefix(str(image.root)) == "/data"
    assert data.stat().st_mode & 0o777 == 0o700
    assert list(data.iterdir()) == []
    assert image.env["GATEWAY_MODE"] == "container"
    assert image.written["EXPOSE"] == "20128"
    assert list((image.root / "tmp").iterdir()) == []


@pytest.mark.parametrize(
    "path",
    [
        *(".git/config", ".venv/bin/python", ".data/master-key", ".env", "data/db/data.sqlite"),
        *("key.pem", "tests/conftest.py", "gateway_core/__pycache__/app.cpython-311.pyc"),
        *(
            "plugins/providers/echo/dist/echo.whl",
            "plugins/extensions/kit/pyproject.toml",
            "uv.lock",
            "benchmarks/README.md",
            "compose.yaml",
        ),
    ],
)
def test_what_is_no_part_of_the_image_does_not_go_to_the_builder(path: str) -> None:
    for name in (".dockerignore", ".containerignore"):
        assert path in Ignored((ROOT / name).read_text("utf-8")), name


def compose() -> Any:
    return yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))


def test_compose_gives_the_gateway_little_and_lets_it_end_its_work() -> None:
    service = compose()["services"]["gateway"]

    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["volumes"] == ["data:/data"]
    assert service["build"]["dockerfile"] == "Containerfile"
    drain = Environment().drain_ms / MILLISECONDS
    assert int(service["stop_grace_period"].removesuffix("s")) >= drain + 5


def test_compose_hands_on_variables_that_the_gateway_or_a_vendors_plugin_reads() -> None:
    reported = compose()["services"]["gateway"]["environment"]

    pages = [*ROOT.glob("docs/reference/*.md"), ROOT / "docs" / "valkey.md"]
    read = "\n".join(page.read_text("utf-8") for page in pages)
    assert [name for name in reported if f"`{name}`" not in read] == []
    assert set(reported.values()) == {None}


@pytest.mark.parametrize("version", ["16", "17", "18"])
def test_compose_has_a_profile_for_each_postgres_that_the_gateway_waits_for(version: str) -> None:
    file, name = compose(), f"postgres{version}"
    service, gateway = file["services"][name], file["services"]["gateway"]

    assert service["image"] == f"postgres:{version}"
    assert service["profiles"] == [name]
    assert gateway["depends_on"][name] == {"condition": "service_healthy", "required": False}
    assert "profiles" not in gateway
    (volume,) = service["volumes"]
    kept, _, place = volume.partition(":")
    assert kept in file["volumes"]
    # Version 18 of the image keeps its data elsewhere than the others unless it is told where.
    assert Path(service["environment"]["PGDATA"]).parent == Path(place)
    check = service["healthcheck"]["test"]
    assert check[:2] == ["CMD", "pg_isready"]
    assert f"--dbname={service['environment']['POSTGRES_DB']}" in check
    assert f"--username={service['environment']['POSTGRES_USER']}" in check
    assert service["environment"]["POSTGRES_PASSWORD"] is None
    assert "ports" not in service


def test_compose_has_a_profile_for_a_valkey_that_keeps_nothing() -> None:
    file = compose()
    service, gateway = file["services"]["valkey"], file["services"]["gateway"]

    assert service["profiles"] == ["valkey"]
    assert gateway["depends_on"]["valkey"] == {"condition": "service_healthy", "required": False}
    assert service["command"][1:3] == ["--save", ""]
    assert service["cap_drop"] == ["ALL"]
    assert service["read_only"] is True
    assert {"ports", "volumes"}.isdisjoint(service)


def test_without_an_engine_make_image_says_what_to_do(tmp_path: Path) -> None:
    make = shutil.which("make")
    assert make is not None
    for tool in ("sh", "dirname"):
        (tmp_path / tool).symlink_to(str(shutil.which(tool)))

    reported = subprocess.run(
        [make, "--silent", "image"],
        cwd=ROOT,
        env={"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
    )

    assert reported.returncode != 0
    assert "docker, podman or buildah, and none of them works here" in reported.stderr
