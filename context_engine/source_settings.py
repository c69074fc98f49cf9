"""Settings of the sources that are asked over the network; their secrets never stand in a file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr

_FROZEN = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


def _safe_url(url: str) -> str:
    parts = urlsplit(url)
    if (
        url
        and parts.scheme != "https"
        and not (parts.scheme == "http" and parts.hostname in _LOOPBACK)
    ):
        raise ValueError("must begin with https:// since a secret is sent there")
    if parts.username or parts.password:
        raise ValueError("must hold no user name or password")
    return url.rstrip("/")


Url = Annotated[str, AfterValidator(_safe_url)]
"""An address that secrets may be sent to: https, or this machine itself."""

Days = Annotated[int, Field(ge=1, le=3650)]


class SlackSettings(BaseModel):
    """Slack's Web API and Socket Mode."""

    model_config = _FROZEN

    token: SecretStr | None = None
    """Secret: a user's (`xoxp-…`) or a bot's (`xoxb-…`) token. Never in config.toml."""
    app_token: SecretStr | None = None
    """Secret, for `--follow` alone: an app-level token (`xapp-…`). Never in config.toml."""
    base_url: Url = "https://slack.com/api"
    """Where the Web API is."""
    channels: tuple[str, ...] = ()
    """Names or ids of channels to read; empty means all that the token's user is a member of."""
    history_days: Days | None = None
    """How far back the first run reads; unset means all there is."""
    window_days: Days = 30
    """Days that every run reads again, for edits, deletions and new replies to old messages."""
    reply_days: Days = 3
    """A thread whose last reply is younger is read again whole, for edited replies."""


class GitHubSettings(BaseModel):
    """GitHub's REST API."""

    model_config = _FROZEN

    token: SecretStr | None = None
    """Secret: a token that may read issues and pull requests. Never in config.toml."""
    base_url: Url = "https://api.github.com"
    """Where the REST API is; an enterprise server's ends in `/api/v3`."""
    repos: tuple[str, ...] = ()
    """Repositories to read, each as `owner/name`."""
    history_days: Days | None = None
    """How far back the first run reads; unset means all there is."""
    window_days: Days = 14
    """Days whose comments every run lists again, for those deleted meanwhile."""


class ConfluenceSettings(BaseModel):
    """Confluence's REST API."""

    model_config = _FROZEN

    site: Url = ""
    """Address of the wiki, such as `https://example.atlassian.net/wiki`."""
    api: Literal["cloud", "data-center"] = "cloud"
    """cloud: its REST API v2; data-center: the API of one's own server."""
    email: str = ""
    """The account that the token belongs to; empty sends the token alone, as Bearer."""
    token: SecretStr | None = None
    """Secret: an API token of that account. Never in config.toml."""
    spaces: tuple[str, ...] = ()
    """Keys of spaces to read; empty means all that the account may read."""
    reread_days: Days = 30
    """A page that did not change is read again after so many days at most, for labels and deleted
    comments, which change no version."""


class DriveSettings(BaseModel):
    """Google Drive, where scheduled Takeout exports arrive."""

    model_config = _FROZEN

    credentials: SecretStr | None = None
    """Secret: credentials of a user or a service account, as JSON. Never in config.toml."""
    credentials_file: Path | None = None
    """A file with these credentials that only its owner may read."""
    folder: str = ""
    """Id of the folder that holds the exports; empty looks for them everywhere by name."""
    base_url: Url = "https://www.googleapis.com/drive/v3"
    """Where the API is."""
    oauth_url: Url = "https://oauth2.googleapis.com/token"
    """Where access tokens are had."""


class LiveSettings(BaseModel):
    """What connectors that ask over the network are told."""

    model_config = _FROZEN

    slack: SlackSettings = SlackSettings()
    github: GitHubSettings = GitHubSettings()
    confluence: ConfluenceSettings = ConfluenceSettings()
    drive: DriveSettings = DriveSettings()


KEYRING = "context-engine"
"""Name under which the keyring of the operating system keeps our secrets."""


def secrets_in(data: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield section and name of the secrets that settings as read from a file hold."""
    for section, model in LiveSettings.model_fields.items():
        held = data.get(section)
        for name, field in type(model.default).model_fields.items():
            if isinstance(held, dict) and name in held and field.annotation == SecretStr | None:
                yield section, name


def where_to_put(section: str, field: str) -> str:
    """Return in words how a secret is given to the engine."""
    return (
        f"set the variable {f'CE_{section}__{field}'.upper()}, or, with the extra keyring, "
        f"keep it in the system's keyring: keyring set {KEYRING} {section}.{field}"
    )
