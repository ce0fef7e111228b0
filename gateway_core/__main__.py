"""``python -m gateway_core`` is the command ``model-gateway``."""

from .cli.main import main

main()
