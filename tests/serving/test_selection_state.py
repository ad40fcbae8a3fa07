"""States outlive the server, in SQLite or behind Redis' protocol; a store that fails stops nobody."""

import asyncio
import socketserver
import threading

import pytest

from tideflow.graph import errors
from tideflow.serving import selection_state
from tideflow.serving.selection_state import States, check_store, open_store


class _FakeRedis(socketserver.StreamRequestHandler):
    """GET, SET, DEL, AUTH and SELECT, as Redis answers them."""

    def handle(self):
        while line := self.rfile.readline():
            words = []
            for _ in range(int(line[1:])):
                size = int(self.rfile.readline()[1:])
                words.append(self.rfile.read(size + 2)[:-2])
            self.wfile.write(self.answer(*words))

    def answer(self, command, *words):
        values = self.server.values
        if command == b"AUTH":
            return b"+OK\r\n" if words == (b"secret word",) else b"-WRONGPASS no\r\n"
        if command == b"GET":
            value = values.get(words[0])
            return b"$-1\r\n" if value is None else b"$%d\r\n%s\r\n" % (len(value), value)
        if command == b"SET":
            values[words[0]] = words[1]
        elif command == b"DEL":
            return b":%d\r\n" % (values.pop(words[0], None) is not None)
        return b"+OK\r\n"


@pytest.fixture
def redis():
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), _FakeRedis) as server:
        server.daemon_threads = True
        server.values = {}
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


async def get(states, *key):
    found = asyncio.get_running_loop().create_future()
    states.get(key, found.set_result)
    return await asyncio.wait_for(found, 120)


def test_a_file_and_a_server_keep_states(tmp_path, redis):
    async def first(url):
        states = States(url)
        assert await get(states, "app", "user 1") is None
        for count in range(100):
            states.put(("app", "user 1"), {"count": count})
        states.put(("app", "gone"), {"count": 1})
        states.put(("app", "gone"), None)
        assert await get(states, "app", "user 1") == {"count": 99}
        states.close()

    async def second(url):
        states = States(url)
        assert await get(states, "app", "user 1") == {"count": 99}
        assert await get(states, "app", "gone") is None
        states.close()

    port = redis.server_address[1]
    urls = [str(tmp_path / "a"), f"sqlite://{tmp_path}/b", f"redis://:secret%20word@127.0.0.1:{port}/3"]
    for url in urls:
        asyncio.run(first(url))
        asyncio.run(second(url))
    assert redis.values == {b"tideflow:app:user 1": b'{"count":99}'}


def test_a_state_that_was_pushed_out_of_memory_is_read_again(tmp_path, monkeypatch):
    monkeypatch.setattr(selection_state, "KEPT_STATES", 3)

    async def main():
        states = States(str(tmp_path / "states"))
        for user in range(20):
            states.put(("app", str(user)), {"user": user})
        found = await asyncio.gather(*(get(states, "app", str(user)) for user in range(20)))
        assert found == [{"user": user} for user in range(20)]
        states.close()

    asyncio.run(main())


def test_a_store_that_cannot_be_reached_stops_nobody(redis, caplog):
    async def main():
        states = States(f"redis://:wrong@127.0.0.1:{redis.server_address[1]}")
        assert await get(states, "app", "u") is None
        states.put(("app", "u"), {"count": 1})
        assert await get(states, "app", "u") == {"count": 1}
        states.close()

    asyncio.run(main())
    assert "selection states cannot be read or written: the Redis server says: WRONGPASS no" in caplog.text


class Failing:
    """A store that cannot be read at first."""

    def __init__(self):
        self.values, self.fails = {("app", "u"): b'{"count":9}'}, True

    def read(self, key):
        if self.fails:
            raise OSError("not now")
        return self.values.get(key)

    def write(self, values):
        self.values.update(values)

    def close(self):
        pass


def test_what_could_not_be_read_is_not_overwritten(monkeypatch, caplog):
    store = Failing()
    monkeypatch.setattr(selection_state, "open_store", lambda url: lambda: store)

    async def main():
        states = States()
        for _ in range(3):
            assert await get(states, "app", "u") is None
        states.put(("app", "u"), {"count": 1})
        assert await get(states, "app", "u") == {"count": 1}
        store.fails = False
        states.put(("app", "v"), {"count": 2})
        states.close()

    with pytest.raises(errors.UnavailableError, match="that --state_url names cannot be used: not now"):
        check_store("")
    asyncio.run(main())
    assert store.values == {("app", "u"): b'{"count":9}', ("app", "v"): b'{"count":2}'}
    assert caplog.text.count("not now") == 1


def test_a_file_that_cannot_be_there_is_refused(tmp_path):
    check_store(str(tmp_path / "states"))
    with pytest.raises(errors.UnavailableError, match="unable to open database file"):
        check_store(str(tmp_path / "none" / "states"))


def test_other_urls_are_refused():
    with pytest.raises(errors.InvalidArgumentError, match="sqlite:///path or redis://"):
        open_store("http://example.com")
