"""What the documents say is so: commands exist, links lead somewhere, the reference is current."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from api.cli.demo import NEXT_STEPS
from api.cli.main import COMMANDS, cli

ROOT = Path(__file__).parents[2]
PAGES = [
    *ROOT.glob("*.md"),
    *ROOT.glob("docs/**/*.md"),
    *ROOT.glob("benchmarks/*.md"),
    *ROOT.glob("samples/*.md"),
]


def make_reference() -> str:
    spec = importlib.util.spec_from_file_location("reference", ROOT / "docs" / "make_reference.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    text: str = module.reference()
    return text


def test_the_reference_is_what_the_code_says() -> None:
    written = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
    assert written == make_reference(), "run: python docs/make_reference.py"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for target in links(page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_that_are_shown_exist(page: Path) -> None:
    shown = set(re.findall(r"context-engine ([a-z][a-z-]*)\b(?!\.)", code(page)))
    assert shown <= set(COMMANDS), f"{page.name} shows {shown - set(COMMANDS)}"


def test_each_setting_and_variable_in_the_readme_exists() -> None:
    reference = make_reference()
    for page in PAGES:
        for variable in re.findall(r"\bCE_[A-Z_]+\b", page.read_text(encoding="utf-8")):
            assert variable in reference, f"{page.name} names {variable}"


def test_each_make_target_that_is_shown_exists() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for page in PAGES:
        for target in re.findall(r"`make ([a-z-]+)`", page.read_text(encoding="utf-8")):
            assert f"\n{target}:" in makefile, f"{page.name} names make {target}"


def test_each_option_says_what_it_does() -> None:
    silent = [
        f"{name} {option.opts[0]}"
        for name, command in subcommands(cli, ())
        for option in command.params
        if isinstance(option, click.Option) and not option.help
    ]
    assert silent == []


def links(text: str) -> Iterator[str]:
    prose = re.sub(r"```.*?```|`[^`]*`", "", text, flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", prose):
        if not target.startswith(("http:", "https:", "mailto:", "#")):
            yield target.split("#")[0]


def code(page: Path) -> str:
    text = page.read_text(encoding="utf-8")
    blocks = re.findall(r"```(?:console|sh|bash)?\n(.*?)```|`([^`\n]+)`", text, flags=re.DOTALL)
    return "\n".join(block or inline for block, inline in blocks)


def subcommands(
    command: click.Command, names: tuple[str, ...]
) -> Iterator[tuple[str, click.Command]]:
    yield " ".join(names), command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None
            yield from subcommands(found, (*names, name))


def test_the_demo_ends_with_the_next_steps_of_the_readme() -> None:
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    (use,) = re.findall(r"^## Use it\n+```console\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    steps = [line.removeprefix("$ ").partition("  #")[0].strip() for line in use.splitlines()]
    # what it has just shown three times is left out
    assert [step for step, _ in NEXT_STEPS] == [it for it in steps if " query " not in it]
