"""What all live sources share: secrets, trying again, and stopping with a reason."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import keyring
import keyring.backend
import pytest
from keyring.errors import KeyringError
from pydantic import SecretStr

from connectors.credentials import secret
from connectors.live import ATTEMPTS, LONGEST_PAUSE, TryAgainError, persistent, retry_after
from context_engine.errors import AccessDeniedError, DependencyDownError
from context_engine.source_settings import SlackSettings


class MemoryKeyring(keyring.backend.KeyringBackend):
    """A keyring of the real library that keeps its secrets in memory."""

    priority = 1

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # the library has no types there
        self.kept: dict[tuple[str, str], str] = {}
        self.locked = False

    def get_password(self, service: str, username: str) -> str | None:
        if self.locked:
            raise KeyringError("it is locked")
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        del self.kept[service, username]


@pytest.fixture
def memory() -> Iterator[MemoryKeyring]:
    before = keyring.get_keyring()
    memory = MemoryKeyring()
    keyring.set_keyring(memory)
    yield memory
    keyring.set_keyring(before)


def test_a_secret_comes_from_the_keyring_and_the_environment_wins(memory: MemoryKeyring) -> None:
    memory.set_password("context-engine", "slack.token", "xoxp-keyring\n")
    assert secret(SlackSettings(), "slack", "token", "x") == "xoxp-keyring"
    settings = SlackSettings(token=SecretStr("xoxp-environment"))
    assert secret(settings, "slack", "token", "x") == "xoxp-environment"


def test_a_missing_secret_is_said_with_where_to_put_it_and_what_it_needs(
    memory: MemoryKeyring,
) -> None:
    for settings in (SlackSettings(), SlackSettings(token=SecretStr("  "))):
        with pytest.raises(AccessDeniedError) as raised:
            secret(settings, "slack", "token", "the scope users:read")
        for word in ("CE_SLACK__TOKEN", "keyring set context-engine slack.token", "users:read"):
            assert word in str(raised.value)


def test_a_locked_keyring_is_said(memory: MemoryKeyring) -> None:
    memory.locked = True
    with pytest.raises(AccessDeniedError, match="it is locked"):
        secret(SlackSettings(), "slack", "token", "x")


class Flaky:
    """Fails some times before it answers."""

    def __init__(self, times: int, after: float | None = None) -> None:
        self.times, self.after = times, after

    def __call__(self) -> str:
        self.times -= 1
        if self.times >= 0:
            raise TryAgainError("busy", self.after)
        return "answer"


def test_pauses_grow_up_to_a_limit() -> None:
    pauses: list[float] = []
    assert persistent("svc", Flaky(ATTEMPTS - 1), pauses.append) == "answer"
    assert len(pauses) == ATTEMPTS - 1
    for number, pause in enumerate(pauses):
        assert min(LONGEST_PAUSE, 2**number) / 2 <= pause <= min(LONGEST_PAUSE, 2**number)


def test_what_goes_on_failing_ends_with_its_reason() -> None:
    with pytest.raises(DependencyDownError, match="svc is not available: busy"):
        persistent("svc", Flaky(ATTEMPTS), lambda _: None)


def test_a_pause_may_be_interrupted() -> None:
    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        persistent("svc", Flaky(1, after=200.0), interrupt)


def test_too_long_a_wait_is_not_begun() -> None:
    pauses: list[float] = []
    with pytest.raises(DependencyDownError, match=r"run again after \d\d:\d\d UTC"):
        persistent("svc", Flaky(1, after=301.0), pauses.append)
    assert pauses == []


def test_retry_after_is_a_number_or_a_date() -> None:
    assert retry_after("17") == 17.0
    in_a_minute = retry_after(format_datetime(datetime.now(UTC) + timedelta(seconds=60)))
    assert in_a_minute is not None
    assert 55 <= in_a_minute <= 61
    assert retry_after("Wed, 21 Oct 2015 07:28:00 GMT") == 0.0
    for nothing in (None, "", "soon", "-5", "1.5e9", "Wed, 21 Oct"):
        assert retry_after(nothing) is None
