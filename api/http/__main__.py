"""The API as a process of its own: `python -P -m api.http`."""

from __future__ import annotations

from api.http.server import serve
from context_engine.logs import configure
from context_engine.settings import load_settings
from workers.supervisor import exit_with_parent


def main() -> None:
    """Serve the home that CE_HOME names until told to stop."""
    settings = load_settings()
    settings.paths.create()
    configure("api", folder=settings.paths.logs)
    exit_with_parent()
    serve(settings)


if __name__ == "__main__":
    main()
