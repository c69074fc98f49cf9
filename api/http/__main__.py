"""The API as a process of its own: `python -P -m api.http`."""

from __future__ import annotations

import logging
import os
import sys

from api.http.server import serve
from api.sampling import sampling
from context_engine.errors import ConfigError
from context_engine.logs import configure
from context_engine.metrics import flushing
from context_engine.settings import load_settings
from workers.supervisor import exit_with_parent


def main() -> None:
    """Serve the home that CE_HOME names until told to stop."""
    settings = load_settings()
    settings.paths.create()
    configure("api", folder=settings.paths.logs)
    exit_with_parent()
    try:
        with flushing(settings.paths.metrics), sampling(settings):
            serve(settings)
    except ConfigError as error:
        sys.exit(str(error))  # whoever started the engine reads this sentence, no stack
    # a model that native code is still loading, or a search, would abort an ordinary exit
    logging.shutdown()
    os._exit(0)


if __name__ == "__main__":
    main()
