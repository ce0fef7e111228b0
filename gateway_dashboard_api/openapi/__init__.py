"""The OpenAPI document of a gateway's routes."""
