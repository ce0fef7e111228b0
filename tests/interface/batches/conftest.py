"""A served gateway with a vendor, and clients of its batches."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest
from batch_clients import House, Lab
from fake_vendor import FakeVendor
from served_gateway import Served, keyless_provider, serve_gateway

from gateway_core import Kind, Model, ProviderSpec, Service
from gateway_providers.services import PassThroughService


@pytest.fixture(scope="module")
def _served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, Lab, Path]]:
    folder, lab = tmp_path_factory.mktemp("gateway"), Lab()

    def specs(vendors: Mapping[str, FakeVendor]) -> list[ProviderSpec]:
        vectors = Model("e", kind=Kind.EMBEDDING)
        service = Service(Kind.EMBEDDING, PassThroughService("/embeddings"))
        more = {"models": (Model("m"), vectors), "services": (service,)}
        return [keyless_provider("openai", vendors["openai"], **more)]

    with serve_gateway(folder, {"openai": lab}, specs=specs) as served:
        yield served, lab, folder


@pytest.fixture
def house(_served: tuple[Served, Lab, Path]) -> Iterator[House]:
    served, lab, folder = _served
    lab.refusals, lab.held = {}, set()
    lab.said.clear()
    with ExitStack() as stack:
        found = House(served, lab, folder, stack)
        yield found
        lab.held.clear()
        found.wait_for_all()
