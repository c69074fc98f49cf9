"""Two homes on one Redis, and homes of any name: nobody takes another's messages."""

from __future__ import annotations

import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from api.backup import back_up, restore
from context_engine.home import Home
from context_engine.home_id import home_id
from context_engine.settings import Settings
from support.engine import wait_until
from workers import embedded_broker as embedded
from workers.broker import make_broker, make_client, namespace, queue_depths, socket_path
from workers.healthy import role_lives
from workers.liveness import WorkerLease
from workers.outbox import Outbox
from workers.outbox_model import NewJob
from workers.relay import Relay


def sharing(root: Path, redis_home: Home) -> tuple[Settings, Relay]:
    home = Home(root)
    home.create()
    settings = Settings(home=root, redis_url=f"unix://{socket_path(redis_home)}")
    outbox = Outbox(home.outbox)
    outbox.add([NewJob("ingest", "ingest:same-key", {}, "lane")])
    return settings, Relay(settings, outbox, make_broker(settings))


def test_two_homes_on_one_redis_do_not_see_each_other(
    embedded_broker: Home, tmp_path: Path
) -> None:
    one, relay_of_one = sharing(tmp_path / "one", embedded_broker)
    other, relay_of_other = sharing(tmp_path / "other", embedded_broker)
    client = make_client(one)
    assert relay_of_one.publish("ingest") == 1
    assert queue_depths(client, namespace(one))["ingest"] == 1
    assert queue_depths(client, namespace(other))["ingest"] == 0
    # and neither takes the other's marks for those of a Redis that was wiped
    relay_of_one.reconcile()
    relay_of_other.reconcile()
    generation = f"{namespace(one)}:generation"
    before = client.get(generation)
    relay_of_one.reconcile()
    assert client.get(generation) == before
    client.close()


def test_all_processes_of_a_home_agree_on_its_name(tmp_path: Path) -> None:
    with ThreadPoolExecutor(16) as pool:
        names = set(pool.map(home_id, [tmp_path] * 64))
    assert len(names) == 1
    assert [path.name for path in tmp_path.iterdir()] == [".id"]


def test_a_restored_home_has_a_name_of_its_own(home: Home, tmp_path: Path) -> None:
    first = home_id(home.root)
    restore(back_up(home, tmp_path / "b").archive, tmp_path / "copy")
    assert home_id(tmp_path / "copy") != first


def test_an_explicit_namespace_is_used_as_it_is(home: Home) -> None:
    settings = Settings(home=home.root, redis_url="redis://x", redis_namespace="team:aki")
    assert namespace(settings) == "team:aki"


@pytest.mark.parametrize(
    "name",
    ['quo"te', "line\nmaxmemory-policy allkeys-lru\n#", "back\\slash", "ホーム 日本語", "a'b"],
)
def test_a_broker_starts_in_a_home_of_any_name(tmp_path: Path, name: str) -> None:
    home = Home(tmp_path / name)
    home.create()
    process = subprocess.Popen(embedded.prepare(home), stdout=subprocess.DEVNULL)
    try:
        wait_until(lambda: embedded.is_ready(home), 20)
        client = make_client(Settings(home=home.root))
        assert client.config_get("dir")["dir"] == str(home.broker)
        assert client.config_get("maxmemory-policy")["maxmemory-policy"] == "noeviction"
        client.close()
    finally:
        process.terminate()
        process.wait(timeout=10)


def test_a_container_is_well_as_long_as_its_worker_lives(embedded_broker: Home) -> None:
    settings = Settings(home=embedded_broker.root)
    assert not role_lives(settings, "worker")
    lease = WorkerLease(settings.paths.state / "workers", "worker")
    assert role_lives(settings, "worker")
    assert not role_lives(settings, "extractor")
    lease.release()
    assert not role_lives(settings, "worker")
