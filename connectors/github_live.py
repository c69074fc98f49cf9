"""GitHub over its REST API: issues, pull requests, their reviews and comments.

The same documents and messages as from files (`connectors/github.py`), by the same ids and the
same reading states: what came by one does not come again by the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from connectors.base import Item, Ledger, ReadOptions
from connectors.credentials import secret
from connectors.github_comments import SOURCE, Comments
from connectors.github_lists import LISTS, Repository
from connectors.live_http import Api, open_client
from context_engine.clock import Clock, SystemClock
from context_engine.errors import BadInputError, ConfigError
from context_engine.events import BadRecord

NEEDED = (
    "a fine-grained token with the permissions Issues: read and Pull requests: read for these "
    "repositories, or a classic one with the scope repo (public_repo for public ones)"
)
_REPO = re.compile(r"[\w.-]{1,100}/[\w.-]{1,100}")


class GitHubLiveConnector:
    """The source `github-live`."""

    name = "github-live"
    accepts = "GitHub over its REST API: pull requests, issues, reviews and comments"
    default_paths: tuple[Path, ...] = ()
    shares = SOURCE
    needs = "[github] repos, and a token: CE_GITHUB__TOKEN, or github.token in the keyring"

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()

    def read(self, paths: Sequence[Path], ledger: Ledger, options: ReadOptions) -> Iterator[Item]:
        """Yield what is new, edited or deleted in the repositories of the settings.

        Raises ConfigError without repositories, AccessDeniedError when the token is missing or
        refused, DependencyDownError when GitHub is away.
        """
        del paths
        settings = options.live.github
        if not settings.repos:
            raise ConfigError('say which repositories to read: [github] repos = ["owner/name"]')
        token = secret(settings, "github", "token", NEEDED)
        headers = {
            "Authorization": f"Bearer {token}",
            "Accept": "application/vnd.github+json",
            "X-GitHub-Api-Version": "2022-11-28",
        }
        with open_client(settings.base_url, headers) as client:
            api = Api(SOURCE, client, options.pause, f"make a new token. It needs: {NEEDED}")
            comments = Comments(ledger, options, self._clock)
            for repo in settings.repos:
                repository = Repository(repo, api, comments, ledger, options, self._clock)
                yield from _read(repository)


def _read(repository: Repository) -> Iterator[Item]:
    if not _REPO.fullmatch(repository.name):
        yield BadRecord("github.repos", f"{repository.name!r} is no owner/name")
        return
    for name in LISTS:
        try:
            yield from repository.read(name)
        except BadInputError as error:
            # a repository that is gone, or that the token may not see
            yield BadRecord(f"{repository.name} {name}", error.reason)


CONNECTOR = GitHubLiveConnector()
