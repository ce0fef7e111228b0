"""The numbers of all processes of a gateway, as Prometheus reads them."""

from pathlib import Path

from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from .shared_values import sums


class Sums(Collector):
    """Numbers that were read already, as a registry wants them."""

    def __init__(self, folder: Path) -> None:
        self._metrics = sums(folder)

    def collect(self) -> list[Metric]:
        return self._metrics


def write(folder: Path, accept: str) -> tuple[bytes, str]:
    """The page in the format that is accepted, and its media type."""
    registry = CollectorRegistry()
    registry.register(Sums(folder))
    encode, media_type = choose_encoder(accept)
    return encode(registry), media_type
