"""The `context-engine` command and the table of its subcommands, loaded when they are called."""

from __future__ import annotations

import sys

import click

from api.cli.lazy import lazy_group
from context_engine import __version__
from context_engine.errors import ConfigError, ContextEngineError, UsageError

COMMANDS = {
    "init": ("api.cli.init", "Make a home in five questions, and read what is here."),
    "up": ("api.cli.up", "Run the engine: broker, workers, indexer and API."),
    "ingest": ("api.cli.ingest", "Collect a source into the memory."),
    "query": ("api.cli.query", "Search the memory."),
    "save": ("api.cli.save", "Save one insight, held against what is known."),
    "status": ("api.cli.status", "Say what waits, what is done and what is ill."),
    "retry": ("api.cli.retry", "Try again what was given up."),
    "reindex": ("api.cli.reindex", "Bring the index up to date with the vault."),
    "call": ("api.cli.call", "Call one operation as an assistant would."),
    "mcp": ("api.cli.mcp", "Serve one assistant over MCP on stdin and stdout."),
    "hook": ("api.cli.hook", "Serve one turn of an assistant's session."),
    "token": ("api.cli.token", "Create, list and revoke client tokens."),
    "oauth": ("api.cli.oauth", "Let in assistants that ask for OAuth, like ChatGPT's apps."),
    "backup": ("api.cli.backup", "Write the home into one archive, proved by a test restore."),
    "restore": ("api.cli.restore", "Bring a home back from an archive."),
    "routine": ("api.cli.routine", "List, run and pause what the engine does by itself."),
    "doctor": ("api.cli.doctor", "Look whether all is well, and say what mends it."),
    "logs": ("api.cli.logs", "Show what the parts of the engine logged."),
    "dashboard": ("api.cli.dashboard", "Open the dashboard in the browser."),
    "audit": ("api.cli.audit", "Show who asked the memory for what."),
    "review": ("api.cli.review", "Decide what of the raw insights is true."),
    "forget": ("api.cli.forget", "Forget a note for good, wherever it left a trace."),
    "receipt": ("api.cli.receipt", "Show the way of an event: attempts, files, chunks."),
    "identity": ("api.cli.identity", "Show, check and edit who you are."),
    "sources": ("api.cli.sources", "List the sources that can be ingested."),
    "evaluate-extractor": (
        "api.cli.evaluate",
        "Measure how well insights are distilled, on labelled conversations.",
    ),
    "install": ("api.cli.install", "Tie the engine to this machine: service and assistants."),
    "demo": ("api.cli.demo", "Try everything on sample sessions in a temporary home."),
}


@click.command(cls=lazy_group(COMMANDS), context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="context-engine")
def cli() -> None:
    """One local memory, kept as Markdown, that every assistant reads and writes.

    The home is ~/context-engine; CE_HOME chooses another. Settings are in its config.toml.
    """


def main() -> None:
    """Run the command line; our own errors become one clear message and an exit code."""
    sys.exit(_run())


def _run() -> int:
    try:
        # a subcommand returns its exit code, or None for 0
        return cli.main(standalone_mode=False) or 0
    except click.exceptions.Abort:
        _say("interrupted; nothing is lost, run the command again to go on")
        return 130
    except click.ClickException as error:
        error.show()
        return 2
    except ContextEngineError as error:
        _say(str(error))
        return 2 if isinstance(error, (UsageError, ConfigError)) else 1
    except BrokenPipeError:
        # the reader left (`… | head`): nothing to complain about, and nowhere to
        sys.stdout = None
        return 0
    except OSError as error:
        # the disk or a place that was named: a person can mend it, a stack would not help
        _say(f"{error.filename}: {error.strerror}" if error.filename else str(error))
        return 1


def _say(message: str) -> None:
    click.echo(f"context-engine: {message}", err=True)
