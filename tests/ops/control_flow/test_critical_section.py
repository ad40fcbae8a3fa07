"""Critical sections: however many steps run at once, one at a time is inside."""

import threading

import pytest

import tideflow as tf
from tideflow.runtime.waiting import StepContext

EXECUTORS = pytest.mark.parametrize("executor", ["", "TOKENS"], ids=["plan", "tokens"])


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def opened(executor=""):
    return tf.Session(config=tf.ConfigProto(experimental=tf.ConfigProto.Experimental(executor_type=executor)))


def doubled_and_more(v):
    """A read and a write that two steps must not do in between each other."""
    old = v.read_value()
    with tf.control_dependencies([old]):
        return tf.identity(v.assign(old + 1.0, read_value=True))


@EXECUTORS
def test_no_update_of_many_threads_is_lost(executor):
    v = tf.get_variable("v", initializer=0.0, use_resource=True)
    update = tf.CriticalSection().execute(lambda: doubled_and_more(v))
    with opened(executor) as session:
        session.run(v.initializer)
        threads = [
            threading.Thread(target=lambda: [session.run(update) for _ in range(50)]) for _ in range(6)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert session.run(v) == 300.0


@EXECUTORS
def test_one_at_a_time_is_inside(executor):
    here, most = [0], [0]

    def enter():
        here[0] += 1
        most[0] = max(most[0], here[0])
        return 0

    def leave(_):
        here[0] -= 1
        return 0

    section = tf.CriticalSection()
    inside = section.execute(lambda: tf.py_func(leave, [tf.py_func(enter, [], tf.int64)], tf.int64))
    with opened(executor) as session:
        threads = [
            threading.Thread(target=lambda: [session.run(inside) for _ in range(20)]) for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    assert (here, most) == ([0], [1])


def test_a_read_inside_is_not_the_read_before():
    """What was read before the lock is old by the time the lock is there."""
    v = tf.get_variable("v", initializer=1.0, use_resource=True)
    before = v.read_value()
    with tf.control_dependencies([before]):
        inside = tf.CriticalSection().execute(lambda: v.read_value() * 1.0)
    with tf.Session() as session:
        session.run(v.initializer)
        plan = session.explain([before, inside])
    assert plan.count("ReadVariableOp") >= 2


@EXECUTORS
def test_two_executions_in_one_step(executor):
    v = tf.get_variable("v", initializer=0.0, use_resource=True)
    section = tf.CriticalSection()
    updates = [section.execute(lambda: doubled_and_more(v)) for _ in range(4)]
    with opened(executor) as session:
        session.run(v.initializer)
        assert sorted(session.run(updates)) == [1.0, 2.0, 3.0, 4.0]


@EXECUTORS
def test_in_a_loop_and_in_a_branch(executor):
    v = tf.get_variable("v", initializer=0.0, use_resource=True)
    section, p = tf.CriticalSection(), tf.placeholder(tf.bool, [])

    def body(i, total):
        return i + 1, total + tf.cond(p, lambda: section.execute(lambda: doubled_and_more(v)), lambda: 10.0)

    total = tf.while_loop(lambda i, _: i < 3, body, [0, 0.0])[1]
    with opened(executor) as session:
        session.run(v.initializer)
        assert session.run(total, {p: True}) == 1.0 + 2.0 + 3.0
        assert session.run(total, {p: False}) == 30.0


@EXECUTORS
def test_a_step_that_fails_inside_leaves(executor):
    """Also while somebody still holds the error."""
    p = tf.placeholder(tf.bool, [])
    section = tf.CriticalSection()

    def checked():
        with tf.control_dependencies([tf.Assert(p, ["no"])]):
            return tf.constant(1.0)

    y = section.execute(checked)
    with opened(executor) as session:
        for _ in range(2):
            with pytest.raises(tf.errors.InvalidArgumentError) as kept:
                session.run(y, {p: False})
            assert session.run(y, {p: True}, options=tf.RunOptions(timeout_in_ms=20_000)) == 1.0
            assert kept.value is not None


@EXECUTORS
def test_closing_the_session_wakes_those_who_wait(executor, monkeypatch):
    inside, leave, waits = threading.Event(), threading.Event(), threading.Event()
    original = StepContext.wait

    def noted(context, condition, ready, closed, what):
        if not ready():
            waits.set()
        original(context, condition, ready, closed, what)

    monkeypatch.setattr(StepContext, "wait", noted)

    def wait():
        inside.set()
        leave.wait(30)
        return 0

    section = tf.CriticalSection()
    first = section.execute(lambda: tf.py_func(wait, [], tf.int64))
    second = section.execute(lambda: tf.constant(1))
    session, errors = opened(executor), []

    def run(fetch):
        try:
            session.run(fetch)
        except tf.errors.OpError as error:
            errors.append(type(error))

    threads = [threading.Thread(target=run, args=[first]), threading.Thread(target=run, args=[second])]
    threads[0].start()
    assert inside.wait(30)
    threads[1].start()
    assert waits.wait(30)
    session.close()
    threads[1].join(30)
    assert not threads[1].is_alive()
    assert errors[0] is tf.errors.CancelledError
    leave.set()
    threads[0].join(30)
    assert not threads[0].is_alive()


def test_waiting_ends_with_the_runs_time():
    inside, leave = threading.Event(), threading.Event()

    def wait():
        inside.set()
        leave.wait(30)
        return 0

    section = tf.CriticalSection(name="door")
    first = section.execute(lambda: tf.py_func(wait, [], tf.int64))
    second = section.execute(lambda: tf.constant(1))
    with tf.Session() as session:
        thread = threading.Thread(target=session.run, args=[first])
        thread.start()
        assert inside.wait(30)
        with pytest.raises(tf.errors.DeadlineExceededError, match="door"):
            session.run(second, options=tf.RunOptions(timeout_in_ms=50))
        leave.set()
        thread.join(30)
        assert session.run(second) == 1


def test_a_section_inside_itself_is_refused():
    section = tf.CriticalSection()
    with pytest.raises(ValueError, match="deadlock"):
        section.execute(lambda: section.execute(lambda: tf.constant(1)))


def test_one_resource_in_two_sections_is_refused():
    v = tf.get_variable("v", initializer=0.0, use_resource=True)
    one, other = tf.CriticalSection(), tf.CriticalSection()
    one.execute(lambda: v.read_value())
    with pytest.raises(ValueError, match="exclusive_resource_access"):
        other.execute(lambda: v.read_value())
    with pytest.raises(ValueError, match="exclusive_resource_access"):
        other.execute(lambda: v.read_value(), exclusive_resource_access=False)


def test_one_resource_in_two_sections_that_allow_it():
    v = tf.get_variable("v", initializer=2.0, use_resource=True)
    made = [
        tf.CriticalSection().execute(lambda: v.read_value(), exclusive_resource_access=False)
        for _ in range(2)
    ]
    with tf.Session() as session:
        session.run(v.initializer)
        assert session.run(made) == [2.0, 2.0]


def test_sections_with_one_shared_name_are_one():
    v = tf.get_variable("v", initializer=2.0, use_resource=True)
    for _ in range(2):
        tf.CriticalSection(shared_name="s").execute(lambda: v.read_value())
    assert {
        op.get_attr("shared_name") for op in tf.get_default_graph().get_operations() if op.type == "MutexV2"
    } == {b"s"}


def test_structures_and_operations_come_back():
    section = tf.CriticalSection()
    made = section.execute(lambda: {"a": tf.constant(1), "b": [tf.no_op(), tf.constant(2.0)]})
    with tf.Session() as session:
        assert session.run(made) == {"a": 1, "b": [None, 2.0]}
