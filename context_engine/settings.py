"""Settings: read once from config.toml and CE_… variables, validated, frozen.

Every setting is named by its place: `[llm] model = "x"` is `CE_LLM__MODEL=x`; the environment
wins. Nothing else in the project reads `os.environ`.
"""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, model_validator
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from context_engine.errors import ConfigError
from context_engine.home import Home
from context_engine.hook_settings import HookSettings
from context_engine.routine_settings import RoutineSettings
from context_engine.scopes import Scope, ScopeRule
from context_engine.source_settings import (
    ConfluenceSettings,
    DriveSettings,
    GitHubSettings,
    LiveSettings,
    SlackSettings,
    secrets_in,
    where_to_put,
)

if TYPE_CHECKING:
    from context_engine.redaction import CustomPattern, RedactionOptions

_FROZEN = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class LLMSettings(BaseModel):
    """The local model that distils."""

    model_config = _FROZEN

    mode: Literal["auto", "ollama", "cues"] = "auto"
    """auto: the model when it answers, rules (`cues`) until then."""
    model: str = "qwen3.5:9b"
    """Name of a model that Ollama has."""
    num_ctx: Annotated[int, Field(ge=2048, le=262_144)] = 8192
    """Context length in tokens, always sent: the server's default drops old text silently."""
    num_predict: Annotated[int, Field(ge=64, le=16_384)] = 1536
    """Tokens of one answer at most."""
    deadline_seconds: Annotated[float, Field(gt=0)] = 180.0
    """Total time of one call, whatever the server does."""
    keep_alive: str = "10m"
    """How long Ollama keeps the model loaded after a call."""


class EmbeddingSettings(BaseModel):
    """How text becomes vectors."""

    model_config = _FROZEN

    backend: Literal["onnx", "sentence-transformers", "ollama"] = "onnx"
    """onnx: the model that is carried; the others need an extra or a server."""
    model: str = "multilingual-e5-small"
    """For the other backends: a model name or a local folder."""
    models_dir: Path | None = None
    """Where converted and known models are kept; unset means `state/models` of the home."""
    threads: Annotated[int, Field(ge=1, le=64)] = 1
    """Threads of one model call."""
    batch_size: Annotated[int, Field(ge=1, le=256)] = 16
    """Texts of one call, for the backends that batch."""


class WorkerSettings(BaseModel):
    """How much works at once."""

    model_config = _FROZEN

    ingest_threads: Annotated[int, Field(ge=1, le=64)] = 8
    """They wait for fsyncs more than for the processor, and share them."""
    extract_threads: Annotated[int, Field(ge=1, le=64)] = 1
    """Calls of the local model at once."""
    max_queue_depth: Annotated[int, Field(ge=10)] = 2000
    """Messages on Redis at once; the outbox holds the rest."""
    max_attempts: Annotated[int, Field(ge=1, le=10)] = 3
    """Starts of one job that may end badly before it is quarantined."""
    heartbeat_timeout_ms: Annotated[int, Field(ge=1000)] = 15_000
    """After how long without a sign Redis gives a worker's messages to others."""


class ApiSettings(BaseModel):
    """The HTTP front."""

    model_config = _FROZEN

    host: str = "127.0.0.1"
    """Address to listen on."""
    port: Annotated[int, Field(ge=0, le=65_535)] = 7411
    """Port to listen on; 0 takes a free one and writes it to `state/api.json`."""
    allowed_hosts: tuple[str, ...] = ()
    """Further Host headers to accept, a tunnel's for instance."""
    allowed_origins: tuple[str, ...] = ()
    """Origins of browsers to accept."""
    requests_per_minute: Annotated[int, Field(ge=1)] = 600
    """Of one client; a burst may be as large."""
    metrics_key: Annotated[SecretStr, Field(min_length=32)] | None = None
    """Bearer that opens `/metrics`. Without one it is open on the loopback, closed beyond it."""


class RedactionPatternSettings(BaseModel):
    """One `[[redaction.pattern]]`: what matches becomes `[redacted:<name>]`."""

    model_config = _FROZEN

    name: str
    regex: str
    """Characters and classes, repeated a bounded number of times; groups, never repeated."""

    @model_validator(mode="after")
    def _usable(self) -> RedactionPatternSettings:
        self.compiled()
        return self

    def compiled(self) -> CustomPattern:
        """Return the pattern ready to use; raises ValueError, as pydantic expects."""
        from context_engine.redaction import custom_pattern

        try:
            return custom_pattern(self.name, self.regex)
        except ConfigError as error:
            raise ValueError(str(error)) from error


class RedactionSettings(BaseModel):
    """What is taken out of text besides secrets, which always are."""

    model_config = _FROZEN

    emails: bool = False
    phones: bool = False
    pattern: tuple[RedactionPatternSettings, ...] = ()


class ScopeRuleSettings(BaseModel):
    """One `[[scope_rule]]`: paths that match get this scope."""

    model_config = _FROZEN

    path: str
    scope: Scope


class Settings(BaseSettings):
    """All settings of one home."""

    model_config = SettingsConfigDict(
        env_prefix="CE_",
        env_nested_delimiter="__",
        frozen=True,
        extra="forbid",
        use_attribute_docstrings=True,
    )

    home: Path = Path("~/context-engine")
    """The folder of everything. Only as a variable, since config.toml lies in it."""
    owner_name: str = "owner"
    """How the owner is called in source notes."""
    redis_url: str | None = None
    """A Redis or Valkey of one's own; unset means the embedded one."""
    redis_namespace: Annotated[str, Field(pattern=r"^[A-Za-z0-9:._-]{1,80}$")] | None = None
    """What the keys on Redis begin with; unset means a name that no other home has."""
    ollama_url: str = "http://127.0.0.1:11434"
    """Where the local model is asked."""
    default_scope: Scope = Scope.PERSONAL
    """Scope of folders that no rule matches: personal, work or public."""
    scope_rule: tuple[ScopeRuleSettings, ...] = ()
    """`[[scope_rule]]` with `path` (`~/work/**`) and `scope`; the most specific one wins."""
    project_silence_days: Annotated[int, Field(ge=1)] = 60
    """After so many days without news a project counts as paused, until there is some again."""
    routine: tuple[RoutineSettings, ...] = ()
    """`[[routine]]`: what the engine does by itself, see [routines](routines.md)."""
    llm: LLMSettings = LLMSettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    workers: WorkerSettings = WorkerSettings()
    api: ApiSettings = ApiSettings()
    hooks: HookSettings = HookSettings()
    redaction: RedactionSettings = RedactionSettings()
    slack: SlackSettings = SlackSettings()
    github: GitHubSettings = GitHubSettings()
    confluence: ConfluenceSettings = ConfluenceSettings()
    drive: DriveSettings = DriveSettings()

    @property
    def live(self) -> LiveSettings:
        """What connectors that ask over the network are told."""
        return LiveSettings(
            slack=self.slack, github=self.github, confluence=self.confluence, drive=self.drive
        )

    @property
    def redaction_options(self) -> RedactionOptions:
        """The owner's choices in the form that `redact` takes."""
        from context_engine.redaction import RedactionOptions

        return RedactionOptions(
            patterns=tuple(pattern.compiled() for pattern in self.redaction.pattern),
            emails=self.redaction.emails,
            phones=self.redaction.phones,
        )

    @property
    def paths(self) -> Home:
        """The home's paths."""
        return Home(self.home)

    @property
    def models_dir(self) -> Path:
        """Where converted models are kept."""
        return self.embedding.models_dir or self.paths.models

    @property
    def scope_rules(self) -> tuple[ScopeRule, ...]:
        """Path rules in the form that `scope_for_path` takes."""
        return tuple(ScopeRule(rule.path, rule.scope) for rule in self.scope_rule)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Order: arguments, environment, config.toml. A foreign folder's .env is never read."""
        del dotenv_settings, file_secret_settings
        config = Home(home_from_environment()).config_file
        return (init_settings, env_settings, _WithoutSecrets(settings_cls, config))


class _WithoutSecrets(TomlConfigSettingsSource):
    """config.toml, which people show around and put into Git: a secret in it is refused."""

    def __call__(self) -> dict[str, Any]:
        data = super().__call__()
        for section, field in secrets_in(data):
            raise ConfigError(
                f"{self.toml_file_path}: [{section}] {field} is a secret and must not stand in "
                f"this file; take it out and {where_to_put(section, field)}"
            )
        return data


def home_from_environment() -> Path:
    """Return CE_HOME, else ~/context-engine; absolute."""
    return Path(os.environ.get("CE_HOME") or "~/context-engine").expanduser().absolute()


def variables() -> frozenset[str]:
    """Return the names of the CE_… variables that are set, in capitals."""
    return frozenset(name.upper() for name in os.environ if name.upper().startswith("CE_"))


def load_settings() -> Settings:
    """Read the settings of the home that CE_HOME names.

    Raises ConfigError naming the setting, its value and what is allowed.
    """
    home = home_from_environment()
    try:
        return Settings(home=home)
    except ValidationError as error:
        lines = [
            f"{'.'.join(str(part) for part in item['loc'])}: {item['msg']}"
            for item in error.errors()
        ]
        place = Home(home).config_file
        raise ConfigError(
            f"settings are not valid ({place} or CE_… variables):\n  " + "\n  ".join(lines)
        ) from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{Home(home).config_file} is not valid TOML: {error}") from error
