"""Listeners and peers, over loopback: calls, posted messages, timeouts, tasks that are killed."""

import gc
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import torch

from tests.cluster.clusters import free_addresses
from tests.cluster.kinds import KINDS, Echo, Later, Ok, Ones, Push, Sums, Wait
from tests.patience import eventually
from tideflow.cluster import keys, shared_memory, sockets
from tideflow.cluster.messages import Failure, GetDevices, TensorsAhead
from tideflow.cluster.transport import Identity, Listener, Peer, attend, gather
from tideflow.graph.errors import (
    AbortedError,
    CancelledError,
    DeadlineExceededError,
    FailedPreconditionError,
    InternalError,
    InvalidArgumentError,
    ResourceExhaustedError,
    UnavailableError,
    UnknownError,
)
from tideflow.runtime.waiting import StepContext
from tideflow.runtime.wake_events import WakeEvent

SOON = 30.0  # seconds within which an answer must come


@pytest.fixture
def started():
    """Makes listeners and peers that end with the test."""
    made = []

    def start(make, *arguments, **options):
        if make in (Listener, Peer):
            options["kinds"] = KINDS
        made.append(make(*arguments, **options))
        return made[-1]

    yield start
    for one in reversed(made):
        one.close()


@pytest.fixture
def pair(started):
    """A listener with this `handle`, and a peer of it."""

    def make(handle, key=None, **options):
        listener = started(Listener, "127.0.0.1:0", handle, key=key, **options)
        return listener, started(Peer, listener.address, key=key)

    return make


def echo(message, reply, sender=None):
    reply(Ok(message.fields, tensors=message.tensors))


class Task:
    """A task in a process of its own."""

    def __init__(self, address):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.cluster.echo", address],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[2],
        )
        assert self.process.stdout.readline() == "ready\n"

    def kill(self):
        self.process.kill()
        self.process.wait()

    def close(self):
        with self.process:
            self.process.stdin.close()
            self.process.wait()


# ----------------------------------------------------------------------------------------------------- calls


@pytest.mark.parametrize("key", [None, keys.generate()], ids=["open", "keyed"])
def test_a_call(pair, key):
    _, peer = pair(echo, key)
    small, large, shared = torch.arange(5), torch.arange(100_000.0), torch.arange(500_000.0)
    answer = peer.call(Echo({"a": 1}, tensors=[small, None, large, shared]), Ok, SOON)
    assert answer.fields == {"a": 1} and answer.tensors.pop(1) is None
    for sent, received in zip((small, large, shared), answer.tensors, strict=True):
        assert torch.equal(sent, received)


def test_without_shared_memory(pair, monkeypatch):
    monkeypatch.setattr(shared_memory, "reaches", lambda host: False)
    _, peer = pair(echo)
    sent = torch.arange(1_000_000.0)
    answer = peer.call(Echo(tensors=[sent]), Ok, SOON)
    assert torch.equal(answer.tensors[0], sent) and not peer._idle[0].remote.shares_memory


def test_compression(pair):
    seen = []

    def note(message, reply, sender=None):
        seen.extend(message.tensors)
        reply(Ok(tensors=message.tensors), compress=True)

    _, peer = pair(note)
    sent = torch.rand(50_000)
    received = peer.call(Echo(tensors=[sent]), Ok, SOON, compress=True).tensors[0]
    assert torch.equal(received, seen[0]) and torch.allclose(received, sent, rtol=2**-7)
    assert not torch.equal(received, sent)


def test_an_answer_from_another_thread(pair):
    _, peer = pair(
        lambda message, reply, sender: threading.Thread(target=echo, args=(message, reply)).start()
    )
    for i in range(20):
        assert peer.call(Echo({"i": i}), Ok, SOON).fields == {"i": i}


def test_calls_from_many_threads(pair):
    _, peer = pair(
        lambda message, reply, sender: threading.Thread(target=echo, args=(message, reply)).start()
    )
    wrong = []

    def ask(thread):
        for i in range(20):
            if peer.call(Echo({"sender": [thread, i]}), Ok, SOON).fields["sender"] != [thread, i]:
                wrong.append((thread, i))

    threads = [threading.Thread(target=ask, args=(i,)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and len(peer._idle) <= 6


def test_the_error_of_the_other_side(pair):
    def fail(message, reply, sender=None):
        raise FailedPreconditionError(None, None, "not initialized")

    _, peer = pair(fail)
    for _ in range(2):  # an error breaks no connection
        with pytest.raises(FailedPreconditionError, match="not initialized"):
            peer.call(Echo(), Ok, SOON)
    assert len(peer._idle) == 1


def test_an_answer_of_another_kind_is_an_error(pair):
    _, peer = pair(lambda message, reply, sender: reply(message))
    with pytest.raises(InvalidArgumentError, match="answered with 'echo', not with 'ok'"):
        peer.call(Echo(), Ok, SOON)


def test_a_message_of_a_kind_that_the_other_side_does_not_take_is_an_error(pair):
    _, peer = pair(echo)
    with pytest.raises(InvalidArgumentError, match="There is no kind of message 'get_devices'"):
        peer.call(GetDevices(), Ok, SOON)


def test_an_answer_that_cannot_be_sent_is_an_error(pair):
    _, peer = pair(lambda message, reply, sender: reply(Ok(tensors=["a handle"])))
    with pytest.raises(InvalidArgumentError, match="cannot leave its task"):
        peer.call(Echo(), Ok, SOON)


def test_a_request_that_cannot_be_sent_is_an_error(pair):
    _, peer = pair(echo)
    with pytest.raises(InvalidArgumentError, match="not JSON"):
        peer.call(Echo({"x": object()}), Ok, SOON)
    peer.call(Echo(), Ok, SOON)


def test_a_request_is_answered_once(pair):
    failures = []

    def twice(message, reply, sender=None):
        echo(message, reply)
        try:
            echo(message, reply)
        except Exception as error:
            failures.append(str(error))

    _, peer = pair(twice)
    peer.call(Echo(), Ok, SOON)
    peer.call(Echo(), Ok, SOON)
    assert "answered twice" in failures[0]


def test_a_request_that_is_dropped_is_an_error(pair):
    _, peer = pair(lambda message, reply, sender: None, max_pending=1)
    for _ in range(3):
        with pytest.raises(InternalError, match="dropped without an answer"):
            peer.call(Echo(), Ok, SOON)


def test_gather_fans_out(started):
    listeners = [started(Listener, "127.0.0.1:0", echo) for _ in range(3)]
    peers = [started(Peer, listener.address) for listener in listeners]
    pending = [peer.start(Echo({"i": i})) for i, peer in enumerate(peers)]
    assert [answer.fields["i"] for answer in gather(pending, SOON)] == [0, 1, 2]


def test_the_first_failure_ends_a_gather(started):
    def refuse(message, reply, sender=None):
        raise InvalidArgumentError(None, None, "no")

    silent = started(Peer, started(Listener, "127.0.0.1:0", silence).address)
    failing = started(Peer, started(Listener, "127.0.0.1:0", refuse).address)
    pending = [silent.start(Wait()), failing.start(Echo())]
    with pytest.raises(InvalidArgumentError, match="no"):
        gather(pending, SOON)
    with pytest.raises(CancelledError, match="'wait' was given up"):
        pending[0].result(SOON)


# ----------------------------------------------------------------------------------------------------- waits


def silence(message, reply, sender=None, held=[]):  # noqa: B006
    """Never answers. It holds the reply: one that is dropped is answered with an error."""
    held.append(reply)


def test_a_call_has_a_timeout(pair):
    _, peer = pair(silence)
    peer.connect(SOON)
    with pytest.raises(DeadlineExceededError, match=f"{peer.address}: 'wait'.* 0.1 s"):
        peer.call(Wait(), Ok, timeout=0.1)


def test_the_step_has_a_deadline(pair):
    _, peer = pair(silence)
    with pytest.raises(DeadlineExceededError):
        peer.call(Wait(), Ok, timeout=SOON, context=StepContext(0.1))
    with pytest.raises(DeadlineExceededError):
        peer.call(Wait(), Ok, context=StepContext(0.1))


def test_a_step_can_be_cancelled_while_it_waits(pair):
    step = StepContext()

    def cancel(message, reply, sender=None):
        silence(message, reply)
        step.cancel()

    _, peer = pair(cancel)
    with pytest.raises(CancelledError, match="'wait'"):
        peer.call(Wait(), Ok, SOON, step)
    with pytest.raises(CancelledError):
        peer.call(Wait(), Ok, SOON, step.inner())


def test_a_late_answer_is_not_taken_for_another(pair):
    replies = []

    def late(message, reply, sender=None):
        replies.append(reply)
        if type(message) is Echo:
            for one in replies:
                one(Ok({"answers": "the second" if one is reply else "the first"}))

    _, peer = pair(late)
    with pytest.raises(DeadlineExceededError):
        peer.call(Wait(), Ok, timeout=0.1)
    assert peer.call(Echo(), Ok, SOON).fields == {"answers": "the second"}


def test_waiting_until_a_task_answers(started):
    (address,) = free_addresses(1)
    peer = started(Peer, address)
    with pytest.raises(UnavailableError, match="cannot be reached"):
        peer.call(Echo(), Ok, SOON)
    with pytest.raises(DeadlineExceededError, match=f"The task at {address}"):
        peer.connect(timeout=0.2)
    timer = threading.Timer(0.1, lambda: started(Listener, address, echo))
    timer.start()
    peer.connect(SOON)
    timer.join()
    peer.call(Echo(), Ok, SOON)


def test_closing_a_peer_wakes_the_threads_that_wait(pair, monkeypatch):
    monkeypatch.setattr(sockets, "POSTED_MESSAGES", 1)
    go = threading.Event()
    _, peer = pair(lambda message, reply, sender: go.wait(SOON) and None)
    pending = peer.start(Wait())
    ends = []

    def wait(what):
        try:
            what()
        except Exception as error:
            ends.append(type(error))

    def post_forever():
        while True:
            peer.post(Push())

    threads = [threading.Thread(target=wait, args=(what,)) for what in (pending.result, post_forever)]
    for thread in threads:
        thread.start()
    timer = threading.Timer(0.2, peer.close)
    timer.start()
    for thread in [*threads, timer]:
        thread.join()
    go.set()
    assert ends == [CancelledError, CancelledError]


def test_a_closed_peer(pair):
    _, peer = pair(echo)
    peer.call(Echo(), Ok, SOON)
    peer.close()
    with pytest.raises(CancelledError, match="closed"):
        peer.call(Echo(), Ok, SOON)


# ----------------------------------------------------------------------------------------------------- posts


def test_posts_arrive_in_order(pair):
    seen, done = [], threading.Event()

    def note(message, reply, sender=None):
        assert reply is None
        seen.append(message.fields["i"])
        if len(seen) == 300:
            done.set()

    _, peer = pair(note)
    for i in range(300):
        peer.post(Push({"i": i}, tensors=[torch.ones(3)]))
    assert done.wait(SOON) and seen == list(range(300))


def test_a_sender_that_is_faster_than_the_reader_waits(pair, monkeypatch):
    monkeypatch.setattr(sockets, "POSTED_BYTES", 1 << 20)
    go, done, seen = threading.Event(), threading.Event(), []

    def slow(message, reply, sender=None):
        go.wait(SOON)
        seen.append(message.fields["i"])
        if len(seen) == 20:
            done.set()

    _, peer = pair(slow)

    def push(i, seconds=SOON):
        peer.post(Push({"i": i}, tensors=[torch.ones(1 << 16)]), StepContext(seconds))

    for i in range(4):
        push(i)
    with pytest.raises(DeadlineExceededError, match="'push'"):
        push(4, 0.1)  # four of 256 KB fill the window
    go.set()
    for i in range(4, 20):
        push(i)
    assert done.wait(SOON) and seen == list(range(20))


def test_the_failure_of_one_posted_message_does_not_stop_the_next(pair, caplog):
    done = threading.Event()

    def fail(message, reply, sender=None):
        if message.fields:
            done.set()
        else:
            raise ValueError("no such key")

    _, peer = pair(fail)
    peer.post(Push())
    peer.post(Push({"good": True}))
    assert done.wait(SOON) and "no such key" in caplog.text


# ------------------------------------------------------------------------------------------------- greetings


def test_the_wrong_task(started):
    listener = started(Listener, "127.0.0.1:0", echo, identity=Identity("/job:ps/task:0"))
    peer = started(Peer, listener.address, task="/job:ps/task:1")
    with pytest.raises(
        InvalidArgumentError, match="This is /job:ps/task:0; the greeting is for /job:ps/task:1"
    ):
        peer.call(Echo(), Ok, SOON)


def test_clusters_that_differ(started):
    listener = started(
        Listener, "127.0.0.1:0", echo, identity=Identity("/job:ps", {"/job:ps": "127.0.0.1:1"})
    )
    peer = started(Peer, listener.address, me=Identity("/job:worker", {"/job:ps": "127.0.0.1:2"}))
    with pytest.raises(
        FailedPreconditionError,
        match=r"for /job:ps, /job:ps is at 127.0.0.1:1, for /job:worker at 127.0.0.1:2",
    ):
        peer.call(Echo(), Ok, SOON)


def test_a_restart_is_noticed(started):
    (address,) = free_addresses(1)
    first = Listener(address, silence, kinds=KINDS)
    peer = started(Peer, address)
    waits = peer.start(Wait())
    old = peer.incarnation
    assert old == first.identity.incarnation
    first.close()
    second = started(Listener, address, echo)
    peer.call(Echo(), Ok, SOON)
    assert peer.incarnation == second.identity.incarnation != old
    with pytest.raises(AbortedError, match="was restarted"):
        waits.result(SOON)
    with pytest.raises(AbortedError, match=f"its life {old:x} is over"):
        peer.call(Echo(), Ok, SOON, incarnation=old)
    with pytest.raises(AbortedError, match="was restarted"):
        peer.post(Push(), incarnation=old)
    peer.call(Echo(), Ok, SOON, incarnation=peer.incarnation)


# ------------------------------------------------------------------------------------------------- addresses


def test_two_servers_on_one_port(started):
    listener = started(Listener, "127.0.0.1:0", echo)
    with pytest.raises(
        UnknownError, match=f"Could not start a server at {listener.address}: Address already"
    ):
        Listener(listener.address, echo)


@pytest.mark.parametrize(
    "address", ["", "localhost", "localhost:", "localhost:http", "localhost:65536", ":-1"]
)
def test_no_address(address):
    for make in (Peer, lambda address: Listener(address, echo)):
        with pytest.raises(InvalidArgumentError, match="An address is host:port"):
            make(address)


def test_off_loopback_a_key_is_needed(started):
    for address in ("0.0.0.0:0", "*:0"):
        with pytest.raises(FailedPreconditionError, match="tideflow keygen"):
            Listener(address, echo)
        started(Listener, address, echo, key=keys.generate())
        started(Listener, address, echo, insecure=True)
    with pytest.raises(FailedPreconditionError, match="tideflow keygen"):
        started(Peer, "192.0.2.1:2222").call(Echo(), Ok, SOON)


def test_names_of_loopback(started):
    for address in ("localhost:0", ":0"):
        listener = started(Listener, address, echo)
        peer = started(Peer, f"localhost:{listener.port}")
        peer.call(Echo(), Ok, SOON)


def test_an_unknown_host(started):
    with pytest.raises(UnavailableError, match=r"The host of 'no-such-host.invalid:1' is not known"):
        started(Peer, "no-such-host.invalid:1").call(Echo(), Ok, SOON)


# ------------------------------------------------------------------------------------------- other processes


def test_a_task_in_another_process(started):
    """Several checks with one process, because starting one takes seconds."""
    (address,) = free_addresses(1)
    task = started(Task, address)
    peer = started(Peer, address, task="/job:ps/task:0")
    peer.connect(SOON)
    assert peer._idle[0].remote.shares_memory

    count = 2 * shared_memory.WORTH_BYTES // 4
    mapped = lambda: [name for name in shared_memory.mappings()._mapped if name[0] == task.process.pid]
    answers = [peer.call(Ones({"count": count}), Ok, SOON).tensors[0] for _ in range(2)]
    assert all(float(answer.sum()) == count for answer in answers)
    assert len(mapped()) == 2
    del answers
    gc.collect()
    again = peer.call(Ones({"count": count}), Ok, SOON).tensors[0]
    assert len(mapped()) == 2  # a segment that was freed is used again
    sums = peer.call(Sums(tensors=[again * 3, torch.ones(5)]), Ok, SOON).fields["sums"]
    assert sums == [3.0 * count, 5.0]
    assert peer.call(Later({"x": 1}), Later, SOON).fields == {"x": 1}

    waits = [peer.start(Wait()) for _ in range(3)]
    peer.post(Push())
    task.kill()
    for wait in waits:
        with pytest.raises(UnavailableError, match=r"/job:ps/task:0 at .*'wait'.* is gone"):
            wait.result(SOON)
    with pytest.raises(UnavailableError, match="cannot be reached"):
        peer.call(Echo(), Ok, SOON)
    with pytest.raises(UnavailableError, match="cannot be reached"):
        peer.post(Push())
    assert float(again.sum()) == count  # memory that the killed task lent stays

    reborn = started(Task, address)
    old = peer.incarnation
    peer.connect(SOON)
    peer.post(Push())
    peer.call(Echo(), Echo, SOON)
    assert peer.incarnation not in (0, old)
    reborn.kill()


def test_too_many_requests_at_once(started):
    listener = started(Listener, "127.0.0.1:0", silence, max_pending=2)
    peer = started(Peer, listener.address)
    connection, _ = peer._borrow(StepContext())
    requests = [connection.send(Wait()) for _ in range(3)]
    answer = connection.take(requests[2], sockets.poll(connection.polled, int(1000 * SOON)), "wait")
    connection.close(linger=0)
    assert type(answer) is Failure and answer.code == ResourceExhaustedError.code


# ------------------------------------------------------------------------------------------ beside a request


def test_messages_ahead_of_an_answer_are_taken_in_order(pair):
    def handle(message, reply, sender=None):
        for count in range(3):
            reply.ahead(TensorsAhead(keys=[str(count)], tensors=[torch.tensor(count)]))
        reply(Ok({"count": 3}))

    _, peer = pair(handle)
    taken = []
    pending = peer.start(Echo(), on_message=taken.append)
    assert pending.result(SOON).fields == {"count": 3}
    assert [int(message.tensors[0]) for message in taken[:3]] == [0, 1, 2]
    assert [type(message) for message in taken] == [TensorsAhead] * 3 + [Ok]
    peer.call(Echo(), Ok, SOON)  # the connection can be used again


def test_a_message_added_to_a_request_arrives_behind_it(pair):
    added, replies = [], []

    def handle(message, reply, sender=None):
        if reply is not None:
            replies.append(reply)
            return
        added.append(message.fields["count"])
        if len(added) == 3:
            replies.pop()(Ok())

    _, peer = pair(handle)
    pending = peer.start(Echo())
    for count in range(3):
        pending.add(Push({"count": count}))
    assert pending.result(SOON) and added == [0, 1, 2]
    with pytest.raises(CancelledError, match="'echo' is over"):
        pending.add(Push({"count": 3}))


def test_a_wake_event_ends_the_wait_for_answers(pair):
    _, peer = pair(lambda message, reply, sender: replies.append(reply))
    replies, wake_event = [], WakeEvent()
    pending = peer.start(Echo())
    wake_event.set()
    attend([pending], wake_event, SOON)
    assert not wake_event.wait(0)
    while not replies:
        attend([pending], wake_event, 0.01)
    replies.pop()(Ok())
    attend([pending], wake_event, SOON)
    assert pending.result(SOON)


def test_try_post_does_not_wait(pair):
    taken, let_go = [], threading.Event()

    def handle(message, reply, sender=None):
        if message.fields == {"number": "first"}:
            let_go.wait(SOON)
        taken.append(message.fields["number"])

    _, peer = pair(handle)
    assert not peer.try_post(Push())  # there is no connection to post on
    peer.post(Push({"number": "first"}))
    while peer.try_post(Push({"number": "next"})):  # until too many are under way
        pass
    let_go.set()
    peer.post(Push({"number": "last"}))
    eventually(lambda: taken[-1:] == ["last"], SOON)
    assert taken[0] == "first" and set(taken[1:-1]) == {"next"}
