"""Structured logging: JSON lines to a file a component, human lines to stderr; ids bound once."""

from __future__ import annotations

import logging
import logging.handlers
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import structlog

from context_engine.home import make_private

if TYPE_CHECKING:
    from structlog.typing import FilteringBoundLogger, Processor

_SHARED: list[Processor] = [
    structlog.contextvars.merge_contextvars,
    structlog.processors.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
]


def configure(component: str, *, folder: Path | None = None, level: str = "INFO") -> None:
    """Send this process's log to `<folder>/<component>.jsonl` (rotated), or to stderr without."""
    handler: logging.Handler
    if folder is None:
        handler = logging.StreamHandler(sys.stderr)
    else:
        make_private(folder)
        handler = logging.handlers.RotatingFileHandler(
            folder / f"{component}.jsonl", maxBytes=10_000_000, backupCount=3, encoding="utf-8"
        )
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=_SHARED,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.format_exc_info,
                structlog.processors.JSONRenderer(ensure_ascii=False)
                if folder is not None
                else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty()),
            ],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level)
    structlog.configure(
        processors=[*_SHARED, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelName(level)),
        cache_logger_on_first_use=False,
    )
    structlog.contextvars.bind_contextvars(component=component)


def _to_stderr(*_: object) -> structlog.PrintLogger:
    # looked up at each call: whoever exchanges stderr meanwhile gets what is logged
    return structlog.PrintLogger(sys.stderr)


# structlog's own default is stdout, where data goes: a log line would spoil somebody's JSON
structlog.configure(logger_factory=_to_stderr)


def get_logger(name: str) -> FilteringBoundLogger:
    """Return the logger of one module."""
    logger: FilteringBoundLogger = structlog.get_logger(name)
    return logger
