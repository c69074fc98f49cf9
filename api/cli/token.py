"""`context-engine token`."""

from __future__ import annotations

import click

from api import tokens
from api.cli.common import json_option, print_json, say, settings_of_memory
from api.tokens import IssuedToken, Token
from context_engine.clock import isoformat
from context_engine.scopes import Scope
from context_engine.settings import load_settings


@click.group("token")
def command() -> None:
    """Create, list, rotate and revoke the tokens of HTTP clients, one client each."""


@command.command("create")
@click.argument("name")
@click.option(
    "--scope",
    type=click.Choice([scope.value for scope in Scope]),
    required=True,
    help="The one vault (and public) this client may see.",
)
@json_option
def create(name: str, scope: str, as_json: bool) -> None:
    """Issue a token for client NAME and print it, once."""
    home = load_settings().paths
    home.create()
    _print_issued(tokens.create(home, name, Scope(scope)), as_json=as_json)


@command.command("rotate")
@click.argument("name")
@json_option
def rotate(name: str, as_json: bool) -> None:
    """Issue another token for NAME; the one before stays good until it is revoked."""
    _print_issued(tokens.rotate(settings_of_memory().paths, name), as_json=as_json)


@command.command("list")
@json_option
def list_(as_json: bool) -> None:
    """List the tokens; what they read like is not stored."""
    listed = [_describe(token) for token in tokens.list_tokens(settings_of_memory().paths)]
    if as_json:
        print_json({"tokens": listed})
        return
    for token in listed:
        used = token["last_used"] or "never"
        until = f"  until {token['expires']}" if token["expires"] else ""
        click.echo(
            f"{token['client']:<24} {token['scope']:<9} id {token['id']}  "
            f"created {token['created']}  last used {used}{until}"
        )
    if not listed:
        say("no tokens; create one: context-engine token create NAME --scope SCOPE")


@command.command("revoke")
@click.argument("name")
def revoke(name: str) -> None:
    """Revoke all tokens of the client NAME, or the one token with the id NAME."""
    for token in tokens.revoke(settings_of_memory().paths, name):
        say(f"revoked {token.client} ({token.scope.value}, id {token.id})")


def _print_issued(issued: IssuedToken, *, as_json: bool) -> None:
    if as_json:
        print_json(_describe(issued.token) | {"token": issued.text})
        return
    click.echo(issued.text)
    say(
        f"token of {issued.token.client}, scope {issued.token.scope.value}; it is shown this once. "
        "Clients send it as: Authorization: Bearer …"
    )


def _describe(token: Token) -> dict[str, str | None]:
    return {
        "id": token.id,
        "client": token.client,
        "scope": token.scope.value,
        "created": isoformat(token.created),
        "last_used": isoformat(token.last_used) if token.last_used else None,
        "expires": isoformat(token.expires) if token.expires else None,
    }
