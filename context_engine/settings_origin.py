"""Every setting with its value and where that comes from, secrets masked."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from context_engine.settings import Settings, variables

MASK = "••••••"
_SECRET = re.compile(r"(token|secret|password|passwd|api_?key|credential)s?\Z", re.IGNORECASE)
_USER_INFO = re.compile(r"(?<=://)[^/@\s]+@")

Origin = Literal["default", "config", "environment"]


@dataclass(frozen=True)
class SettingOrigin:
    """One setting, named by its place: `llm.model`."""

    name: str
    value: str
    default: str
    origin: Origin
    variable: str
    about: str


def origins(settings: Settings) -> tuple[SettingOrigin, ...]:
    """Return all settings in the order of the reference."""
    return tuple(_walk(settings, "", _config(settings), variables()))


def _config(settings: Settings) -> Mapping[str, Any]:
    try:
        return tomllib.loads(settings.paths.config_file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        # it was read at the start; what became of it since is not what is in force
        return {}


def _walk(
    model: BaseModel, prefix: str, config: Mapping[str, Any], stated: frozenset[str]
) -> Iterator[SettingOrigin]:
    for name, field in type(model).model_fields.items():
        value = getattr(model, name)
        if isinstance(value, BaseModel):
            inner = config.get(name, {})
            below = inner if isinstance(inner, Mapping) else {}
            yield from _walk(value, f"{prefix}{name}.", below, stated)
        else:
            yield _setting(f"{prefix}{name}", value, field, name in config, stated)


def _setting(
    name: str, value: Any, field: FieldInfo, in_config: bool, stated: frozenset[str]
) -> SettingOrigin:
    variable = "CE_" + name.upper().replace(".", "__")
    # a whole table may be one variable: CE_LLM={"model": …}
    pieces = variable.split("__")
    spelled = {"__".join(pieces[: count + 1]) for count in range(len(pieces))}
    origin: Origin = "config" if in_config else "default"
    return SettingOrigin(
        name=name,
        value=_shown(name, value),
        default=_shown(name, field.get_default(call_default_factory=False)),
        origin="environment" if spelled & stated else origin,
        variable=variable,
        about=" ".join((field.description or "").split()),
    )


def _shown(name: str, value: Any) -> str:
    if value is None or value in ((), "", []):
        return ""
    if _SECRET.search(name):
        return MASK
    if isinstance(value, (tuple, list)):
        return ", ".join(_shown(name, item) for item in value)
    if isinstance(value, BaseModel):
        inner = ((key, getattr(value, key)) for key in type(value).model_fields)
        return " ".join(f"{key}={_shown(key, each)}" for key, each in inner if each is not None)
    return _USER_INFO.sub(f"{MASK}@", str(value))
