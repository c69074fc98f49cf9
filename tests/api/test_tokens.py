"""Client tokens: shown once, stored hashed, changed atomically, refused at once when revoked."""

from __future__ import annotations

import hashlib
import json
import stat
import threading
from datetime import UTC, datetime

import pytest

from api.tokens import PREFIX, TokenVerifier, create, list_tokens, revoke, rotate
from context_engine.clock import ManualClock
from context_engine.errors import ConfigError, NotFoundError, UsageError
from context_engine.home import Home
from context_engine.scopes import Scope

START = datetime(2026, 11, 2, 9, 0, tzinfo=UTC)


def test_a_token_opens_its_own_scope_and_client(home: Home) -> None:
    issued = create(home, "chatgpt", Scope.WORK)

    found = TokenVerifier(home).verify(issued.text)

    assert found is not None
    assert (found.client, found.scope) == ("chatgpt", Scope.WORK)


def test_the_file_holds_no_token_and_is_readable_by_its_owner_alone(home: Home) -> None:
    issued = create(home, "chatgpt", Scope.WORK)

    text = home.tokens.read_text(encoding="utf-8")

    assert issued.text not in text
    assert issued.text.removeprefix(PREFIX) not in text
    assert hashlib.sha256(issued.text.encode()).hexdigest() in text
    assert stat.S_IMODE(home.tokens.stat().st_mode) == 0o600


def test_tokens_carry_256_random_bits_and_the_prefix(home: Home) -> None:
    texts = {create(home, f"client-{n}", Scope.WORK).text for n in range(20)}

    assert len(texts) == 20
    assert all(text.startswith("ce_") and len(text) == 3 + 43 for text in texts)


@pytest.mark.parametrize("text", ["", "ce_", "ce_wrong", "x" * 10_000, "ce_\ud800", "日本語"])
def test_anything_else_opens_nothing(home: Home, text: str) -> None:
    create(home, "chatgpt", Scope.WORK)

    assert TokenVerifier(home).verify(text) is None


def test_a_hash_from_the_file_is_no_token(home: Home) -> None:
    issued = create(home, "chatgpt", Scope.WORK)

    assert TokenVerifier(home).verify(issued.token.sha256) is None


def test_a_second_token_of_one_client_is_refused_with_the_way_out(home: Home) -> None:
    create(home, "chatgpt", Scope.WORK)

    with pytest.raises(UsageError, match="token rotate chatgpt"):
        create(home, "chatgpt", Scope.PERSONAL)


@pytest.mark.parametrize("name", ["", "Chat GPT", "../x", "a\nb", "x" * 65, "é", "-a"])
def test_a_malformed_client_name_is_refused(home: Home, name: str) -> None:
    with pytest.raises(UsageError, match="client name"):
        create(home, name, Scope.WORK)


def test_during_rotation_the_old_and_the_new_token_are_good_and_no_third(home: Home) -> None:
    first = create(home, "chatgpt", Scope.WORK)
    second = rotate(home, "chatgpt")
    verifier = TokenVerifier(home)
    assert verifier.verify(first.text) is not None
    assert verifier.verify(second.text) is not None

    third = rotate(home, "chatgpt")

    assert verifier.verify(first.text) is None
    assert verifier.verify(second.text) is not None
    assert verifier.verify(third.text) is not None
    assert {token.scope for token in list_tokens(home)} == {Scope.WORK}


def test_rotating_leaves_other_clients_alone(home: Home) -> None:
    other = create(home, "cursor", Scope.PERSONAL)
    create(home, "chatgpt", Scope.WORK)
    for _ in range(3):
        rotate(home, "chatgpt")

    assert TokenVerifier(home).verify(other.text) is not None


def test_a_revoked_token_is_refused_by_a_verifier_that_knew_it(home: Home) -> None:
    issued = create(home, "chatgpt", Scope.WORK)
    verifier = TokenVerifier(home)
    assert verifier.verify(issued.text) is not None

    gone = revoke(home, "chatgpt")

    assert [token.id for token in gone] == [issued.token.id]
    assert verifier.verify(issued.text) is None


def test_one_of_two_live_tokens_can_be_revoked_by_its_id(home: Home) -> None:
    first = create(home, "chatgpt", Scope.WORK)
    second = rotate(home, "chatgpt")

    revoke(home, first.token.id)

    verifier = TokenVerifier(home)
    assert verifier.verify(first.text) is None
    assert verifier.verify(second.text) is not None


def test_rotating_or_revoking_nobody_is_an_error(home: Home) -> None:
    for change in (rotate, revoke):
        with pytest.raises(NotFoundError, match="token list"):
            change(home, "nobody")


def test_last_use_is_noted_at_most_once_a_minute(home: Home) -> None:
    clock = ManualClock(START)
    issued = create(home, "chatgpt", Scope.WORK, clock)
    assert list_tokens(home)[0].last_used is None
    verifier = TokenVerifier(home, clock)

    verifier.verify(issued.text)
    clock.advance(30)
    verifier.verify(issued.text)
    assert list_tokens(home)[0].last_used == START

    clock.advance(31)
    verifier.verify(issued.text)
    assert list_tokens(home)[0].last_used == clock.now()


def test_a_damaged_file_lets_nobody_in_and_says_what_to_do(home: Home) -> None:
    issued = create(home, "chatgpt", Scope.WORK)
    home.tokens.write_text('{"tokens": [', encoding="utf-8")

    assert TokenVerifier(home).verify(issued.text) is None
    with pytest.raises(ConfigError, match=r"tokens\.json is damaged"):
        list_tokens(home)


def test_a_link_in_place_of_the_file_lets_nobody_in(home: Home) -> None:
    issued = create(home, "chatgpt", Scope.WORK)
    elsewhere = home.root / "elsewhere.json"
    home.tokens.rename(elsewhere)
    home.tokens.symlink_to(elsewhere)

    assert TokenVerifier(home).verify(issued.text) is None


def test_changes_from_many_threads_lose_no_token(home: Home) -> None:
    def work(number: int) -> None:
        issued = create(home, f"client-{number}", Scope.WORK)
        TokenVerifier(home).verify(issued.text)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert {token.client for token in list_tokens(home)} == {f"client-{n}" for n in range(12)}
    assert all(token.last_used for token in list_tokens(home))
    json.loads(home.tokens.read_text(encoding="utf-8"))
