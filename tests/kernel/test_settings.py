"""Settings come from config.toml and the environment, and say clearly what is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from context_engine.errors import ConfigError
from context_engine.home import Home
from context_engine.redaction import redact
from context_engine.scopes import Scope, ScopeRule
from context_engine.settings import load_settings


@pytest.fixture
def config(home: Home) -> Path:
    return home.config_file


def test_without_a_file_there_are_defaults(home: Home) -> None:
    settings = load_settings()
    assert settings.paths == home
    assert settings.default_scope is Scope.PERSONAL
    assert settings.api.host == "127.0.0.1"


def test_the_file_is_read_and_the_environment_wins(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config.write_text('owner_name = "Aki"\n[llm]\nmodel = "a"\nnum_ctx = 4096\n')
    monkeypatch.setenv("CE_LLM__MODEL", "b")
    settings = load_settings()
    assert settings.owner_name == "Aki"
    assert (settings.llm.model, settings.llm.num_ctx) == ("b", 4096)


def test_lists_come_from_the_environment_as_json(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CE_SCOPE_RULE", '[{"path": "~/work/**", "scope": "work"}]')
    monkeypatch.setenv("CE_API__ALLOWED_HOSTS", '["ce.example.test"]')
    settings = load_settings()
    assert settings.scope_rules == (ScopeRule("~/work/**", Scope.WORK),)
    assert settings.api.allowed_hosts == ("ce.example.test",)


def test_scope_rules_come_from_the_file(config: Path) -> None:
    config.write_text('[[scope_rule]]\npath = "~/work/**"\nscope = "work"\n')
    assert load_settings().scope_rules == (ScopeRule("~/work/**", Scope.WORK),)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('[llm]\nnum_ctx = "many"\n', ["llm.num_ctx", "integer"]),
        ("[llm]\nnum_ctx = 5\n", ["llm.num_ctx", "2048"]),
        ('[llm]\nmode = "magic"\n', ["llm.mode", "auto", "cues"]),
        ('default_scope = "secret"\n', ["default_scope", "personal", "work", "public"]),
        ('[[scope_rule]]\npath = "~/x"\n', ["scope_rule.0.scope", "required"]),
        ("[api]\nport = 70000\n", ["api.port", "65535"]),
        ("unknown = 1\n", ["unknown", "not permitted"]),
        ("[llm]\ntemprature = 1\n", ["llm.temprature", "not permitted"]),
        ("llm = [\n", ["not valid TOML"]),
        ('[[redaction.pattern]]\nname = "id"\nregex = "a+"\n', ["redaction.pattern.0", "{1,64}"]),
        (
            '[[redaction.pattern]]\nname = "ID"\nregex = "abc"\n',
            ["redaction.pattern.0", "a name is"],
        ),
    ],
)
def test_what_is_wrong_is_named_with_its_place(config: Path, text: str, names: list[str]) -> None:
    config.write_text(text)
    with pytest.raises(ConfigError) as refused:
        load_settings()
    assert [name for name in [*names, str(config)] if name not in str(refused.value)] == []


def test_several_mistakes_are_told_at_once(config: Path) -> None:
    config.write_text("[api]\nport = -1\n[workers]\nmax_attempts = 0\n")
    with pytest.raises(
        ConfigError, match=r"(?s)workers\.max_attempts.*api\.port|api\.port.*workers"
    ):
        load_settings()


def test_a_wrong_variable_is_told_like_a_wrong_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CE_API__PORT", "none")
    with pytest.raises(ConfigError, match=r"api\.port"):
        load_settings()


def test_a_dotenv_of_the_folder_one_works_in_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".env").write_text("CE_OWNER_NAME=mallory\nOWNER_NAME=mallory\n")
    monkeypatch.chdir(tmp_path)
    assert load_settings().owner_name == "owner"


def test_settings_cannot_be_changed() -> None:
    settings = load_settings()
    with pytest.raises(ValidationError):
        settings.owner_name = "x"
    with pytest.raises(ValidationError):
        settings.llm.model = "x"


def test_the_owners_redaction_is_ready_to_use(config: Path) -> None:
    config.write_text(
        "[redaction]\nemails = true\n"
        "[[redaction.pattern]]\nname = \"employee-id\"\nregex = '社員番号\\d{5}'\n"
    )
    options = load_settings().redaction_options
    cleaned = redact("社員番号12345 aki@example.com 03-1234-5678", options)
    assert cleaned.text == "[redacted:employee-id] [redacted:email] 03-1234-5678"
