"""Running the front."""

from __future__ import annotations

from collections.abc import Callable

import uvicorn

from api.http.server import bind
from api.oauth.app import create_app
from api.oauth.places import Front
from context_engine.errors import ConfigError
from context_engine.settings import Settings

MAX_CONNECTIONS = 100


def serve(settings: Settings, front: Front, port: int, ready: Callable[[str], None]) -> None:
    """Serve on the loopback until SIGTERM or SIGINT; `ready` is told the address.

    Raises ConfigError when the port cannot be bound.
    """
    settings.paths.create()
    try:
        listener = bind(settings.api.model_copy(update={"host": "127.0.0.1", "port": port}))
    except ConfigError as error:
        raise ConfigError(f"port {port} is taken; choose another with --port") from error
    server = uvicorn.Server(
        uvicorn.Config(
            create_app(settings.paths, front),
            proxy_headers=False,  # X-Forwarded-* is whatever the caller writes
            server_header=False,
            ws="none",
            access_log=False,
            log_config=None,
            limit_concurrency=MAX_CONNECTIONS,
        )
    )
    ready(f"http://127.0.0.1:{listener.getsockname()[1]}")
    server.run(sockets=[listener])
