"""Variables: a read is a value that no later write changes; a write is whole, whatever comes in between."""

import inspect
import sys
import threading

import numpy as np
import pytest
import torch

import tideflow as tf
from tideflow.runtime import resources
from tideflow.runtime.resources import ResourceManager, Variable, exclusive, owned, storage_uses

OLD, NEW = 1.0, 2.0


def variable(value=OLD, size=4):
    made = Variable("v")
    made.assign(torch.full((size,), value))
    return made


def pointer(made):
    """Where the variable's buffer is; no reference to it is kept."""
    return made.value.data_ptr()


def change(made, method="add_", number=1):
    """A write that, as a kernel, lets go of the buffer when it is done."""
    with made as buffer:
        getattr(buffer, method)(number)


def is_free(made):
    """Whether another thread can take the lock."""
    found = []

    def take():
        found.append(made._lock.acquire(timeout=5))
        made._lock.release()

    thread = threading.Thread(target=take)
    thread.start()
    thread.join()
    return found == [True]


# ---------------------------------------------------------------------------------------- in place, or a copy


def test_a_write_is_in_place_when_nobody_holds_the_value():
    v = variable()
    before = pointer(v)
    change(v)
    assert pointer(v) == before and v.read().tolist() == [2.0] * 4
    v.assign(torch.full((4,), 5.0))
    assert pointer(v) == before and v.read().tolist() == [5.0] * 4


def test_a_write_copies_when_a_reader_holds_the_value():
    v = variable()
    before, held = pointer(v), v.read()
    change(v)
    assert pointer(v) != before
    assert held.tolist() == [1.0] * 4 and v.read().tolist() == [2.0] * 4
    del held
    before = pointer(v)
    change(v)
    assert pointer(v) == before


@pytest.mark.parametrize(
    "view",
    {
        "slice": lambda x: x[1:3],
        "shape": lambda x: x.view(2, 2),
        "detached": lambda x: x.detach(),
        "transposed": lambda x: x.view(2, 2).t(),
        "array": lambda x: x.numpy(),
        "storage": lambda x: torch.from_numpy(x.numpy()[::2]),
    }.values(),
)
def test_a_write_copies_when_a_reader_holds_a_view(view):
    v = variable()
    before, held = pointer(v), view(v.read())
    wanted = np.asarray(held).copy()
    change(v, "mul_", 7)
    assert pointer(v) != before
    np.testing.assert_array_equal(np.asarray(held), wanted)
    assert v.read().tolist() == [7.0] * 4


def test_what_is_assigned_stays_the_givers():
    given = torch.ones(3)
    v = Variable("v")
    v.assign(given)
    given.fill_(9)
    assert v.read().tolist() == [1.0] * 3
    change(v, "fill_", 5)
    assert given.tolist() == [9.0] * 3


def test_assigning_a_variables_own_value_or_a_view_of_it():
    v = variable()
    with v as buffer:
        buffer.copy_(torch.arange(4.0))
    v.assign(v.read())
    assert v.read().tolist() == [0.0, 1.0, 2.0, 3.0]
    v.assign(v.read().flip(0))
    assert v.read().tolist() == [3.0, 2.0, 1.0, 0.0]
    v.assign(v.read()[1:3])
    assert v.read().tolist() == [2.0, 1.0]


def test_another_shape_or_type_takes_new_memory():
    v = variable()
    held = v.read()
    v.assign(torch.zeros(2, 2))
    assert v.read().shape == (2, 2) and held.tolist() == [1.0] * 4
    v.assign(torch.zeros(2, 2, dtype=torch.int32))
    assert v.read().dtype == torch.int32


def test_strings_are_copied_when_held():
    v = Variable("s")
    v.assign(np.array([b"a", b"b"], object))
    held = v.read()
    change(v, "fill", b"z")
    assert held.tolist() == [b"a", b"b"] and v.read().tolist() == [b"z", b"z"]
    del held
    before = id(v.value)
    change(v, "fill", b"y")
    assert id(v.value) == before and v.read().tolist() == [b"y", b"y"]


def test_owned_values_share_nothing():
    tensor, words = torch.ones(2), np.array([b"a"], object)
    assert owned(tensor).data_ptr() != tensor.data_ptr()
    copy = owned(words)
    words[0] = b"z"
    assert copy.tolist() == [b"a"]


def test_storage_uses_count_views():
    x = torch.zeros(4)
    assert storage_uses(x) == resources.SOLE_STORAGE_USE
    view = x[1:]
    assert storage_uses(x) > resources.SOLE_STORAGE_USE
    del view
    assert storage_uses(x) == resources.SOLE_STORAGE_USE


# ------------------------------------------------------------------------------------------ without a value


def test_without_a_value_nothing_is_read_or_written():
    v = Variable("weights")
    assert not v.initialized
    with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized value weights"):
        v.read()
    with pytest.raises(tf.errors.FailedPreconditionError), v:
        raise AssertionError("nobody comes here")
    assert is_free(v)
    v.assign(torch.ones(1))
    assert v.initialized
    v.destroy()
    assert not v.initialized and is_free(v)


def test_a_write_that_fails_leaves_the_variable_usable():
    v = variable()
    with pytest.raises(ZeroDivisionError), v:
        raise ZeroDivisionError
    assert v.read().tolist() == [1.0] * 4 and is_free(v)


def test_reading_while_writing_in_one_thread_is_an_error_that_loses_nothing():
    v = variable()
    with v as buffer:
        buffer.fill_(3)
        with pytest.raises(tf.errors.FailedPreconditionError):
            v.read()
        with pytest.raises(tf.errors.FailedPreconditionError), v:
            raise AssertionError("nobody comes here")
    assert v.read().tolist() == [3.0] * 4 and is_free(v)


# ------------------------------------------------------------------------------------------ several at once


def test_several_buffers_at_once():
    made = [variable(float(k)) for k in range(3)]
    with exclusive(made) as buffers:
        assert [b[0].item() for b in buffers] == [0.0, 1.0, 2.0]
        for buffer in buffers:
            buffer.add_(10)
    assert [v.read()[0].item() for v in made] == [10.0, 11.0, 12.0]
    assert all(is_free(v) for v in made)


def test_one_variable_twice_is_one_buffer():
    v, w = variable(1.0), variable(2.0)
    with exclusive([v, w, v]) as (first, _, second):
        assert first is second
        first.add_(1)
    assert v.read()[0] == 2.0 and is_free(v) and is_free(w)


def test_if_one_has_no_value_the_others_are_as_they_were():
    made = [variable(), Variable("nothing"), variable()]
    with pytest.raises(tf.errors.FailedPreconditionError, match="nothing"), exclusive(made):
        raise AssertionError("nobody comes here")
    assert all(is_free(v) for v in made)
    assert made[0].read().tolist() == made[2].read().tolist() == [1.0] * 4


# ------------------------------------------------------------------------------------------ many threads


def in_threads(*works):
    failures = []

    def guarded(work):
        try:
            work()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(work,), daemon=True) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive(), "a thread waits for a lock that nobody frees"
    assert not failures, failures


def test_no_update_is_lost_between_threads():
    v = variable(0.0)

    def add():
        for _ in range(300):
            change(v)

    in_threads(*[add] * 6)
    assert v.read().tolist() == [1800.0] * 4


def test_no_reader_sees_half_an_update():
    v = variable(0.0, size=20_000)
    torn = []
    done = threading.Event()

    def write():
        try:
            for _ in range(150):
                with v as buffer:
                    buffer[:10_000].add_(1)
                    buffer[10_000:].add_(1)
        finally:
            done.set()

    def read():
        while not done.is_set():
            seen = v.read()
            if seen[0] != seen[-1]:
                torn.append(seen)

    in_threads(write, read, read)
    assert not torn and v.read()[0] == 150.0


def test_what_a_reader_took_does_not_change_while_others_write():
    v = variable(0.0, size=1000)
    changed = []
    done = threading.Event()

    def write():
        try:
            for k in range(200):
                v.assign(torch.full((1000,), float(k)))
        finally:
            done.set()

    def read():
        while not done.is_set():
            seen = v.read()
            first = seen.clone()
            for _ in range(3):
                if not torch.equal(seen, first):
                    changed.append(seen)

    in_threads(write, read)
    assert not changed


def test_writers_of_overlapping_sets_never_wait_in_a_ring():
    made = [variable(0.0) for _ in range(3)]

    def work(order):
        for _ in range(200):
            with exclusive([made[i] for i in order]) as buffers:
                for buffer in buffers:
                    buffer.add_(1)

    in_threads(*[lambda o=o: work(o) for o in ((0, 1, 2), (2, 1, 0), (1, 2), (2, 0))])
    assert [v.read()[0].item() for v in made] == [600.0, 600.0, 800.0]


# ------------------------------------------------------------------------------------------ interrupts


class Interrupt:
    """Raises KeyboardInterrupt before the nth line that runs in the functions of a module."""

    def __init__(self, module, at):
        self.file, self.left = inspect.getfile(module), at

    def __enter__(self):
        sys.settrace(self._calls)

    def __exit__(self, *exc):
        sys.settrace(None)

    def _calls(self, frame, event, arg):
        return self._lines if frame.f_code.co_filename == self.file else None

    def _lines(self, frame, event, arg):
        if event == "line":
            self.left -= 1
            if self.left < 0:
                sys.settrace(None)
                raise KeyboardInterrupt
        return self._lines


def interrupted_everywhere(prepare, act, most=400):
    """Interrupts `act` before each of its lines in turn; gives what it was prepared with, each time."""
    for at in range(most):
        subject = prepare()
        try:
            with Interrupt(resources, at):
                act(subject)
        except KeyboardInterrupt:
            yield subject
        else:
            assert at > 1, "nothing was interrupted"
            return
    raise AssertionError(f"{most} lines were not enough")


def write(v):
    change(v, "fill_", NEW)


WRITES = {
    "with": write,
    "assign": lambda v: v.assign(torch.full((4,), NEW)),
    "assign of another shape": lambda v: v.assign(torch.full((2, 2), NEW)),
    "read": lambda v: v.read(),
    "initialized": lambda v: v.initialized,
}


@pytest.mark.parametrize("held", [False, True], ids=["in place", "copied"])
@pytest.mark.parametrize("name", WRITES)
def test_an_interrupt_at_any_line_leaves_a_whole_value(name, held):
    """As a session does it: whatever was left half done is put back, then the interrupt goes on."""
    holders = []

    def prepare():
        v = variable()
        if held:
            holders.append(v.read())
        return v

    for v in interrupted_everywhere(prepare, WRITES[name]):
        v.put_back()
        assert is_free(v)
        assert set(v.read().flatten().tolist()) in ({OLD}, {NEW})
        write(v)
        assert set(v.read().flatten().tolist()) == {NEW}
    assert all(set(value.tolist()) == {OLD} for value in holders)


def test_an_interrupt_while_entering_leaves_the_variable_as_it_was():
    """No help is needed before a writer has the buffer."""
    for v in interrupted_everywhere(variable, Variable.__enter__):
        assert is_free(v) and v.read().tolist() == [OLD] * 4


def test_an_interrupt_of_many_writers_leaves_every_variable_whole():
    def act(made):
        with exclusive(made) as buffers:
            for buffer in buffers:
                buffer.fill_(NEW)

    for made in interrupted_everywhere(lambda: [variable() for _ in range(3)], act):
        for v in made:
            v.put_back()
            assert is_free(v)
            assert set(v.read().tolist()) in ({OLD}, {NEW})


def test_a_session_puts_back_what_an_interrupt_left():
    with tf.Graph().as_default():
        v = tf.Variable(np.full(4, OLD, np.float32))
        w = tf.Variable(np.full(4, OLD, np.float32), use_resource=True)
        optimizer = tf.train.GradientDescentOptimizer(1.0)
        minus = [(tf.fill([4], OLD - NEW), x) for x in (v, w)]
        steps = {
            "assign": [v.assign(tf.fill([4], NEW)).op, w.assign(tf.fill([4], NEW)).op],
            "grouped": [optimizer.apply_gradients(minus)],
            "scatter": [tf.scatter_update(x, [0, 1, 2, 3], tf.fill([4], NEW)).op for x in (v, w)],
        }
        reads = [v.read_value(), w.read_value()]
        with tf.Session() as session:
            for step in steps.values():
                session.run([v.initializer, w.initializer])
                session.run(step)  # compiled before it is interrupted
                for _ in interrupted_everywhere(
                    lambda: session.run([v.initializer, w.initializer]), lambda _: session.run(step)
                ):
                    in_threads(lambda: session.run(reads))  # another thread can read at once
                    for value in session.run(reads):
                        assert set(value.tolist()) in ({OLD}, {NEW})


def test_put_back_leaves_other_threads_writers_alone():
    v = variable()
    manager = ResourceManager()
    manager.get_or_create("", "variable", "v", lambda: v)
    entered, go_on = threading.Event(), threading.Event()

    def writer():
        with v as buffer:
            entered.set()
            assert go_on.wait(10)
            buffer.fill_(NEW)

    def bystander():
        assert entered.wait(10)
        manager.put_back()
        assert v.value is None  # the writer still has it
        go_on.set()

    in_threads(writer, bystander)
    assert v.read().tolist() == [NEW] * 4


# ------------------------------------------------------------------------------------------ the manager


def test_resources_are_found_by_container_kind_and_name():
    manager = ResourceManager()
    made = manager.get_or_create("a", "variable", "v", lambda: Variable("v"))
    assert manager.get_or_create("a", "variable", "v", lambda: Variable("other")) is made
    assert manager.find("a", "variable", "v") is made
    assert manager.find("b", "variable", "v") is None
    assert manager.find("a", "queue", "v") is None
    assert manager.all("variable") == [made] and manager.all("queue") == []


def test_a_container_is_cleared_alone():
    manager = ResourceManager()
    for container in "ab":
        manager.get_or_create(container, "variable", "v", lambda: Variable("v"))
    manager.clear("a")
    assert manager.find("a", "variable", "v") is None and manager.find("b", "variable", "v") is not None
    manager.clear()
    assert manager.all("variable") == []


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.complex128, torch.bool, torch.int8])
@pytest.mark.parametrize("shape", [(), (0,), (5,), (300, 1001), (1 << 20,)])
def test_a_copy_that_a_thread_of_the_lowest_priority_makes(monkeypatch, dtype, shape):
    monkeypatch.setattr(resources, "runs_last", lambda: True)
    value = (torch.arange(np.prod(shape, dtype=int)) % 100).to(dtype).reshape(shape)
    copy = owned(value)
    assert copy.dtype == dtype and torch.equal(copy, value)
    assert not value.numel() or copy.data_ptr() != value.data_ptr()


def test_threads_that_ask_at_once_get_one_resource():
    manager = ResourceManager()
    found = []
    barrier = threading.Barrier(6, timeout=10)

    def ask():
        barrier.wait()
        found.append(manager.get_or_create("", "variable", "v", lambda: Variable("v")))

    in_threads(*[ask] * 6)
    assert len({id(v) for v in found}) == 1
