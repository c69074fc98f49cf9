"""The OAuth front, by the MCP library's own client, and by clients that do what they should not."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import os
import re
import signal
import socket
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import httpx2
import pytest
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken

from api import tokens
from api.oauth import approval
from api.oauth.app import create_app
from api.oauth.client_documents import ClientDocumentError, fetch_public, is_document_url
from api.oauth.places import front_at, may_return_to
from context_engine.clock import ManualClock, SystemClock
from context_engine.errors import UsageError
from context_engine.home import Home
from context_engine.scopes import Scope
from support.api import RunningApi
from support.engine import COMMAND

BACK = "http://127.0.0.1:7777/callback"
VERIFIER = "v" * 64
CHALLENGE = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).decode().strip("=")


# --- the real client, the real commands ---


class Kept:
    """TokenStorage in memory."""

    def __init__(self) -> None:
        self.tokens: OAuthToken | None = None
        self.client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


@contextmanager
def front_of(home: Home) -> Iterator[str]:
    """Run `context-engine oauth serve` beside an engine; give its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    process = subprocess.Popen(
        [
            *(*COMMAND, "oauth", "serve"),
            *("--public-url", url, "--port", str(port)),
        ],
        env=os.environ | {"CE_HOME": str(home.root)},
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        assert url in process.stderr.readline()
        yield url
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=15)


def printed_code(home: Home) -> str:
    return subprocess.run(
        [*COMMAND, "oauth", "code"],
        env=os.environ | {"CE_HOME": str(home.root)},
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()


def test_an_assistant_gets_in_by_oauth_sees_the_chosen_vault_and_can_be_thrown_out(
    api: RunningApi,
) -> None:
    asyncio.run(_gets_in(api))


async def _gets_in(api: RunningApi) -> None:
    kept = Kept()
    came_back: list[str] = []

    async def at_the_page(url: str) -> None:
        came_back.append(await _consent(url, "work", printed_code(api.home)))

    async def with_the_code() -> AuthorizationCodeResult:
        query = parse_qs(urlsplit(came_back[-1]).query)
        return AuthorizationCodeResult(
            code=query["code"][0], state=query["state"][0], iss=query["iss"][0]
        )

    with front_of(api.home) as url:
        auth = OAuthClientProvider(
            f"{url}/mcp",
            OAuthClientMetadata(
                client_name="ChatGPT",
                redirect_uris=[BACK],  # type: ignore[list-item]  # parsed by the model
                token_endpoint_auth_method="none",
            ),
            kept,
            at_the_page,
            with_the_code,
        )
        async with httpx2.AsyncClient(auth=auth, timeout=30) as http:
            async with Client(streamable_http_client(f"{url}/mcp", http_client=http)) as client:
                found = await client.call_tool("search_knowledge", {"query": "queue decision"})
            paths = {hit["path"] for hit in (found.structured_content or {})["results"]}
            own = api.call(Scope.WORK, "search_knowledge", {"query": "queue decision"}).json()
            assert paths == {hit["path"] for hit in own["results"]}
            assert paths

        (lent,) = [t for t in tokens.list_tokens(api.home) if t.client.startswith("oauth-")]
        assert lent.client.startswith("oauth-chatgpt-")
        assert lent.scope is Scope.WORK
        assert lent.expires is not None
        assert any(line["client"] == lent.client for line in api.audit())

        tokens.revoke(api.home, lent.client)
        assert kept.tokens is not None
        async with httpx2.AsyncClient(timeout=30) as http:
            bearer = {"authorization": f"Bearer {kept.tokens.access_token}"}
            assert (await http.post(f"{url}/mcp", json={}, headers=bearer)).status_code == 401
            assert kept.client is not None
            again = await http.post(
                f"{url}/token",
                data={
                    "grant_type": "refresh_token",
                    "refresh_token": kept.tokens.refresh_token,
                    "client_id": kept.client.client_id,
                },
            )
            assert again.json()["error"] == "invalid_grant"


async def _consent(url: str, vault: str, code: str) -> str:
    """Do on the page what the owner does in a browser; return where it leads."""
    async with httpx2.AsyncClient(timeout=30) as browser:
        page = await browser.get(url, headers={"accept-language": "ja"}, follow_redirects=True)
        assert "ChatGPT" in page.text
        assert "許可する" in page.text
        identifier = re.search(r'name="request" value="([^"]+)"', page.text)
        assert identifier is not None
        answer = await browser.post(
            str(page.url).split("?", maxsplit=1)[0],
            data={
                "request": identifier[1],
                "decision": "allow",
                "vault": vault,
                "code": code.lower(),
            },
        )
        assert answer.status_code == 303
        return str(answer.headers["location"])


# --- in one process, with a clock ---


class Front:
    """A front, and a client that speaks its language by hand."""

    def __init__(self, home: Home, http: httpx.AsyncClient, clock: ManualClock) -> None:
        self.home, self.http, self.clock = home, http, clock

    async def register(self, **changes: Any) -> httpx.Response:
        said = {
            "client_name": "Fern",
            "redirect_uris": [BACK],
            "token_endpoint_auth_method": "none",
        }
        return await self.http.post("/register", json=said | changes)

    async def ask(self, client: str, **changes: str) -> httpx.Response:
        said = {
            "client_id": client,
            "redirect_uri": BACK,
            "response_type": "code",
            "code_challenge": CHALLENGE,
            "code_challenge_method": "S256",
            "state": "s1",
        }
        return await self.http.get("/authorize", params=said | changes)

    async def decide(self, asked: httpx.Response, **changes: str) -> httpx.Response:
        identifier = parse_qs(urlsplit(asked.headers["location"]).query)["request"][0]
        said = {"request": identifier, "decision": "allow", "vault": "public"}
        return await self.http.post("/consent", data=said | changes)

    async def let_in(self, client: str) -> dict[str, Any]:
        """Return the tokens after the whole way."""
        decided = await self.decide(
            await self.ask(client), code=approval.new_code(self.home, self.clock)
        )
        code = parse_qs(urlsplit(decided.headers["location"]).query)["code"][0]
        return (await self.exchange(client, code)).json()  # type: ignore[no-any-return]

    async def exchange(self, client: str, code: str, **changes: str) -> httpx.Response:
        said = {
            "grant_type": "authorization_code",
            "code": code,
            "client_id": client,
            "redirect_uri": BACK,
            "code_verifier": VERIFIER,
        }
        return await self.http.post("/token", data=said | changes)

    async def refresh(self, client: str, token: str) -> httpx.Response:
        said = {"grant_type": "refresh_token", "refresh_token": token, "client_id": client}
        return await self.http.post("/token", data=said)

    async def is_let_in(self, token: str) -> bool:
        """Tell whether the front takes a token; no engine runs behind it here."""
        bearer = {"authorization": f"Bearer {token}"}
        return (await self.http.post("/mcp", json={}, headers=bearer)).status_code == 503


@asynccontextmanager
async def front(home: Home, documents: dict[str, bytes] | None = None) -> AsyncIterator[Front]:
    clock = ManualClock(SystemClock().now())

    async def fetch(url: str) -> bytes:
        if url not in (documents or {}):
            raise ClientDocumentError(url)
        return (documents or {})[url]

    app = create_app(home, front_at("https://memory.example.org"), clock, fetch)
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(
        transport=transport, base_url="https://memory.example.org"
    ) as http:
        yield Front(home, http, clock)


@pytest.fixture
def home(tmp_path: Any) -> Home:
    made = Home(tmp_path / "home")
    made.create()
    return made


def test_a_refresh_token_is_good_once_and_a_second_use_ends_the_grant(home: Home) -> None:
    async def run() -> None:
        async with front(home) as f:
            client = (await f.register()).json()["client_id"]
            first = await f.let_in(client)
            assert await f.is_let_in(first["access_token"])
            second = (await f.refresh(client, first["refresh_token"])).json()
            assert await f.is_let_in(second["access_token"])

            stolen = await f.refresh(client, first["refresh_token"])
            assert stolen.json()["error"] == "invalid_grant"
            assert not await f.is_let_in(second["access_token"])
            assert (await f.refresh(client, second["refresh_token"])).status_code == 400

    asyncio.run(run())


def test_an_access_token_lasts_an_hour(home: Home) -> None:
    async def run() -> None:
        async with front(home) as f:
            client = (await f.register()).json()["client_id"]
            given = await f.let_in(client)
            assert given["expires_in"] == 3600
            f.clock.advance(61 * 60)
            assert not await f.is_let_in(given["access_token"])
            assert (await f.refresh(client, given["refresh_token"])).status_code == 200

    asyncio.run(run())


def test_nobody_gets_in_without_the_owners_code_and_a_few_guesses_spend_it(home: Home) -> None:
    async def run() -> None:
        async with front(home) as f:
            client = (await f.register()).json()["client_id"]
            asked = await f.ask(client)
            code = approval.new_code(home, f.clock)
            assert (await f.decide(asked, code="")).status_code == 400
            for guess in ("AAAA-AAAA", "BBBB-BBBB", "CCCC-CCCC", "DDDD-DDDD"):
                assert (await f.decide(asked, code=guess)).status_code == 400
            assert (await f.decide(asked, code=code)).status_code == 400, "five were wrong"

            old = approval.new_code(home, f.clock)
            f.clock.advance(approval.LASTS.total_seconds() + 1)
            assert not approval.accept(home, old, f.clock)
            fresh = approval.new_code(home, f.clock)
            assert approval.accept(home, fresh, f.clock)
            assert not approval.accept(home, fresh, f.clock)

    asyncio.run(run())


def test_a_code_is_for_its_client_its_verifier_and_one_use(home: Home) -> None:
    async def run() -> None:
        async with front(home) as f:
            client = (await f.register()).json()["client_id"]
            other = (await f.register()).json()["client_id"]
            given = await f.decide(await f.ask(client), code=approval.new_code(home, f.clock))
            code = parse_qs(urlsplit(given.headers["location"]).query)["code"][0]
            assert (await f.exchange(other, code)).json()["error"] == "invalid_grant"
            assert (await f.exchange(client, code)).status_code == 200
            assert (await f.exchange(client, code)).json()["error"] == "invalid_grant"

            given = await f.decide(await f.ask(client), code=approval.new_code(home, f.clock))
            code = parse_qs(urlsplit(given.headers["location"]).query)["code"][0]
            wrong = await f.exchange(client, code, code_verifier="w" * 64)
            assert wrong.json()["error"] == "invalid_grant"

    asyncio.run(run())


def test_refusing_leads_back_without_a_code(home: Home) -> None:
    async def run() -> None:
        async with front(home) as f:
            client = (await f.register()).json()["client_id"]
            refused = await f.decide(await f.ask(client), decision="deny")
            query = parse_qs(urlsplit(refused.headers["location"]).query)
            assert query["error"] == ["access_denied"]
            assert query["state"] == ["s1"]
            assert "code" not in query

    asyncio.run(run())


@pytest.mark.parametrize(
    "place",
    [
        "http://evil.example/cb",
        "javascript:alert(1)",
        "data:text/html,x",
        "file:///etc/passwd",
        "https://a@b.example/",
    ],
)
def test_nobody_is_sent_to_an_address_that_is_not_a_clients(home: Home, place: str) -> None:
    async def run() -> None:
        async with front(home) as f:
            assert (await f.register(redirect_uris=[place])).status_code == 400
            client = (await f.register()).json()["client_id"]
            asked = await f.ask(client, redirect_uri=place)
            assert asked.status_code == 400

    asyncio.run(run())


def test_a_client_may_be_the_address_of_its_description(home: Home) -> None:
    url = "https://assistant.example/oauth/client.json"
    said = {
        "client_id": url,
        "client_name": "Fern",
        "redirect_uris": ["https://assistant.example/cb"],
    }
    documents = {
        url: json.dumps(said).encode(),
        "https://liar.example/c.json": json.dumps(said).encode(),
        "https://broken.example/c.json": b"[" * 100_000,
    }

    async def run() -> None:
        async with front(home, documents) as f:
            back = "https://assistant.example/cb"
            asked = await f.ask(url, redirect_uri=back)
            page = await f.http.get(asked.headers["location"])
            assert "https://assistant.example" in page.text
            assert (
                "form-action 'self' https://assistant.example;"
                in (page.headers["content-security-policy"])
            )
            for liar in ("https://liar.example/c.json", "https://broken.example/c.json"):
                assert (await f.ask(liar, redirect_uri=back)).status_code == 400

    asyncio.run(run())


@pytest.mark.parametrize(
    "url",
    [
        "http://assistant.example/c.json",
        "https://assistant.example",
        "https://assistant.example:8443/c.json",
        "https://user@assistant.example/c.json",
        "https://assistant.example/c.json?x=1",
        "https://assistant.example/../c.json",
        "https://assistant.example:x/c.json",
        "https://" + "a" * 600 + "/c",
    ],
)
def test_what_is_no_address_of_a_description_is_not_fetched(url: str) -> None:
    assert not is_document_url(url)


@pytest.mark.parametrize(
    "host",
    [
        *("127.0.0.1", "localhost", "[::1]", "169.254.169.254", "10.0.0.1", "2130706433", "0x7f.1"),
        *("[::ffff:127.0.0.1]", "[::127.0.0.1]", "[64:ff9b::7f00:1]", "[64:ff9b:1::a00:1]"),
        *("[2002:7f00:1::]", "[2001:0:7f00:1::]", "224.0.0.1", "[ff02::1]", "[fec0::1]"),
    ],
)
def test_a_description_is_never_fetched_from_a_private_host(host: str) -> None:
    with pytest.raises(ClientDocumentError, match="not a public host"):
        asyncio.run(fetch_public(f"https://{host}/c.json"))


def test_a_hostile_name_is_text_on_the_page(home: Home) -> None:
    async def run() -> None:
        async with front(home) as f:
            client = (await f.register(client_name="<script>alert(1)</script>")).json()["client_id"]
            page = await f.http.get((await f.ask(client)).headers["location"])
            assert "<script>" not in page.text
            assert "default-src 'none'" in page.headers["content-security-policy"]

    asyncio.run(run())


def test_strangers_can_neither_fill_the_disk_nor_ask_without_end(home: Home) -> None:
    async def run() -> None:
        async with front(home) as f:
            statuses = [(await f.register()).status_code for _ in range(130)]
            assert statuses[0] == 201
            assert statuses[-1] == 429
            assert (await f.http.post("/register", content=b"x" * 2_000_000)).status_code in (
                413,
                429,
            )

    asyncio.run(run())


def test_a_fixed_token_is_nothing_to_the_front(home: Home) -> None:
    fixed = tokens.create(home, "cursor", Scope.WORK).text

    async def run() -> None:
        async with front(home) as f:
            assert not await f.is_let_in(fixed)
            refused = await f.http.post("/mcp", json={})
            assert refused.status_code == 401
            place = "https://memory.example.org/.well-known/oauth-protected-resource/mcp"
            assert f'resource_metadata="{place}"' in refused.headers["www-authenticate"]
            said = (await f.http.get(place)).json()
            assert said["resource"] == "https://memory.example.org/mcp"
            assert (await f.ask("unknown")).status_code == 400

    asyncio.run(run())


@pytest.mark.parametrize(
    "url", ["http://memory.example.org", "https://x.org/path", "ftp://x.org", "https://", "x.org"]
)
def test_a_public_address_is_https_and_a_host_alone(url: str) -> None:
    with pytest.raises(UsageError):
        front_at(url)
    assert may_return_to("cursor://anysphere.cursor-retrieval/oauth/callback")
