"""``python -m gateway_core`` is the command ``model-gateway``."""

from importlib.metadata import distribution

# By its entry point, because the kernel imports nothing of what stands on it.
distribution("model-gateway").entry_points.select(group="console_scripts")["model-gateway"].load()()
