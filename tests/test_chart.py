"""The Helm chart: what helm made of it for a few sets of values, and which values it refuses.

The renderings are kept, because helm is not always at hand; where it is, they are made anew.
"""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema_rs import Draft7Validator, ValidationError

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tools"))

import chart  # noqa: E402  # a tool is no package

VALUES = yaml.safe_load((chart.CHART / "values.yaml").read_text("utf-8"))
SCHEMA = Draft7Validator(json.loads((chart.CHART / "values.schema.json").read_text("utf-8")))
CASES = [path.name.partition(".")[0] for path in chart.cases()]
SEALED = {"masterKey": {"existingSecret": "seal"}}
SECRET = {"secrets": {"existingSecret": "gateway"}}
POSTGRES = {"postgres": {"enabled": True}}
SCALED = {"autoscaling": {"enabled": True}}


def objects(case: str) -> dict[str, Any]:
    """What was rendered, by kind and name."""
    text = (chart.CASES / f"{case}.rendered.yaml").read_text("utf-8")
    found = [each for each in yaml.safe_load_all(text) if each]
    return {f"{each['kind']} {each['metadata']['name']}": each for each in found}


def pod(case: str) -> Any:
    return objects(case)["StatefulSet gw"]["spec"]["template"]["spec"]


def variables(case: str) -> dict[str, str]:
    return {each["name"]: each["value"] for each in pod(case)["containers"][0]["env"]}


@pytest.mark.parametrize("case", CASES)
def test_the_renderings_are_of_the_chart_as_it_is(case: str) -> None:
    values = chart.CASES / f"{case}.values.yaml"
    kept = chart.rendering(values).read_text("utf-8")

    assert kept.startswith(f"# {chart.digest(values)}\n"), "run python tools/chart.py"
    if (helm := shutil.which("helm")) is not None:
        assert chart.render(helm, values) == kept


@pytest.mark.parametrize("case", CASES)
def test_every_container_may_do_little(case: str) -> None:
    spec = pod(case)
    user = spec["securityContext"]

    for each in (*spec["containers"], *spec.get("initContainers", ())):
        assert each["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
    assert (user["runAsNonRoot"], user["runAsUser"], user["fsGroup"]) == (True, 10001, 10001)
    assert user["fsGroupChangePolicy"] == "OnRootMismatch"
    assert user["seccompProfile"] == {"type": "RuntimeDefault"}
    assert spec["automountServiceAccountToken"] is False
    assert spec["enableServiceLinks"] is False


@pytest.mark.parametrize("case", CASES)
def test_probes_ask_for_health_and_readiness(case: str) -> None:
    (gateway,) = pod(case)["containers"]
    paths = {name: gateway[f"{name}Probe"]["httpGet"] for name in ("startup", "liveness")}

    assert all(each == {"path": "/api/health", "port": "http"} for each in paths.values())
    ready = gateway["readinessProbe"]
    assert ready["httpGet"] == {"path": "/api/ready", "port": "http"}
    assert ready["timeoutSeconds"] > 2
    delay = int(variables(case)["GATEWAY_DRAIN_DELAY_MS"]) / 1000
    assert ready["periodSeconds"] * ready["failureThreshold"] + ready["timeoutSeconds"] <= delay
    assert gateway["ports"] == [{"name": "http", "containerPort": 20128}]


@pytest.mark.parametrize("case", CASES)
def test_a_stop_has_the_time_that_it_may_take(case: str) -> None:
    reported = variables(case)
    needed = int(reported["GATEWAY_DRAIN_DELAY_MS"]) + int(reported["GATEWAY_DRAIN_MS"])

    assert pod(case)["terminationGracePeriodSeconds"] == needed / 1000 + 10


@pytest.mark.parametrize("case", CASES)
def test_every_part_finds_the_others(case: str) -> None:
    there = objects(case)
    labels = there["StatefulSet gw"]["spec"]["template"]["metadata"]["labels"]
    budget = there["PodDisruptionBudget gw"]["spec"]

    selectors = [each["spec"]["selector"] for name, each in there.items() if "Service" in name]
    selectors.append(budget["selector"]["matchLabels"])
    selectors.append(there["StatefulSet gw"]["spec"]["selector"]["matchLabels"])
    assert len(selectors) == 4
    assert all(each.items() <= labels.items() for each in selectors)
    assert budget["maxUnavailable"] == 1
    assert f"Service {there['StatefulSet gw']['spec']['serviceName']}" in there
    named = {each["name"] for each in pod(case)["volumes"]} | {"data"}
    for each in (*pod(case)["containers"], *pod(case).get("initContainers", ())):
        assert {mount["name"] for mount in each["volumeMounts"]} <= named


@pytest.mark.parametrize("case", CASES)
def test_variables_are_those_of_the_gateway(case: str) -> None:
    pages = [*ROOT.glob("docs/reference/*.md"), ROOT / "docs" / "database.md"]
    known = "\n".join(page.read_text("utf-8") for page in pages)

    assert [name for name in variables(case) if f"`{name}`" not in known] == []
    (gateway,) = pod(case)["containers"]
    mount = gateway["volumeMounts"][0]["mountPath"]
    assert Path(variables(case)["DATA_DIR"]).parent == Path(mount)


@pytest.mark.parametrize("case", CASES)
def test_a_secret_is_in_secrets_only(case: str) -> None:
    for name, each in objects(case).items():
        text = yaml.safe_dump(each)
        assert name.startswith("Secret") or not re.search(r"canary|12345678|a{64}", text)


def test_alone_it_is_on_sqlite_and_a_volume() -> None:
    there = objects("alone")
    stateful = there["StatefulSet gw"]["spec"]
    (claim,) = stateful["volumeClaimTemplates"]

    assert stateful["replicas"] == 1
    assert claim["spec"]["storageClassName"] == "fast"
    assert claim["spec"]["accessModes"] == ["ReadWriteOnce"]
    assert "GATEWAY_DATABASE_ENGINE" not in variables("alone")
    assert "initContainers" not in pod("alone")
    assert "HorizontalPodAutoscaler gw" not in there
    assert there["Secret gw-variables"]["stringData"]["INITIAL_PASSWORD"] == "12345678"
    (source,) = pod("alone")["containers"][0]["envFrom"]
    assert source == {"secretRef": {"name": "gw-variables"}}


def test_replicas_share_a_database_and_secrets_of_the_operators_own() -> None:
    there, spec = objects("replicas"), pod("replicas")

    assert there["StatefulSet gw"]["spec"]["replicas"] == 3
    assert not [name for name in there if name.startswith("Secret")]
    assert spec["containers"][0]["envFrom"] == [{"secretRef": {"name": "gateway"}}]
    assert spec["containers"][0]["args"] == ["--workers", "2"]
    reported = variables("replicas")
    assert (reported["GATEWAY_DATABASE_ENGINE"], reported["GATEWAY_PG_SSLMODE"]) == (
        "postgres",
        "verify-full",
    )
    (key,) = (each["secret"] for each in spec["volumes"] if each["name"] == "master-key")
    assert key["secretName"] == "gateway-seal"
    assert spec["initContainers"][0]["name"] == "master-key"
    assert (spec["imagePullSecrets"], spec["nodeSelector"]) == (
        [{"name": "registry"}],
        {"disk": "ssd"},
    )


def test_the_scaler_and_not_the_chart_says_how_many_there_are() -> None:
    there = objects("scaled")
    scaler = there["HorizontalPodAutoscaler gw"]["spec"]

    assert "replicas" not in there["StatefulSet gw"]["spec"]
    assert scaler["scaleTargetRef"] == {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "name": "gw",
    }
    assert (scaler["minReplicas"], scaler["maxReplicas"]) == (2, 9)
    assert there["Secret gw-master-key"]["stringData"] == {"master-key": "a" * 64}
    images = {
        each["image"] for each in (*pod("scaled")["containers"], *pod("scaled")["initContainers"])
    }
    assert images == {"registry.example/gateway:1.2"}


@pytest.mark.parametrize("name", ["held", "another"])
def test_a_key_on_the_volume_is_kept(tmp_path: Path, name: str) -> None:
    """The init container's own script, with its folders elsewhere."""
    (first,) = pod("replicas")["initContainers"]
    script = first["command"][2].replace("/data/", f"{tmp_path}/data/")
    script = script.replace("/secret/", f"{tmp_path}/secret/")
    for folder in ("data", "secret"):
        (tmp_path / folder).mkdir()
    secret, kept = tmp_path / "secret" / "master-key", tmp_path / "data/gateway/master-key"
    secret.write_text("a" * 64)
    command = [*first["command"][:2], script]

    begun = subprocess.run(command, capture_output=True, text=True)
    if name == "another":
        secret.write_text("b" * 64)
    again = subprocess.run(command, capture_output=True, text=True)

    assert begun.returncode == 0, begun.stderr
    assert again.returncode == (name == "another")
    assert ("another master-key" in again.stderr) is (name == "another")
    assert kept.read_text() == "a" * 64
    assert kept.stat().st_mode & 0o777 == 0o600


def merged(*changes: dict[str, Any]) -> dict[str, Any]:
    """Values as helm hands them to the schema: with the defaults."""
    values = json.loads(json.dumps(VALUES))
    for change in changes:
        for name, members in change.items():
            if isinstance(members, dict):
                values[name] |= members
            else:
                values[name] = members
    return dict(values)


@pytest.mark.parametrize(
    "changes",
    [
        (),
        (SEALED,),
        (POSTGRES, SECRET),
        (POSTGRES, SECRET, SEALED, {"replicas": 3}),
        (POSTGRES, SECRET, SEALED, SCALED),
    ],
)
def test_values_that_work_are_taken(changes: tuple[dict[str, Any], ...]) -> None:
    SCHEMA.validate(merged(*changes))


@pytest.mark.parametrize(
    "changes",
    [
        ({"replicas": 0},),
        ({"replica": 1},),
        ({"replicas": 2},),
        ({"replicas": 2}, SECRET, SEALED),
        ({"replicas": 2}, SEALED, POSTGRES),
        ({"replicas": 2}, SECRET, POSTGRES),
        (SCALED, SECRET, SEALED),
        (POSTGRES,),
        (POSTGRES, {"postgres": {"enabled": True, "sslmode": "prefer"}}),
        ({"masterKey": {"value": "short"}},),
        ({"environment": {"A-B": "x"}},),
        ({"probes": {"readinessPath": "/"}},),
    ],
)
def test_values_that_cannot_work_are_refused(changes: tuple[dict[str, Any], ...]) -> None:
    with pytest.raises(ValidationError):
        SCHEMA.validate(merged(*changes))
