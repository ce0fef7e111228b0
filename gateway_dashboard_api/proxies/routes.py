"""Proxies that accounts share: list, create, change, test, delete (A.9, A.10)."""

from functools import partial

from msgspec import UNSET
from starlette.requests import Request
from starlette.responses import Response

from gateway_administration.stores.proxy_pools import NewProxyPool, ProxyPoolChange
from gateway_core.contracts.errors import BadRequest, Conflict, Forbidden, NotFound
from gateway_core.http.operations import Guarded
from gateway_core.http.requests import request_id_of
from gateway_core.http.responses import flat_error, json_answer
from gateway_core.storage.moments import iso
from gateway_core.storage.stores.connection import Connection
from gateway_core.storage.stores.proxy_pools import ProxyPool
from gateway_core.upstream.proxies import DIALLED

from ..accounts.changes import POOL
from ..admin_context import AdminContext
from ..destinations import permit, permit_proxy
from ..endpoint import endpoint
from ..requests import read_json, read_query, strip
from .bodies import PoolBody, PoolQuery, ProxyTestBody
from .probe import Reached, try_proxy
from .views import BROKEN, PoolAnswer, PoolList, PoolTest, ProxyTest, pool_row

PATH = "/api/proxy-pools"
LONGEST_NAME = 200
SOCKS = ("socks5://", "socks5h://")
NO_TARGET = "No deploy target is bundled: deploy the relay yourself and add its address as a pool"
SHOWN = {*ProxyPool.__struct_encode_fields__, "boundConnectionCount"}
EXAMPLE = {"name": "Office", "proxyUrl": "http://127.0.0.1:3128"}


def routes(admin: AdminContext) -> list[Guarded]:
    one = PATH + "/{id}"
    pool = partial(endpoint, admin, answer=PoolAnswer)
    write = partial(pool, body=PoolBody, example=EXAMPLE)
    relay = partial(endpoint, admin, status=501)
    return [
        endpoint(
            admin, "GET", PATH, list_all, "list proxy pools", query=PoolQuery, answer=PoolList
        ),
        write("POST", PATH, create, "create the proxy pool", status=201),
        relay("POST", PATH + "/cloudflare-deploy", deploy, "deploy a relay"),
        relay("POST", PATH + "/vercel-deploy", deploy, "deploy a relay"),
        pool("GET", one, show, "read the proxy pool"),
        write("PUT", one, update, "update the proxy pool"),
        endpoint(admin, "DELETE", one, delete, "delete the proxy pool", answer=dict[str, bool]),
        endpoint(admin, "POST", one + "/test", test, "test the proxy pool", answer=PoolTest),
        endpoint(
            admin,
            "POST",
            "/api/settings/proxy-test",
            test_proxy,
            "test the proxy",
            body=ProxyTestBody,
            answer=ProxyTest,
            example={"proxyUrl": "http://127.0.0.1:3128"},
        ),
    ]


async def list_all(admin: AdminContext, request: Request) -> Response:
    parameters = read_query(request, PoolQuery)
    pools = await admin.stores.proxy_pools.list()
    rows = [
        pool_row(admin, request, pool)
        for pool in pools
        if parameters.is_active is None or pool.is_active is parameters.is_active
    ]
    if parameters.include_usage:
        connections = await admin.stores.connections.list()
        for row in rows:
            row["boundConnectionCount"] = _count(row["id"], connections)
    return json_answer({"proxyPools": rows})


def _count(pool_id: str, connections: tuple[Connection, ...]) -> int:
    return sum(each.provider_data.get(POOL) == pool_id for each in connections)


async def create(admin: AdminContext, request: Request) -> Response:
    body = await read_json(request, PoolBody, ignored=SHOWN)
    name, url = _name(body), strip(body.proxy_url)
    if not url:
        raise BadRequest("Proxy URL is required")
    _check_operator(admin, request)
    type_ = _type(body, url)
    await _permit(admin, type_, url)
    async with admin.writing():
        new = NewProxyPool(
            name=name,
            proxy_url=url,
            type=type_,
            no_proxy=strip(body.no_proxy),
            is_active=body.is_active is not False,
            strict_proxy=body.strict_proxy is True,
        )
        await admin.audit_change(request, "proxy-pool.create", name, None, new)
        pool = await admin.own_stores.proxy_pools.create(new)
    return json_answer({"proxyPool": pool_row(admin, request, pool)}, 201)


def _name(body: PoolBody) -> str:
    name = strip(body.name)
    if not name or len(name) > LONGEST_NAME:
        raise BadRequest("Name is required" if not name else "The name is too long")
    return name


def _check_operator(admin: AdminContext, request: Request) -> None:
    """Raises Forbidden for an API key, which may not choose where calls go."""
    if not admin.caller(request).is_operator:
        raise Forbidden("An API key may not set a proxy")


def _type(body: PoolBody, url: str) -> str:
    """Raises BadRequest where the URL is of another type than the body says."""
    from_url = "socks5" if url.lower().startswith(SOCKS) else "http"
    if body.type is UNSET:
        return from_url
    if body.type in DIALLED and body.type != from_url:
        raise BadRequest(f"The proxy's URL is not of type {body.type}")
    return body.type


async def _permit(admin: AdminContext, type_: str, url: str) -> None:
    await (permit_proxy if type_ in DIALLED else permit)(admin.core.network, url)


async def show(admin: AdminContext, request: Request) -> Response:
    pool = await pool_of(admin, request.path_params["id"])
    return json_answer({"proxyPool": pool_row(admin, request, pool)})


async def update(admin: AdminContext, request: Request) -> Response:
    body = await read_json(request, PoolBody, ignored=SHOWN)
    pool = await pool_of(admin, request.path_params["id"])
    _check_operator(admin, request)
    changes = _change(pool, body)
    if changes.proxy_url is not UNSET or changes.type is not UNSET:
        await _permit(admin, changes.type or pool.type, changes.proxy_url or pool.proxy_url)
    async with admin.writing():
        await admin.audit_change(request, "proxy-pool.update", pool.id, pool, changes)
        after = await admin.own_stores.proxy_pools.update(pool.id, changes)
    return json_answer({"proxyPool": pool_row(admin, request, after)})


def _change(pool: ProxyPool, body: PoolBody) -> ProxyPoolChange:
    """What a body changes. Raises BadRequest."""
    url = strip(body.proxy_url)
    if body.proxy_url is not UNSET and not url:
        raise BadRequest("Proxy URL is required")
    is_new = bool(url) and url != pool.proxy_url
    reset = None if is_new else UNSET
    return ProxyPoolChange(
        name=UNSET if body.name is UNSET else _name(body),
        proxy_url=url or UNSET,
        type=_type(body, url or pool.proxy_url) if url or body.type is not UNSET else UNSET,
        no_proxy=UNSET if body.no_proxy is UNSET else strip(body.no_proxy),
        is_active=body.is_active,
        strict_proxy=body.strict_proxy,
        test_status=reset,
        last_tested_at=reset,
        last_error=reset,
    )


async def delete(admin: AdminContext, request: Request) -> Response:
    """Delete a pool that no account uses."""
    identity = request.path_params["id"]
    async with admin.writing():
        pool = await pool_of(admin, identity)
        bound = _count(identity, await admin.stores.connections.list())
        if bound:
            return flat_error(
                "Proxy pool is currently in use",
                Conflict.status,
                request_id_of(request),
                boundConnectionCount=bound,
            )
        await admin.audit_change(request, "proxy-pool.delete", identity, pool, None)
        await admin.own_stores.proxy_pools.delete(identity)
    return json_answer({"success": True})


async def test(admin: AdminContext, request: Request) -> Response:
    """Fetch the test page through the proxy and store the result.

    A pool that works becomes active, one that does not becomes inactive.
    """
    pool = await pool_of(admin, request.path_params["id"])
    if pool.broken:
        reached = Reached(error=BROKEN)
    elif pool.type not in DIALLED:
        reached = Reached(error=f"Calls cannot go through a relay of type {pool.type}")
    else:
        reached = await try_proxy(admin.core, pool.proxy_url)
    now = iso(admin.core.clock())
    change = ProxyPoolChange(
        test_status="active" if reached.ok else "error",
        is_active=reached.ok,
        last_tested_at=now,
        last_error=reached.error,
    )
    async with admin.writing():
        await admin.own_stores.proxy_pools.update(pool.id, change)
    return json_answer(
        PoolTest(
            ok=reached.ok,
            status=reached.status,
            status_text=reached.status_text,
            error=reached.error,
            elapsed_ms=reached.elapsed_ms,
            tested_at=now,
        )
    )


async def deploy(admin: AdminContext, request: Request) -> Response:
    """Refuse: this gateway has no account to deploy a relay with."""
    return flat_error(NO_TARGET, 501, request_id_of(request))


async def pool_of(admin: AdminContext, identity: str) -> ProxyPool:
    """Return a stored pool. Raises NotFound."""
    pool = await admin.stores.proxy_pools.get(identity)
    if pool is None:
        raise NotFound("Proxy pool not found")
    return pool


async def test_proxy(admin: AdminContext, request: Request) -> Response:
    """Fetch the test page through a proxy."""
    url = strip((await read_json(request, ProxyTestBody)).proxy_url)
    if url and not admin.caller(request).is_operator:
        raise Forbidden("An API key may not set a proxy")
    proxy = url or admin.snapshot.settings.outbound_proxy_url
    if not proxy:
        raise BadRequest("No proxy is configured")
    await permit_proxy(admin.core.network, proxy)
    reached = await try_proxy(admin.core, proxy)
    return json_answer(
        ProxyTest(
            ok=reached.ok,
            status=reached.status,
            elapsed_ms=reached.elapsed_ms,
            error=reached.error,
        )
    )
