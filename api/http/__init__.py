"""The HTTP face: MCP over streamable HTTP, REST, OpenAPI, health."""

from api.http.app import create_app
from api.http.server import serve

__all__ = ["create_app", "serve"]
