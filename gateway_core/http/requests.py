"""What every route that is not inference knows about its request."""

from starlette.requests import Request

REQUEST_ID = "model_gateway.request_id"
"""Key of the scope under which the application keeps the request's own id."""


def request_id_of(request: Request) -> str:
    return str(request.scope[REQUEST_ID])
