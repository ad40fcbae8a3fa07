"""Interrupts at every place where Python can handle a signal, and at random instants, in what programs do.

    python -m tests.runtime.interrupts [--seconds S | --few N] [--seed N] [KIND ...]

Each kind prepares something, acts, and is then checked: nothing hangs, its state is whole, and it can go on.
A sweep interrupts the act at its first place, then at its second, and so on, until it ends by itself. The
places are those at which CPython handles signals: after a call, at the start of a function, at a backward
jump. After the sweeps come real signals of a timer, at random microseconds. A hang prints all stacks and ends
the program.
"""

from __future__ import annotations

import argparse
import contextlib
import dis
import faulthandler
import functools
import itertools
import os
import random
import signal
import sys
import tempfile
import threading
import time
from collections import Counter

import numpy as np

import tideflow as tf
from tests.runtime.interrupted_eager import EAGER_KINDS
from tests.runtime.interrupted_launches import launches
from tideflow.graph.stacks import summaries
from tideflow.variables.creators import creators_of

HANG_SECONDS = 60
LAUNCH_SHARE = 10  # of the time, beside 1 for each other kind
_HERE = __file__
_FOLLOWED = ("/tideflow/", "/threading.py", "/queue.py", "/contextlib.py", "/weakref.py", "/selectors.py")
# Every 64th place first, then those between: a sweep that is out of time has seen all parts of the act.
PASSES = [(0, 64), *((step // 2, step) for step in (64, 32, 16, 8, 4, 2))]
_CALLS = {"CALL", "CALL_FUNCTION_EX", "CALL_KW", "CALL_INTRINSIC_1", "RESUME"}


@functools.cache
def _places(code) -> frozenset[int]:
    """The offsets of the instructions before which a signal may be handled."""
    found, before = set(), ""
    for instruction in dis.get_instructions(code):
        if before in _CALLS or "JUMP_BACKWARD" in instruction.opname:
            found.add(instruction.offset)
        if instruction.opname != "CACHE":
            before = instruction.opname
    return frozenset(found)


class At:
    """Sends this process SIGINT at the nth place that the main thread comes to in the `with` block."""

    def __init__(self, at: int):
        self.left, self.sent = at, False

    def __enter__(self) -> At:
        sys.settrace(self._calls)
        return self

    def __exit__(self, *exc) -> None:
        sys.settrace(None)

    def _calls(self, frame, event, arg):
        if not any(part in frame.f_code.co_filename for part in _FOLLOWED):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return self._instructions

    def _instructions(self, frame, event, arg):
        if event == "opcode" and not self.sent and frame.f_lasti in _places(frame.f_code):
            self.left -= 1
            if self.left < 0:
                self.sent = True
                sys.settrace(None)
                signal.raise_signal(signal.SIGINT)  # its handler runs here, and raises from the traced code
        return self._instructions


class Kind:
    """Something to interrupt. `act` is interrupted, `check` says whether all is whole, and goes on."""

    def act(self) -> None:
        raise NotImplementedError

    def check(self) -> None:
        raise NotImplementedError

    def close(self) -> None:
        pass


def in_another_thread(work):
    """What the work returns in another thread: it finds no lock held."""
    found = []
    thread = threading.Thread(target=lambda: found.append(work()), daemon=True)
    thread.start()
    thread.join(30)
    assert found, "another thread does not get through"
    return found[0]


class WithSession(Kind):
    """A graph and a session. `TOKENS` runs every step on the token executor."""

    tokens = False

    def __init__(self):
        self.graph = tf.Graph()
        config = tf.ConfigProto(operation_timeout_in_ms=0)
        if self.tokens:
            config.experimental.executor_type = "TOKENS"
        with self.graph.as_default():
            self.build()
            self.session = tf.Session(graph=self.graph, config=config)
            self.session.run(tf.global_variables_initializer())
        self.begin()

    def build(self) -> None:
        raise NotImplementedError

    def begin(self) -> None:
        pass

    def close(self) -> None:
        self.session.close()


class Variables(WithSession):
    """Updates of variables of both kinds."""

    def build(self):
        self.made = [tf.Variable(np.zeros(64, np.float32), use_resource=r) for r in (False, True)]
        ones = tf.ones([64])
        self.step = tf.group(
            *[v.assign_add(ones) for v in self.made],
            tf.train.GradientDescentOptimizer(-1.0).apply_gradients([(ones, v) for v in self.made]),
        )
        self.reads = [v.read_value() for v in self.made]

    def begin(self):
        self.session.run(self.step)
        self.session.run(self.reads)

    def act(self):
        self.session.run(self.step)

    def check(self):
        for value in in_another_thread(lambda: self.session.run(self.reads)):
            assert value.min() == value.max(), "a variable is torn"


class Loop(WithSession):
    """A while loop with a conditional in it."""

    def build(self):
        self.x = tf.placeholder(tf.float32, [])

        def body(i, total):
            return i + 1, total + tf.cond(i % 2 < 1, lambda: self.x, lambda: 2 * self.x)

        self.out = tf.while_loop(lambda i, total: i < 6, body, [tf.constant(0), tf.constant(0.0)])

    def begin(self):
        self.check()

    def act(self):
        self.session.run(self.out, {self.x: 1.0})

    def check(self):
        assert self.session.run(self.out, {self.x: 2.0}) == (6, 18.0)


class LoopOnTokens(Loop):
    tokens = True


class Queues(WithSession):
    """An enqueue and a dequeue of several elements: none is lost in a queue, none comes twice."""

    def build(self):
        self.queue = tf.FIFOQueue(32, tf.int64, shapes=[[]])
        self.given = tf.placeholder(tf.int64, [None])
        self.put = self.queue.enqueue_many(self.given)
        self.take = self.queue.dequeue_many(3)
        self.size = self.queue.size()
        self.numbers = itertools.count()
        self.last = -1

    def act(self):
        self.session.run(self.put, {self.given: [next(self.numbers) for _ in range(3)]})
        self.taken(self.session.run(self.take))

    def taken(self, values):
        for value in values:
            assert value > self.last, "an element came twice, or out of order"
            self.last = value

    def check(self):
        session = self.session
        (report,) = [queue.report() for queue in session._resources.all("queue")]
        assert not report["waiting to enqueue"] and not report["waiting to dequeue"], "nobody waits there"
        size = session.run(self.size)
        for _ in range(size):
            self.taken(in_another_thread(lambda: session.run(self.queue_dequeue)))
        assert session.run(self.size) == 0
        number = next(self.numbers)
        session.run(self.put, {self.given: [number, next(self.numbers), next(self.numbers)]})
        values = session.run(self.take)
        assert values[0] == number, "an operation that was given up has taken elements"
        self.taken(values)

    def begin(self):
        with self.graph.as_default():
            self.queue_dequeue = self.queue.dequeue()[None]
        self.act()
        self.check()


class QueuesOnTokens(Queues):
    tokens = True


class BlockedQueue(Queues):
    """A dequeue from an empty queue, which waits until its time is over."""

    def act(self):
        with contextlib.suppress(tf.errors.DeadlineExceededError):
            self.session.run(self.take, options=tf.RunOptions(timeout_in_ms=30))


class BlockedQueueOnTokens(BlockedQueue):
    tokens = True


class Crowd(WithSession):
    """Several operations of one step wait for each other on threads of the token executor."""

    def build(self):
        self.queues = [tf.FIFOQueue(1, tf.float32, shapes=[[]]) for _ in range(3)]
        puts = [queue.enqueue(float(i)) for i, queue in enumerate(self.queues)]
        takes = [queue.dequeue() for queue in self.queues]
        self.step = [takes, puts]

    def act(self):
        self.session.run(self.step)

    def check(self):
        for queue in self.session._resources.all("queue"):
            report = queue.report()
            assert not report["waiting to enqueue"] and not report["waiting to dequeue"]
            for _ in range(report["size"]):
                queue.dequeue()
        assert self.session.run(self.step)[0] == [0.0, 1.0, 2.0]
        assert not [t for t in threading.enumerate() if t.name.startswith("tideflow FIFO")]


class Datasets(WithSession):
    """An iterator over a pipeline with threads: elements keep their order, and at most one is lost."""

    def build(self):
        numbers = tf.data.Dataset.range(1 << 40).map(lambda x: x + 0, num_parallel_calls=2)
        numbers = numbers.batch(2).prefetch(2).filter(lambda x: x[0] >= 0)
        self.iterator = numbers.make_initializable_iterator()
        self.following = self.iterator.get_next()
        self.last = -1

    def begin(self):
        self.session.run(self.iterator.initializer)
        self.check()

    def act(self):
        self.last = self.session.run(self.following)[1]

    def check(self):
        for _ in range(2):
            first, second = in_another_thread(lambda: self.session.run(self.following))
            assert second == first + 1 and first - self.last in (1, 3), (self.last, first, second)
            self.last = second


class NewIterators(Datasets):
    """The beginning of a pass, whose threads start."""

    def act(self):
        self.session.run(self.iterator.initializer)
        self.session.run(self.following)

    def check(self):
        self.session.run(self.iterator.initializer)
        assert list(in_another_thread(lambda: self.session.run(self.following))) == [0, 1]


class Containers(WithSession):
    """Staging areas, barriers, accumulators and tables."""

    def build(self):
        stage = tf.contrib.staging.StagingArea([tf.int64], shapes=[[]]) if hasattr(tf, "contrib") else None
        self.stage = stage or None
        self.accumulator = tf.ConditionalAccumulator(tf.float32, shape=[])
        self.apply = self.accumulator.apply_grad(tf.constant(1.0), local_step=1 << 40)
        self.mean = self.accumulator.take_grad(2)
        self.table = tf.lookup.experimental.DenseHashTable(tf.int64, tf.int64, -1, -1, -2)
        self.keys = tf.range(5, dtype=tf.int64)
        self.insert = self.table.insert(self.keys, self.keys * 2)
        self.find = self.table.lookup(self.keys)
        self.remove = self.table.remove(self.keys)
        self.steps = [self.apply, self.apply, self.mean, self.insert, self.find, self.remove]
        if self.stage is not None:
            self.staged = stage.size()
            self.steps += [stage.put([tf.constant(1, tf.int64)]), stage.get()]

    def act(self):
        for step in self.steps:
            self.session.run(step)

    def check(self):
        session = self.session
        in_another_thread(lambda: session.run(self.insert) or 1)
        assert list(session.run(self.find)) == [0, 2, 4, 6, 8]
        for _ in range(2):
            session.run(self.apply)
        assert session.run(self.mean) == 1.0
        if self.stage is not None:
            for _ in range(session.run(self.staged)):
                session.run(self.steps[-1])


class Building(Kind):
    """Building a graph: its lists and name tables agree, and it runs."""

    def __init__(self):
        self.graph = tf.Graph()

    def act(self):
        with self.graph.as_default(), tf.name_scope("part"):
            x = tf.constant([1.0, 2.0], name="x")
            y = tf.cond(tf.reduce_sum(x) > 0, lambda: x * 2, lambda: x, name="choice")
            with tf.control_dependencies([y]):
                tf.identity(y, name="y")

    def check(self):
        ops = self.graph.get_operations()
        assert [op._id for op in ops] == list(range(1, len(ops) + 1))
        assert {op.name: op for op in ops} == self.graph._by_name
        assert tf.get_default_graph() is not self.graph, "it is the default graph still"
        with self.graph.as_default():
            out = tf.identity(tf.constant(3.0), name="out")
            assert "part" not in out.name, out.name
        with tf.Session(graph=self.graph) as session:
            assert session.run(out) == 3.0
        with tf.Graph().as_default():
            tf.import_graph_def(self.graph.as_graph_def())
        if len(ops) > 400:
            self.graph = tf.Graph()


class Scopes(Kind):
    """Blocks of every kind, in each other: after an interrupt none of them is open."""

    def __init__(self):
        self.graph = tf.Graph()
        with self.graph.as_default():
            self.x = tf.constant(1.0, name="x")
        self.made = self._made_here()

    def act(self):
        graph, layer = self.graph, tf.layers.Dense(1)
        with graph.as_default(), tf.variable_scope("a"), tf.variable_scope("b", reuse=tf.AUTO_REUSE) as b:
            with tf.name_scope("c"), tf.device("/cpu:0"), tf.container("d"), tf.colocate_with(self.x):
                tf.get_variable("v", [])
            with tf.variable_creator_scope(lambda create, **given: create(**given)), tf.variable_scope(b):
                tf.get_variable("v", [])
            with tf.contrib.framework.arg_scope([tf.contrib.layers.conv2d], stride=2):
                with tf.contrib.framework.arg_scope([tf.contrib.layers.conv2d], padding="SAME"):
                    pass
            with graph.gradient_override_map({"Sin": "Cos"}), graph._kernel_label_map({"Sin": "x"}):
                with graph._original_op(self.x.op), graph._attr_scope({"_a": tf.AttrValue(i=1)}):
                    tf.sin(self.x)
            with tf.layers.experimental.keras_style_scope(), layer._whole_variables():
                tf.layers.Dense(1)
            with tf.contrib.summary.always_record_summaries(), tf.init_scope():
                with tf.contrib.summary.never_record_summaries(), tf.control_dependencies([self.x]):
                    tf.identity(1.0)

    def _made_here(self):
        """What an operation, a variable and others are like that are made now."""
        with self.graph.as_default():
            probe = tf.sin(self.x, name="probe")
            queue = tf.raw_ops.FIFOQueueV2(component_types=[tf.float32], name="probe")
            scope = tf.get_variable_scope()
            return (
                *(
                    probe.op.name.rpartition("_")[0] or probe.op.name,
                    probe.op.device,
                    probe.op.control_inputs,
                ),
                *(sorted(probe.op.node_def.attr), probe.op.colocation_groups()[1:], probe.op._original_op),
                *(queue.op.get_attr("container"), scope.name, scope.reuse, scope.partitioner),
                *(len(tf.contrib.framework.current_arg_scope()), tf.layers.Dense(1)._keras_style),
                *(summaries.condition, len(creators_of(self.graph))),
            )

    def check(self):
        made = self._made_here()
        assert made[0].startswith("probe") and made[1:] == self.made[1:], (self.made, made)
        assert tf.get_default_graph() is not self.graph
        if len(self.graph.get_operations()) > 400:
            self.__init__()


class Compiling(Kind):
    """Opening a session, a first run, and closing it."""

    def __init__(self):
        self.graph = tf.Graph()
        with self.graph.as_default():
            self.x = tf.placeholder(tf.float32, [None])
            self.out = tf.reduce_sum(tf.exp(self.x) * 0 + 1)
        self.shared = tf.Session(graph=self.graph)

    def act(self):
        with tf.Session(graph=self.graph) as session:
            session.run(self.out, {self.x: [1.0]})
        self.shared._steps.steps.clear()
        self.shared.run(self.out, {self.x: [1.0, 2.0]})

    def check(self):
        assert in_another_thread(lambda: self.shared.run(self.out, {self.x: [1.0, 2.0]})) == 2.0
        assert tf.get_default_session() is None

    def close(self):
        self.shared.close()


class Savers(WithSession):
    """Saving: the newest checkpoint is always a whole one."""

    version = 2

    def build(self):
        self.made = [tf.Variable(np.zeros(100, np.float32), name=f"v{i}") for i in range(3)]
        self.step = tf.group(*[v.assign_add(tf.ones([100])) for v in self.made])
        self.saver = tf.train.Saver(max_to_keep=2, write_version=self.version)

    def begin(self):
        self.folder = tempfile.TemporaryDirectory()
        self.number = itertools.count()
        self.session.run(self.step)
        self.act()

    def act(self):
        self.saver.save(self.session, f"{self.folder.name}/model", next(self.number), write_meta_graph=False)

    def check(self):
        newest = tf.train.latest_checkpoint(self.folder.name)
        for v in self.made:
            value = tf.train.load_variable(newest, v.op.name)
            assert value.min() == value.max() >= 1
        self.session.run(self.step)
        if len(os.listdir(self.folder.name)) > 40:
            self.folder.cleanup()
            self.begin()

    def close(self):
        super().close()
        self.folder.cleanup()


class OldSavers(Savers):
    version = 1


class Coordinators(Kind):
    """Queue runners that are started, used and stopped: every thread ends."""

    def __init__(self):
        self.graph = tf.Graph()
        with self.graph.as_default():
            (self.out,) = [tf.train.batch([tf.constant(1)], 2, capacity=4)]

    def act(self):
        self.coord = tf.train.Coordinator()
        self.session = tf.Session(graph=self.graph)
        with self.session.as_default():
            threads = tf.train.start_queue_runners(self.session, self.coord)
            self.session.run(self.out)
            self.coord.request_stop()
            self.coord.join(threads, stop_grace_period_secs=30)
        self.session.close()

    def check(self):
        if hasattr(self, "session"):
            self.coord.request_stop()
            self.session.close()
            with contextlib.suppress(tf.errors.OpError):
                self.coord.join(stop_grace_period_secs=30)
        left = [t for t in threading.enumerate() if t.name.startswith("QueueRunnerThread")]
        for thread in left:
            thread.join(30)
            assert not thread.is_alive(), thread


class Monitored(Kind):
    """A monitored session with queue runners, summaries and checkpoints."""

    def __init__(self):
        self.graph = tf.Graph()
        with self.graph.as_default():
            step = tf.train.get_or_create_global_step()
            self.train = tf.group(step.assign_add(1), tf.train.batch([tf.constant(1)], 2, capacity=4))
            tf.summary.scalar("step", step)
        self.folder = tempfile.TemporaryDirectory()

    def act(self):
        with self.graph.as_default():
            with tf.train.MonitoredTrainingSession(
                checkpoint_dir=self.folder.name,
                save_checkpoint_steps=1,
                save_summaries_steps=1,
                log_step_count_steps=None,
            ) as session:
                session.run(self.train)

    def check(self):
        newest = tf.train.latest_checkpoint(self.folder.name)
        if newest is not None:
            tf.train.load_variable(newest, "global_step")
        assert tf.get_default_session() is None
        for thread in [t for t in threading.enumerate() if t.name.startswith("QueueRunnerThread")]:
            thread.join(30)
            assert not thread.is_alive(), thread

    def close(self):
        self.folder.cleanup()


class Writers(Kind):
    """A writer of events, whose thread is never waited for in vain."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()

    def act(self):
        self.writer = tf.summary.FileWriter(self.folder.name, max_queue=1)
        for step in range(4):
            self.writer.add_summary(tf.Summary(), step)
        self.writer.flush()
        self.writer.close()

    def check(self):
        if hasattr(self, "writer"):
            in_another_thread(lambda: [self.writer.flush(), self.writer.close()])
        for name in os.listdir(self.folder.name):
            for _ in tf.train.summary_iterator(f"{self.folder.name}/{name}"):
                pass
            os.remove(f"{self.folder.name}/{name}")

    def close(self):
        self.folder.cleanup()


class Clusters(Kind):
    """Steps on two tasks of this process: the next step works, and queues of tasks are whole."""

    def __init__(self):
        from tests.cluster.clusters import servers

        self.stack = contextlib.ExitStack()
        self.made = self.stack.enter_context(servers(ps=1, worker=1))
        self.graph = tf.Graph()
        with self.graph.as_default():
            with tf.device("/job:ps/task:0"):
                self.total = tf.Variable(0.0)
                self.queue = tf.FIFOQueue(10, tf.float32, shapes=[[]])
                put, size = self.queue.enqueue(tf.constant(1.0)), self.queue.size()
            with tf.device("/job:worker/task:0"):
                self.step = [tf.identity(self.total.assign_add(1.0)) * 2, self.queue.dequeue() * 3]
            self.put, self.size = put, size
            self.init = tf.global_variables_initializer()
        self.session = self.connect()
        self.session.run(self.init)
        self.check()

    def connect(self):
        return tf.Session(self.made["worker", 0].target, graph=self.graph)

    def act(self):
        self.session.run(self.put)
        self.session.run(self.step)

    def check(self):
        size = in_another_thread(lambda: self.session.run(self.size))
        assert size in (0, 1), size
        if not size:
            self.session.run(self.put)
        assert self.session.run(self.step)[1] == 3.0
        assert self.session.run(self.size) == 0

    def close(self):
        self.session.close()
        self.stack.close()


class Clients(Clusters):
    """Steps of a session whose master is another process; the graph grows."""

    def __init__(self):
        from tests.cluster.clusters import TaskProcess, cluster_of

        self.stack = contextlib.ExitStack()
        cluster = cluster_of(local=1)
        task = TaskProcess(cluster, "local", 0)
        self.stack.callback(task.stop)
        self.graph = tf.Graph()
        with self.graph.as_default():
            queue = tf.FIFOQueue(10, tf.float32, shapes=[[]])
            self.put, self.size = queue.enqueue(tf.constant(1.0)), queue.size()
            self.step = [tf.constant(1.0) * 2, queue.dequeue() * 3]
        self.session = tf.Session(f"grpc://{cluster['local'][0]}", graph=self.graph)
        self.check()

    def act(self):
        with self.graph.as_default():
            more = tf.constant(1.0) + 1
        self.session.run(more)
        super().act()


class BlockedClients(Clients):
    """A step that waits on another process: it is ended there, and takes no element later."""

    def act(self):
        with contextlib.suppress(tf.errors.DeadlineExceededError):
            self.session.run(self.step, options=tf.RunOptions(timeout_in_ms=60))


KINDS = {
    kind.__name__: kind
    for kind in (
        *(Variables, Loop, LoopOnTokens, Queues, QueuesOnTokens, BlockedQueue, BlockedQueueOnTokens, Crowd),
        *(Datasets, NewIterators, Containers, Building, Scopes, Compiling, Savers, OldSavers, Coordinators),
        *(Monitored, Writers, Clusters, Clients, BlockedClients, *EAGER_KINDS),
    )
}


def interrupted(act) -> bool:
    """Whether an interrupt ended the act."""
    try:
        act()
        return False
    except KeyboardInterrupt:
        return True


def sweep(kind: Kind, begin: int = 0, step: int = 1, most: int = 1 << 40) -> tuple[int, bool]:
    """Interrupts the act at place after place. How many interrupts were sent; whether it was all of them."""
    for count, at in enumerate(range(begin, begin + most * step, step)):
        faulthandler.dump_traceback_later(HANG_SECONDS, exit=True)
        with At(at) as place:
            interrupted(kind.act)
        if not place.sent:
            return count, True
        kind.check()
    return most, False


def at_random(kind: Kind, chance: random.Random, longest: float, count: int) -> int:
    """Interrupts the act by a timer. How many signals came while it ran."""
    sent = 0

    def ring(number, frame):
        nonlocal sent
        where = frame
        while where is not None and where.f_code is not kind.act.__func__.__code__:
            where = where.f_back
        if where is not None:
            sent += 1
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, ring)
    try:
        for _ in range(count):
            faulthandler.dump_traceback_later(HANG_SECONDS, exit=True)
            signal.setitimer(signal.ITIMER_REAL, max(1e-6, chance.random() * longest))
            try:
                interrupted(kind.act)
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
            kind.check()
    finally:
        signal.signal(signal.SIGALRM, before)
    return sent


def places_of(kind: Kind) -> int:
    """How many places the act comes to."""
    with At(1 << 60) as place:
        kind.act()
    kind.check()
    return (1 << 60) - place.left


def a_few(kind: Kind, chance: random.Random, count: int) -> int:
    """Interrupts the act at so many places, and so often by the timer. How many interrupts were sent."""
    longest = 1.2 * duration(kind.act)
    kind.check()
    total = places_of(kind)
    sent = sum(sweep(kind, at, 1, 1)[0] for at in chance.sample(range(total), min(count, total)))
    return sent + at_random(kind, chance, longest, count)


def duration(act) -> float:
    began = time.perf_counter()
    act()
    return time.perf_counter() - began


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=600.0, help="for all kinds together")
    parser.add_argument("--few", type=int, help="so many places of each kind, instead of a time")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("kinds", nargs="*", help=f"of {' '.join(KINDS)} Launch")
    options = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    tf.logging.set_verbosity(tf.logging.FATAL)
    names, counts = options.kinds or [*KINDS, "Launch"], Counter()
    share = options.seconds / sum(LAUNCH_SHARE if name == "Launch" else 1 for name in names)
    for name in names:
        chance = random.Random(f"{options.seed} {name}")
        if name == "Launch":
            counts[name, "random"] = launches(chance, time.monotonic() + LAUNCH_SHARE * share)
            print(f"{name}: {counts[name, 'random']} at random", flush=True)
            continue
        kind = KINDS[name]()
        if options.few:
            counts[name, "few"] = a_few(kind, chance, options.few)
            kind.close()
            continue
        end = time.monotonic() + share
        act = kind.act
        longest = 1.2 * min(duration(act) for _ in range(3))
        kind.check()
        sent, whole = 0, True
        for begin, step in PASSES:
            done = False
            while not done and (whole := time.monotonic() < end - share / 3):
                more, done = sweep(kind, begin, step, 20)
                sent, begin = sent + more, begin + 20 * step
        counts[name, "places"] = sent
        while time.monotonic() < end:
            counts[name, "random"] += at_random(kind, chance, longest, 20)
        faulthandler.cancel_dump_traceback_later()
        kind.close()
        print(
            f"{name}: {sent} places{' (all)' if whole else ''}, {counts[name, 'random']} at random",
            flush=True,
        )
    print(f"{sum(counts.values())} interrupts, no hang, state whole")
    return 0


if __name__ == "__main__":
    sys.exit(main())
