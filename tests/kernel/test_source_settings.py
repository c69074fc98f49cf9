"""Secrets of live sources never stand in config.toml, nor in anything that is shown."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from context_engine.errors import ConfigError
from context_engine.home import Home
from context_engine.settings import load_settings
from context_engine.source_settings import GitHubSettings, SlackSettings, secrets_in


@pytest.mark.parametrize(
    ("section", "field"),
    [("slack", "token"), ("slack", "app_token"), ("github", "token"), ("confluence", "token")],
)
def test_a_secret_in_the_file_is_refused_with_where_to_put_it(
    home: Home, section: str, field: str
) -> None:
    home.config_file.write_text(f'[{section}]\n{field} = "s3cr3t-value"\n')
    with pytest.raises(ConfigError) as raised:
        load_settings()
    assert f"CE_{section}__{field}".upper() in str(raised.value)
    assert f"keyring set context-engine {section}.{field}" in str(raised.value)
    assert "s3cr3t" not in str(raised.value)


def test_a_secret_in_the_environment_is_masked(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CE_GITHUB__TOKEN", "ghp_s3cr3t")
    home.config_file.write_text('[github]\nrepos = ["a/b"]\n')
    settings = load_settings()
    assert settings.live.github.repos == ("a/b",)
    assert settings.github.token is not None
    assert settings.github.token.get_secret_value() == "ghp_s3cr3t"
    for shown in (repr(settings), str(settings.live), settings.model_dump_json()):
        assert "s3cr3t" not in shown


@pytest.mark.parametrize(
    "url",
    ["http://slack.com/api", "ftp://x", "https://user:password@slack.com", "slack.com", "//x"],
)
def test_a_secret_is_sent_nowhere_in_clear(url: str) -> None:
    with pytest.raises(ValidationError, match="must"):
        SlackSettings(base_url=url)


def test_an_enterprise_server_and_this_machine_may_be_asked() -> None:
    url = "https://github.example.com/api/v3/"
    assert GitHubSettings(base_url=url).base_url == url.rstrip("/")
    assert GitHubSettings(base_url="http://127.0.0.1:1").base_url == "http://127.0.0.1:1"


def test_a_section_that_is_no_table_is_left_to_the_validation() -> None:
    assert list(secrets_in({"slack": "token", "github": {"repos": []}})) == []
