"""A served gateway with a vendor, and clients of its batches."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest
from batch_clients import BatchGateway, ChatScript
from fake_vendor import FakeVendor
from served_gateway import Served, keyless_provider, serve_gateway

from gateway_core import Kind, Model, ProviderSpec, Service
from gateway_providers.services import PassThroughService


@pytest.fixture(scope="module")
def _served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, ChatScript, Path]]:
    folder, script = tmp_path_factory.mktemp("gateway"), ChatScript()

    def specs(vendors: Mapping[str, FakeVendor]) -> list[ProviderSpec]:
        vectors = Model("e", kind=Kind.EMBEDDING)
        service = Service(Kind.EMBEDDING, PassThroughService("/embeddings"))
        more = {"models": (Model("m"), vectors), "services": (service,)}
        return [keyless_provider("openai", vendors["openai"], **more)]

    with serve_gateway(folder, {"openai": script}, specs=specs) as served:
        yield served, script, folder


@pytest.fixture
def here(_served: tuple[Served, ChatScript, Path]) -> Iterator[BatchGateway]:
    served, script, folder = _served
    script.refusals, script.held = {}, set()
    script.written.clear()
    with ExitStack() as stack:
        found = BatchGateway(served, script, folder, stack)
        yield found
        script.held.clear()
        found.wait_for_all()
