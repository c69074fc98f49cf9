"""Every command, option and setting that a document shows exists, every link leads somewhere."""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from pydantic import BaseModel

from api.cli.main import cli
from context_engine.settings import Settings

ROOT = Path(__file__).parents[2]
PAGES = [*ROOT.glob("README*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("samples/*.md")]
IDS = [str(page.relative_to(ROOT)) for page in PAGES]
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
_CALL = re.compile(r"(?:^|\$ |=\S+ |\| |worker |api |/)context-engine (\S.*)$")
"""The command at the beginning of a line, after variables, in a pipe, or run in a container."""
_OTHERS = {"drive.file"}
"""Names with a dot that are none of our settings: a permission at Google."""
_ENDS = {"|", "&&", ";", ">", "&", "||", ">>"}


def blocks(text: str, *languages: str) -> Iterator[str]:
    for language, body in _FENCE.findall(text):
        if language in languages:
            yield body


def command_lines(text: str) -> Iterator[str]:
    """Yield what follows `context-engine` in fenced examples and inline code."""
    for body in blocks(text, "console", "sh", "bash"):
        for line in body.replace("\\\n", " ").splitlines():
            yield from _CALL.findall(line.split("  #")[0])
    for inline in re.findall(r"`([^`\n]+)`", _FENCE.sub("", text)):
        yield from _CALL.findall(inline)


def problem(line: str) -> str | None:
    """Return what is wrong with a command line, None when it could be run."""
    words = words_of(line)
    command: click.Command = cli
    context = click.Context(cli)
    for word in words:
        if isinstance(command, click.Group) and not word.startswith("-"):
            found = command.get_command(context, word)
            if found is None:
                return None if word in {"…", "..."} or word.isupper() else f"no command {word!r}"
            command = found
        elif word.startswith("-") and word != "-":
            option = word.split("=")[0]
            if not knows(command, option):
                return f"{command.name} has no {option}"
    return None


def words_of(line: str) -> list[str]:
    try:
        words = shlex.split(line, comments=True)
    except ValueError:
        words = line.split()
    for number, word in enumerate(words):
        if word in _ENDS:
            return words[:number]
    return words


def knows(command: click.Command, option: str) -> bool:
    options = [name for p in command.params for name in (*p.opts, *p.secondary_opts)]
    return option in {*options, "--help", "-h"}


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_each_command_that_is_shown_could_be_run(page: Path) -> None:
    for line in command_lines(page.read_text(encoding="utf-8")):
        assert problem(line) is None, f"context-engine {line}: {problem(line)}"


@pytest.mark.parametrize(
    "line",
    ["staus", "token crate x", "query x --scoop work", "routine run x --jso", "review acept ID"],
)
def test_a_command_with_a_slip_is_noticed(line: str) -> None:
    assert problem(line) is not None


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_each_toml_example_is_one_that_the_settings_take(page: Path) -> None:
    for body in blocks(page.read_text(encoding="utf-8"), "toml"):
        data = tomllib.loads(body)
        if data.keys() <= Settings.model_fields.keys():
            Settings.model_validate({"home": "/nowhere", **data})
        else:
            assert "mcp_servers" in data, f"{page.name}: {sorted(data)} are no settings of ours"


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_each_setting_in_words_exists(page: Path) -> None:
    known = set(settings_names(Settings, ""))
    sections = {name.split(".")[0] for name in known if "." in name}
    text = page.read_text(encoding="utf-8")
    for section, field in re.findall(r"`\[(\w+)\]`? `?(\w+)`", text):
        assert f"{section}.{field}" in known, f"{page.name} names [{section}] {field}"
    for dotted in re.findall(r"`(\w+\.\w+)`", text):
        if dotted.split(".")[0] in sections:
            assert dotted in known or dotted in _OTHERS, f"{page.name}: {dotted}"


def settings_names(model: type[BaseModel], prefix: str) -> Iterator[str]:
    for name, field in model.model_fields.items():
        default: Any = field.default
        if isinstance(default, BaseModel):
            yield from settings_names(type(default), f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}"


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_each_link_into_a_page_leads_to_a_heading(page: Path) -> None:
    text = _FENCE.sub("", page.read_text(encoding="utf-8"))
    for target in re.findall(r"\]\(([^)\s:]*#[^)\s]+)\)", text):
        path, _, anchor = target.partition("#")
        other = (page.parent / path) if path else page
        assert anchor in anchors(other), f"{page.name} links to {target}"


def anchors(page: Path) -> set[str]:
    """Return the anchors as forges make them of headings."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_page_is_reached_from_the_index() -> None:
    docs = ROOT / "docs"
    reached, waiting = set(), [docs / "README.md"]
    while waiting:
        page = waiting.pop().resolve()
        if page in reached or not page.is_relative_to(docs):
            continue
        reached.add(page)
        targets = re.findall(r"\]\(([^)\s#:]+\.md)", page.read_text(encoding="utf-8"))
        waiting += [page.parent / target for target in targets]
    assert {page.resolve() for page in docs.rglob("*.md")} - reached == set()
