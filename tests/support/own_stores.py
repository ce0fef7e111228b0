"""The stores of the operator's tools, over the database of a gateway in this process."""

from gateway_administration.stores import AdminStores, admin_stores_on
from gateway_core.pipeline.context import Collaborators


def own_stores(core: Collaborators) -> AdminStores:
    return admin_stores_on(core.stores, clock=core.clock)
