"""Where the API listens: said in a form that the API itself answers to."""

from __future__ import annotations

import pytest

from api.address import Address, address_file, read_address
from api.http.guards import names_for
from context_engine.home import Home


@pytest.mark.parametrize("host", ["127.0.0.1", "192.0.2.7", "::1", "2001:db8::7", "0.0.0.0", "::"])  # noqa: S104 - compared, not bound
def test_the_api_answers_to_the_address_that_is_given_out(host: str) -> None:
    address = Address(host, 7411, 1)
    assert address.authority in names_for(host, address.port, (), ()).hosts


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"host": "127.0.0.1"}'])
def test_a_file_that_is_not_whole_is_an_api_that_does_not_run(home: Home, text: str) -> None:
    assert read_address(home) is None
    address_file(home).write_text(text, encoding="utf-8")
    assert read_address(home) is None
