"""Render the Helm chart for the tests, with the program helm: python tools/chart.py [HELM].

Each set of values in tests/data/chart is rendered beside it, with the digest of the chart it was
rendered from. Tests look at the objects, and whether the digest is that of the chart as it is.
"""

import hashlib
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
CHART = ROOT / "deploy" / "helm"
CASES = ROOT / "tests" / "data" / "chart"
KUBERNETES = "1.30.0"


def digest(values: Path) -> str:
    """Of everything that a rendering depends on."""
    found = hashlib.sha256()
    files = sorted(path for path in CHART.rglob("*") if path.is_file())
    for path in (*files, values):
        found.update(f"{path.relative_to(ROOT)}\0{path.stat().st_size}\0".encode())
        found.update(path.read_bytes())
    return found.hexdigest()


def cases() -> list[Path]:
    return sorted(CASES.glob("*.values.yaml"))


def rendering(values: Path) -> Path:
    return values.with_name(values.name.replace(".values.", ".rendered."))


def render(helm: str, values: Path) -> str:
    command = [helm, "template", "gw", str(CHART), "--namespace", "models"]
    options = ["--values", str(values), "--kube-version", KUBERNETES]
    done = subprocess.run([*command, *options], capture_output=True, text=True, check=True)
    return f"# {digest(values)}\n{done.stdout}"


def main(helm: str = "helm") -> None:

    subprocess.run([helm, "lint", "--strict", str(CHART)], check=True)
    for values in cases():
        rendering(values).write_text(render(helm, values), "utf-8")
        print(f"wrote {rendering(values).relative_to(ROOT)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
