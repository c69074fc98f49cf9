"""`context-engine install <assistant>`: merged into what is there, backed up, taken out again."""

from __future__ import annotations

import json
import tomllib
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest
from click import NoSuchCommand
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from api.assistants.jsonc import loads, with_value, without_value
from api.assistants.targets import TARGETS
from api.assistants.tomltext import with_table, without_table
from api.cli.main import cli
from context_engine.errors import BadInputError, UsageError
from context_engine.home import Home
from support.engine import COMMAND

FILES = {
    "claude-code": ".claude.json",
    "codex": ".codex/config.toml",
    "cursor": ".cursor/mcp.json",
    "gemini-cli": ".gemini/settings.json",
    "claude-desktop": ".config/Claude/claude_desktop_config.json",
}
COMMENTED = """\
// my settings
{
  "theme": "dark", /* at night */
  "mcpServers": {
    "other": {"command": "x"}, // theirs
  },
}
"""


def invoke(home: Home, user: Path, *arguments: str, cwd: Path | None = None) -> Result:
    """Run the command in this process: it is run often here, and starting it costs a second."""
    user.mkdir(exist_ok=True)
    environment = {"HOME": str(user), "CE_HOME": str(home.root)}
    with chdir(cwd or user):
        return CliRunner().invoke(cli, ["install", *arguments], env=environment)


def install(home: Home, user: Path, *arguments: str, cwd: Path | None = None) -> str:
    """Run the command to its good end and return what it printed."""
    done = invoke(home, user, *arguments, cwd=cwd)
    assert done.exit_code == 0, done.output
    return done.stdout


def _server(file: Path) -> dict[str, Any]:
    text = file.read_text(encoding="utf-8")
    data = tomllib.loads(text) if file.suffix == ".toml" else loads(text)
    servers: dict[str, Any] = data["mcp_servers" if file.suffix == ".toml" else "mcpServers"]
    return dict(servers["context-engine"])


def _all_files(folder: Path) -> dict[str, str]:
    return {
        str(file.relative_to(folder)): file.read_text(encoding="utf-8")
        for file in folder.rglob("*")
        if file.is_file()
    }


@pytest.mark.parametrize("target", TARGETS)
def test_a_server_is_started_by_its_absolute_path(
    home: Home, tmp_path: Path, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    install(home, tmp_path / "aki", target)
    entry = _server(tmp_path / "aki" / FILES[target])

    assert entry["command"] == COMMAND[0]
    assert entry["args"] == ["mcp"]
    assert entry["env"]["CE_HOME"] == str(home.root)
    assert entry.get("alwaysLoad") is (True if target == "claude-code" else None)


@pytest.mark.parametrize("target", TARGETS)
def test_installing_twice_is_installing_once(home: Home, tmp_path: Path, target: str) -> None:
    user = tmp_path / "aki"
    install(home, user, target)
    first = _all_files(user)
    install(home, user, target)

    assert _all_files(user) == first
    done = invoke(home, user, target, "--uninstall")
    assert done.exit_code == 0
    assert f"removed {user / FILES[target]}" in done.stderr
    assert _all_files(user) == {}


def test_a_file_that_says_something_else_or_is_a_link_stays(home: Home, tmp_path: Path) -> None:
    user = tmp_path / "aki"
    file, linked = user / FILES["cursor"], user / FILES["codex"]
    file.parent.mkdir(parents=True)
    linked.parent.mkdir()
    file.write_text("// mine\n{}\n", encoding="utf-8")
    linked.symlink_to(tmp_path / "dotfiles.toml")
    for target in ("cursor", "codex"):
        install(home, user, target)
        install(home, user, target, "--uninstall")
    assert "// mine" in file.read_text(encoding="utf-8")
    assert linked.read_text(encoding="utf-8").strip() == ""


def test_installing_ends_with_what_to_do_next(home: Home, tmp_path: Path) -> None:
    done = invoke(home, tmp_path / "aki", "claude-code")
    assert done.stderr.splitlines()[-1].startswith("next: start a new session of Claude Code")


@pytest.mark.parametrize("target", TARGETS)
def test_printing_writes_nothing(home: Home, tmp_path: Path, target: str) -> None:
    shown = install(home, tmp_path / "aki", target, "--print")

    assert COMMAND[0] in shown
    assert FILES[target] in shown
    assert _all_files(tmp_path / "aki") == {}


def test_what_is_there_stays_and_is_backed_up(home: Home, tmp_path: Path) -> None:
    file = tmp_path / "aki" / FILES["gemini-cli"]
    file.parent.mkdir(parents=True)
    file.write_text(COMMENTED, encoding="utf-8")
    file.chmod(0o640)
    install(home, tmp_path / "aki", "gemini-cli")

    after = file.read_text(encoding="utf-8")
    assert "// my settings" in after
    assert "/* at night */" in after
    assert loads(after)["mcpServers"]["other"] == {"command": "x"}
    assert file.stat().st_mode & 0o777 == 0o640
    (backup,) = file.parent.glob("*.bak")
    assert backup.read_text(encoding="utf-8") == COMMENTED
    install(home, tmp_path / "aki", "gemini-cli", "--uninstall")
    assert loads(file.read_text(encoding="utf-8")) == loads(COMMENTED)


def test_hooks_of_others_stay(home: Home, tmp_path: Path) -> None:
    file = tmp_path / "aki" / ".claude" / "settings.json"
    file.parent.mkdir(parents=True)
    theirs = {"hooks": [{"type": "command", "command": "/usr/bin/say", "args": ["done"]}]}
    before = {"model": "x", "hooks": {"Stop": [theirs], "PostToolUse": [theirs]}}
    file.write_text(json.dumps(before), encoding="utf-8")
    install(home, tmp_path / "aki", "claude-code")

    hooks = loads(file.read_text(encoding="utf-8"))["hooks"]
    assert hooks["Stop"][0] == theirs
    ours = hooks["SessionStart"][0]["hooks"][0]
    assert ours["args"] == ["hook", "session-start", "--home", str(home.root)]
    assert ours["command"] == COMMAND[0]
    install(home, tmp_path / "aki", "claude-code", "--uninstall")
    assert loads(file.read_text(encoding="utf-8")) == before


def test_for_one_project_nothing_is_put_into_its_git(home: Home, tmp_path: Path) -> None:
    project = tmp_path / "shop"
    project.mkdir()
    install(home, tmp_path / "aki", "claude-code", "--project", cwd=project)

    assert set(_all_files(project)) == {".claude/settings.local.json"}
    settings = loads((tmp_path / "aki" / ".claude.json").read_text(encoding="utf-8"))
    assert "context-engine" in settings["projects"][str(project)]["mcpServers"]


def test_a_project_s_scope_is_fixed_where_the_folder_is_not_known(
    home: Home, tmp_path: Path
) -> None:
    rule = f'[[scope_rule]]\npath = "{tmp_path}/**"\nscope = "work"\n'
    home.config_file.write_text(rule, encoding="utf-8")
    project = tmp_path / "shop"
    project.mkdir()
    install(home, tmp_path / "aki", "cursor", "--project", cwd=project)

    assert _server(project / ".cursor" / "mcp.json")["env"]["CE_DEFAULT_SCOPE"] == "work"


@pytest.mark.parametrize("broken", ["{", "[]", '{"mcpServers": []}', '"x"', "{'a': 1}"])
def test_a_file_that_is_broken_is_left_alone(home: Home, tmp_path: Path, broken: str) -> None:
    file = tmp_path / "aki" / FILES["cursor"]
    file.parent.mkdir(parents=True)
    file.write_text(broken, encoding="utf-8")
    done = invoke(home, tmp_path / "aki", "cursor")

    assert isinstance(done.exception, BadInputError)
    assert done.exception.place == str(file)
    assert _all_files(tmp_path / "aki") == {FILES["cursor"]: broken}


def test_a_linked_file_stays_a_link(home: Home, tmp_path: Path) -> None:
    kept = tmp_path / "dotfiles.json"
    kept.write_text("{}", encoding="utf-8")
    link = tmp_path / "aki" / FILES["cursor"]
    link.parent.mkdir(parents=True)
    link.symlink_to(kept)
    install(home, tmp_path / "aki", "cursor")

    assert link.is_symlink()
    assert _server(kept)["args"] == ["mcp"]


def test_claude_desktop_knows_no_projects(home: Home, tmp_path: Path) -> None:
    done = invoke(home, tmp_path / "aki", "claude-desktop", "--project")
    assert isinstance(done.exception, UsageError)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=8,
)
_OBJECT = st.dictionaries(st.text(max_size=4), _JSON, max_size=4)


@given(_OBJECT, st.sampled_from([None, 1, 2]), st.text(max_size=4), _JSON)
def test_one_value_changes_and_no_other(
    data: dict[str, Any], indent: int | None, key: str, value: Any
) -> None:
    text = json.dumps(data, indent=indent, ensure_ascii=False)
    changed = with_value(text, (key,), value)
    removed = without_value(changed, (key,))

    assert loads(changed) == data | {key: value}
    assert loads(removed) == {name: each for name, each in data.items() if name != key}


@given(st.dictionaries(st.text(max_size=4), _OBJECT, max_size=3), st.text(max_size=4), _JSON)
def test_objects_on_the_way_are_made_and_go_when_they_are_empty(
    data: dict[str, Any], key: str, value: Any
) -> None:
    changed = with_value(json.dumps(data), (key, 'a"b', "c"), value)

    assert loads(changed)[key]['a"b']["c"] == value
    left = loads(without_value(changed, (key, 'a"b', "c")))
    assert {k: v for k, v in left.items() if v} == {
        k: v
        for k, each in data.items()
        if (v := {n: x for n, x in each.items() if k != key or n != 'a"b'})
    }


@pytest.mark.parametrize("before", ["", '# mine\nmodel = "o"\n', "[mcp_servers.other]\na = 1\n"])
def test_a_table_is_put_in_once_and_taken_out(before: str) -> None:
    once = with_table(before, "mcp_servers", "x-y", {"command": "/a b", "args": ["mcp"]})
    twice = with_table(once, "mcp_servers", "x-y", {"command": "/c", "env": {"A": "ä"}})

    assert tomllib.loads(twice)["mcp_servers"]["x-y"] == {"command": "/c", "env": {"A": "ä"}}
    assert tomllib.loads(without_table(twice, "mcp_servers", "x-y")) == tomllib.loads(before)
    assert "# mine" not in before or "# mine" in twice


def test_a_quoted_table_with_tables_below_it_is_ours_too() -> None:
    text = '[mcp_servers."x-y"]\na = 1\n[mcp_servers.x-y.env]\nb = "2"\n[z]\nc = [\n  [1],\n]\n'
    assert tomllib.loads(without_table(text, "mcp_servers", "x-y")) == {"z": {"c": [[1]]}}


def test_of_a_mistyped_command_the_nearest_is_told() -> None:
    for arguments, nearest in ((["quer"], "query"), (["install", "codx"], "codex")):
        with pytest.raises(NoSuchCommand, match="No such command") as refused:
            cli.main(arguments, standalone_mode=False)
        assert nearest in refused.value.format_message()
