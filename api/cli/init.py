"""`context-engine init`."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import click

from api.cli.common import say
from api.declined import declined, remember
from api.setup import Answers, guess, write_home
from context_engine.errors import ContextEngineError
from context_engine.settings import Settings, load_settings

_FOLDERS_OF = (
    ("claude-code", ".claude"),
    ("codex", ".codex"),
    ("cursor", ".cursor"),
    ("gemini-cli", ".gemini"),
)


@click.command("init")
@click.option("--yes", is_flag=True, help="Ask nothing, take what the machine suggests.")
@click.option("--git/--no-git", default=None, help="Keep the vault's history in Git.")
@click.option(
    "--connect/--no-connect",
    default=None,
    help="Connect the assistants of this machine, and start the engine at login.",
)
@click.option(
    "--ingest/--no-ingest", "collect", default=True, help="Read what is here already at the end."
)
def command(*, yes: bool, git: bool | None, connect: bool | None, collect: bool) -> int:
    """Make a home in five questions: settings, identity, history, connections, first ingest.

    What is there already is kept, and so is a no to Git or to connecting. Run it again whenever you
    like.
    """
    settings = load_settings()
    refused = declined(settings.paths)
    answers = guess(Path.home(), refused)
    if not yes:
        answers = _ask(answers, settings, connect="connect" not in refused)
    answers = _chosen(answers, git=git, connect=connect)
    for line in write_home(settings.paths, answers):
        click.echo(line)
    # what --yes took from the machine nobody has said
    chosen = {"git": (git, answers.git), "connect": (connect, answers.connect)}
    remember(
        settings.paths,
        {name: said for name, (flag, said) in chosen.items() if not yes or flag is not None},
    )
    settings = load_settings()
    # the ingest first: the service would take the home while it starts the engine
    failed = _first_ingest(settings) if collect else []
    failed += _connect(settings) if answers.connect else []
    _what_now(settings, connected=answers.connect)
    for problem in failed:
        say(problem)
    return 1 if failed else 0


def _chosen(answers: Answers, *, git: bool | None, connect: bool | None) -> Answers:
    return Answers(
        owner=answers.owner,
        work=answers.work,
        public=answers.public,
        git=answers.git if git is None else git,
        connect=answers.connect if connect is None else connect,
    )


def _ask(guessed: Answers, settings: Settings, *, connect: bool) -> Answers:
    say(f"Five questions for the memory in {settings.paths.root}; Enter takes what is in brackets.")
    if settings.paths.config_file.exists():
        say(f"{settings.paths.config_file} is there and stays as it is.")
    return Answers(
        owner=_text("1. How are you called in your notes", guessed.owner),
        work=_folders("2. Folders of your work", guessed.work),
        public=_folders("3. Folders of what is public (open source)", guessed.public),
        git=click.confirm("4. Keep the history of your notes in Git", guessed.git, err=True),
        connect=click.confirm(
            "5. Connect the assistants of this machine, and start the engine at login",
            default=connect,
            err=True,
        ),
    )


def _text(question: str, default: str) -> str:
    answer: str = click.prompt(question, default=default, err=True)
    return answer.strip()


def _folders(question: str, default: tuple[str, ...]) -> tuple[str, ...]:
    shown = ", ".join(default) or "none"
    answer = _text(f"{question}, with commas between them", shown)
    if answer in ("", "none", "-"):
        return ()
    return tuple(part.strip() for part in answer.replace("、", ",").split(",") if part.strip())


def _connect(settings: Settings) -> list[str]:
    """Connect what is here; return what went wrong."""
    targets = [name for name, folder in _FOLDERS_OF if (Path.home() / folder).is_dir()]
    failed = []
    for name in [*targets, "service"]:
        try:
            place = _service(settings) if name == "service" else _assistant(settings, name)
            click.echo(f"connected {name}: {place}")
        except (ContextEngineError, OSError) as error:
            failed.append(f"{name}: {error}; later: context-engine install {name}")
    return failed


def _assistant(settings: Settings, name: str) -> str:
    from api.assistants.install import install
    from api.assistants.targets import TARGETS
    from api.cli.install_assistant import where

    parts = TARGETS[name](where(settings, project=False))
    return ", ".join(map(str, install(parts, datetime.now(UTC))))


def _service(settings: Settings) -> str:
    from api.service import Service, default_kind, install, own_command, run_command

    service = Service(default_kind(), own_command(), settings.paths.root, Path.home())
    return install(service, run_command)


def _first_ingest(settings: Settings) -> list[str]:
    """Read Claude Code's sessions, the one source that is on a machine by itself."""
    from api.cli.ingest import ingest
    from api.cli.ingest_report import print_summary
    from connectors.registry import load
    from context_engine.logs import configure
    from workers.collector import read_options

    connector = load("claude")
    paths = tuple(path for p in connector.default_paths if (path := p.expanduser()).is_dir())
    if not paths:
        say("no Claude Code sessions here yet; other sources: context-engine sources")
        return []
    configure("ingest", folder=settings.paths.logs)
    say(f"reading {', '.join(map(str, paths))} …")
    try:
        summary = ingest(settings, connector, paths, read_options(settings), wait=True)
    except ContextEngineError as error:
        return [f"first ingest: {error}; again: context-engine ingest claude"]
    print_summary(summary, settings)
    return []


def _what_now(settings: Settings, *, connected: bool) -> None:
    canonical = settings.paths.vaults / "personal" / "identity" / "canonical.md"
    steps = [
        (f"edit {canonical}", "who you are: what assistants are told first"),
        ('context-engine query "…"', "search"),
        ("context-engine sources", "what else can be read: exports, Slack, Takeout …"),
        ("context-engine doctor", "whether all is well"),
    ]
    if not connected:
        steps += [
            ("context-engine install claude-code", "give an assistant the memory"),
            ("context-engine install service", "start the engine at login"),
            ("context-engine up", "or run it now"),
        ]
    click.secho("\nWhat now", bold=True)
    for step, about in steps:
        click.echo(f"  {step:<36} {about}")
