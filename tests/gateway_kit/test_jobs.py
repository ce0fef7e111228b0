"""Vendors whose pictures are jobs: a sound one passes, and what is wrong in its later requests is
found."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from gateway_kit.providers import ProviderSuite

PLUGIN = '''"""Jobs: a vendor that exists only in tests.

API reference: https://docs.jobs.example/api
"""

from urllib.parse import quote

from gateway_core import Auth, Kind, Model, ProviderSpec, Service, UpstreamError, hookimpl
from gateway_providers.services import Again, JsonService

GATEWAY_PROTOCOL = 1


def write(question):
    question.lose_all_but("prompt")
    return {"prompt": question.members["prompt"], "model": question.target.model.id}


def read(question, answer):
    if "url" in answer:
        return {"created": 1, "data": [{"url": answer["url"]}]}
    if answer["state"] == "failed":
        raise UpstreamError(str(answer.get("reason") or "no colours"))
    if answer["state"] not in ("queued", "running"):
        raise UpstreamError(f"The job is {answer['state']}")
    return Again(path=f"/jobs/{quote(answer['id'], safe='')}")


JOBS = ProviderSpec(
    id="NAME",
    name="Jobs",
    base_url="https://api.jobs.example/v1",
    auth=Auth(scheme="bearer"),
    environment=("NAME_KEY".upper(),),
    models=(Model("painter-1", kind=Kind.IMAGE),),
    services=(Service(Kind.IMAGE, JsonService(path="/jobs", write=write, read=read)),),
)


@hookimpl
def register_providers():
    return [JOBS]
'''
SAMPLE = {
    "image": {
        "request": {"prompt": "A hello"},
        "before": [{"id": "1", "state": "queued"}, {"id": "1", "state": "running"}],
        "reply": {"url": "https://pictures.example/1.png"},
        "usage": None,
        "shown": ["https://pictures.example/1.png"],
    }
}
BUGS = {
    "sound": ("", ""),
    "elsewhere": ('path=f"/jobs/', 'path=f"https://api.other.example/jobs/'),
    "impatient": ("    return Again(", '    return {"created": 1, "data": []} or dict('),
    "blind": ('if answer["state"] == "failed"', 'if answer["state"] != "done"'),
    "careless": (
        "    return Again(",
        '    key = "sk-kit-0123456789abcdef"\n'
        '    return Again(path=f"https://p.example/1?key={key}", is_public=True) or dict(',
    ),
}


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProviderSuite]:
    folder: Path = tmp_path_factory.mktemp("plugins")
    for name, (sound, bug) in BUGS.items():
        package = folder / f"jobs_{name}"
        package.mkdir()
        text = PLUGIN.replace("NAME", f"jobs-{name}").replace(f"jobs-{name}_KEY", f"JOBS_{name}")
        assert sound in text
        (package / "__init__.py").write_text(text.replace(sound, bug) if sound else text)
        (package / "service_samples.json").write_text(json.dumps(SAMPLE))
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        suite = ProviderSuite(tuple(f"jobs_{name}" for name in BUGS))
        yield suite
        suite.close()


def failures(suite: ProviderSuite, name: str, data_dir: Path) -> list[str]:
    failed = (suite.run(case, data_dir) for case in suite.cases_of(f"jobs_{name}"))
    return [each for each in failed if each is not None]


def test_a_sound_job_passes(suite: ProviderSuite, tmp_path: Path) -> None:
    names = [case.name for case in suite.cases_of("jobs_sound")]

    assert failures(suite, "sound", tmp_path) == []
    assert any(name.endswith("image: further requests") for name in names)


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("elsewhere", "api.other.example is none of the hosts"),
        ("impatient", "nothing is asked after"),
        ("blind", "is a failure: no colours"),
        ("careless", "the key goes to"),
    ],
)
def test_a_mistake_in_a_job_is_found(
    suite: ProviderSuite, tmp_path: Path, name: str, found: str
) -> None:
    assert any(found in failure for failure in failures(suite, name, tmp_path))
