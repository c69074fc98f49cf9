"""Secrets of sources: from the environment, else from the keyring of the operating system."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import SecretStr

from context_engine.errors import AccessDeniedError
from context_engine.source_settings import KEYRING, where_to_put

if TYPE_CHECKING:
    from pydantic import BaseModel


def secret(settings: BaseModel, section: str, field: str, needed: str) -> str:
    """Return the secret `field` of a section of the settings; `""` is no secret.

    needed: what it must allow, such as the scopes. Raises AccessDeniedError saying where to put it.
    """
    value = getattr(settings, field)
    found = (
        value.get_secret_value() if isinstance(value, SecretStr) else _in_keyring(section, field)
    )
    if found and found.strip():
        return found.strip()
    raise AccessDeniedError(
        section, f"no secret {section}.{field}; {where_to_put(section, field)}. It needs: {needed}"
    )


def _in_keyring(section: str, field: str) -> str | None:
    try:
        import keyring
        from keyring.errors import KeyringError
    except ImportError:
        return None
    try:
        return keyring.get_password(KEYRING, f"{section}.{field}")
    except KeyringError as error:
        raise AccessDeniedError(
            section, f"the keyring cannot be read ({error}); {where_to_put(section, field)}"
        ) from error
