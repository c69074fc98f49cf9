"""Slack over the network: the Web API, and with `follow` events as they happen (Socket Mode).

The same documents and messages as an export's (`connectors/slack.py`), by the same ids and the
same reading states: what came by one does not come again by the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from connectors.base import Item, Ledger, ReadOptions
from connectors.slack_api import SlackApi
from connectors.slack_history import CatchUp
from connectors.slack_threads import SOURCE, Messages
from connectors.slack_workspace import load_workspace
from context_engine.clock import Clock, SystemClock


class SlackLiveConnector:
    """The source `slack-live`."""

    name = "slack-live"
    accepts = "Slack over its Web API: channels, threads and direct messages; --follow stays on"
    default_paths: tuple[Path, ...] = ()
    shares = SOURCE
    needs = "a token: CE_SLACK__TOKEN, or slack.token in the keyring"
    needs_to_follow = "an app-level token: CE_SLACK__APP_TOKEN, or slack.app_token in the keyring"

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()

    def read(self, paths: Sequence[Path], ledger: Ledger, options: ReadOptions) -> Iterator[Item]:
        """Yield what is new, edited or deleted in the channels to be read.

        Raises AccessDeniedError when a token is missing or refused, DependencyDownError when
        Slack is away.
        """
        del paths
        workspace = load_workspace(SlackApi(options), options)
        messages = Messages(ledger, options, self._clock)
        catch_up = CatchUp(workspace, messages, ledger, options, self._clock)
        if not options.follow:
            yield from catch_up.items()
            return
        from connectors.slack_follow import Follower

        yield from Follower(catch_up, messages, options, self._clock).items()


CONNECTOR = SlackLiveConnector()
