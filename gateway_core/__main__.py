"""``python -m gateway_core`` is the command ``model-gateway``."""

from .cli import main

main()
