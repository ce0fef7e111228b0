"""The gateway as a program: version, health, audit trail, OpenAPI document."""
