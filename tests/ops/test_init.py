"""A newcomer's first minute: five questions or none, and nothing that was there is touched."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from api.declined import declined
from api.setup import Answers, config_text, write_home
from context_engine.home import Home
from context_engine.scopes import Scope
from context_engine.settings import Settings
from support.engine import COMMAND, environment, run, write_sessions
from vault.identity import create_identity


def init(
    home: Home, user_home: Path, *arguments: str, answers: str = ""
) -> subprocess.CompletedProcess[str]:
    extra = {"HOME": str(user_home), "GIT_CONFIG_GLOBAL": "/dev/null"}
    return subprocess.run(
        [*COMMAND, "init", *arguments],
        env=environment(home, extra),
        input=answers,
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )


@pytest.fixture
def user_home(tmp_path: Path) -> Path:
    folder = tmp_path / "あき"
    (folder / "work").mkdir(parents=True)
    return folder


def test_a_newcomer_answers_five_questions(tmp_path: Path, user_home: Path) -> None:
    home = Home(tmp_path / "memory")
    answers = "山田 あき\n~/work、~/仕事\n-\ny\nn\n"
    done = init(home, user_home, "--no-ingest", answers=answers)
    assert done.returncode == 0, done.stderr
    text = home.config_file.read_text(encoding="utf-8")
    assert 'owner_name = "山田 あき"' in text
    assert 'path = "~/work/**"' in text
    assert 'path = "~/仕事/**"' in text
    assert "public" not in text
    assert "{work}" in (home.vaults / "personal/identity/canonical.md").read_text("utf-8")
    log = subprocess.run(
        ["git", "-C", str(home.vaults), "log", "--format=%an %s"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert log.stdout.strip() == "山田 あき Begin the memory"
    assert "What now" in done.stdout
    assert home.root.stat().st_mode & 0o077 == 0


def test_with_yes_nothing_is_asked_and_sessions_are_read(tmp_path: Path, user_home: Path) -> None:
    home = Home(tmp_path / "memory")
    write_sessions(user_home / ".claude" / "projects", sessions=1, messages=2)
    done = init(home, user_home, "--yes", "--no-git")
    assert done.returncode == 0, done.stderr
    assert "[[routine]]" in home.config_file.read_text("utf-8")
    assert list(home.vaults.rglob("sources/claude/**/*.md"))
    assert not (home.vaults / ".git").exists()
    assert not (user_home / ".config").exists(), "nothing is connected unasked"


def test_a_no_is_remembered_until_a_yes(tmp_path: Path, user_home: Path) -> None:
    home = Home(tmp_path / "memory")
    (user_home / ".claude").mkdir()
    assert init(home, user_home, "--no-ingest", answers="aki\n-\n-\nn\nn\n").returncode == 0
    assert declined(home) == {"git", "connect"}
    assert init(home, user_home, "--no-ingest", "--yes").returncode == 0
    assert not (home.vaults / ".git").exists()
    # and Enter takes the answer of before
    assert init(home, user_home, "--no-ingest", answers="\n" * 5).returncode == 0
    assert not (home.vaults / ".git").exists()
    assert not (user_home / ".claude.json").exists()
    assert run(home, "doctor", extra={"HOME": str(user_home)}).returncode == 0
    assert init(home, user_home, "--no-ingest", "--yes", "--git").returncode == 0
    assert (home.vaults / ".git").exists()
    assert declined(home) == {"connect"}


def test_again_changes_nothing_that_a_person_wrote(home: Home) -> None:
    answers = Answers("aki", ("~/work",), (), git=True, connect=False)
    assert len(write_home(home, answers)) == 3
    home.config_file.write_text("owner_name = 'me'\n")
    identity = home.vault(Scope.PERSONAL) / "identity" / "canonical.md"
    identity.write_text("---\ntype: identity\n---\n# me\n")
    assert write_home(home, answers) == []
    assert home.config_file.read_text() == "owner_name = 'me'\n"
    assert "# me" in identity.read_text()
    assert not create_identity(home)


@pytest.mark.parametrize("owner", ['quote " back \\ slash', "改行\n[llm]\nmodel='x'", "タブ\t"])
def test_whatever_the_owner_is_called_the_settings_are_read_back(
    home: Home, monkeypatch: pytest.MonkeyPatch, owner: str
) -> None:
    monkeypatch.setenv("CE_HOME", str(home.root))
    answers = Answers(owner, ('~/wo"rk',), ("~/oss/",), git=False, connect=False)
    home.config_file.write_text(config_text(answers), encoding="utf-8")
    settings = Settings(home=home.root)
    assert settings.owner_name == owner
    assert [(rule.path, rule.scope) for rule in settings.scope_rule] == [
        ('~/wo"rk/**', Scope.WORK),
        ("~/oss/**", Scope.PUBLIC),
    ]
