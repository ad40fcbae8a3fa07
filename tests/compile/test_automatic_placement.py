"""The automatic placer: better than taking turns by its own model, true to constraints, the same results."""

import itertools
import random
from dataclasses import replace

import numpy as np
import pytest
import torch
from tensorboard.compat.proto.config_pb2 import RunMetadata

import tideflow as tf
from tideflow.compile.automatic_placement import best_placement, earliest_finish, propose
from tideflow.compile.cost_model import (
    Block,
    Work,
    by_urgency,
    links_between,
    measured,
    simulate,
)
from tideflow.runtime.devices import Device

TASKS = [
    Device(f"/job:worker/replica:0/task:{i}/device:CPU:0", "CPU", 0, torch.device("cpu"), 1) for i in range(4)
]


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def work(seconds, edges, devices=TASKS[:2], bandwidth=1e9, latency=1e-3, **options):
    """Blocks that take so long, each a bundle, and edges (from, to, bytes)."""
    blocks = [Block([str(i)], float(s), i) for i, s in enumerate(seconds)]
    for source, target, size in edges:
        blocks[target].takes.setdefault(source, {})[str(source)] = size
    choices = [list(range(len(devices))) for _ in blocks]
    return Work(blocks, choices, devices, links_between(bandwidth, latency), **options)


def random_work(seed, count=60):
    """A step of a few layers, each block taking from some of the layer before."""
    rng = random.Random(seed)
    edges = []
    for target in range(10, count):
        layer = target // 10 * 10
        sources = rng.sample(range(layer - 10, layer), 2)
        edges += [(source, target, rng.choice([1e3, 1e6, 2e7])) for source in sources]
    return work([rng.uniform(1e-3, 3e-2) for _ in range(count)], edges, TASKS)


# --------------------------------------------------------------------------------------------- the simulation


def test_a_chain_takes_the_sum_of_its_parts():
    chain = work([1, 2, 3], [(0, 1, 0), (1, 2, 0)])
    expected = simulate(chain, [0, 0, 0])
    assert expected.seconds == 6 and expected.bytes_moved == 0
    assert list(expected.busy.values()) == [6, 0]


def test_what_goes_over_the_network_takes_time():
    chain = work([1, 2], [(0, 1, 5e8)], latency=0.25)
    expected = simulate(chain, [0, 1])
    assert expected.seconds == pytest.approx(1 + 0.25 + 0.5 + 2) and expected.bytes_moved == 5e8


def test_a_value_is_sent_once_to_each_device():
    fan = work([1, 1, 1, 1], [(0, 1, 1e6), (0, 2, 1e6), (0, 3, 1e6)], TASKS[:3])
    assert simulate(fan, [0, 1, 1, 2]).bytes_moved == 2e6


def test_devices_that_share_memory_move_nothing():
    here = [
        Device(f"/job:a/replica:0/task:0/device:CPU:{i}", "CPU", i, torch.device("cpu"), 1) for i in range(2)
    ]
    expected = simulate(work([1, 1], [(0, 1, 1e9)], here), [0, 1])
    assert expected.seconds == 2 and expected.bytes_moved == 0


def test_a_bus_lies_between_a_cpu_and_a_gpu():
    gpu = Device("/job:worker/replica:0/task:0/device:GPU:0", "GPU", 0, torch.device("cuda", 0), 1)
    pair = work([1, 1], [(0, 1, 1e10)], [TASKS[0], gpu], speeds={"GPU": 4.0, "CPU": 1.0})
    assert simulate(pair, [0, 1]).seconds == pytest.approx(1 + 1 + 1e-5 + 0.25)


def test_the_most_urgent_first():
    """Block 1 has a long way to go: it comes before block 0."""
    assert by_urgency(work([1, 1, 5], [(1, 2, 0)]))[0] == 1


# ------------------------------------------------------------------------------------------------- the search


@pytest.mark.parametrize("seed", range(6))
def test_better_than_taking_turns(seed):
    step = random_work(seed)
    turns = [i % len(TASKS) for i in range(len(step.blocks))]
    one = [0] * len(step.blocks)
    found = simulate(step, best_placement(step, tries=200)).seconds
    assert found < 0.9 * simulate(step, turns).seconds
    assert found < 0.6 * simulate(step, one).seconds


@pytest.mark.parametrize("seed", range(3))
def test_never_worse_than_where_it_starts(seed):
    step = random_work(seed, count=30)
    first = best_placement(step, tries=100)
    again = best_placement(step, [first], tries=0)
    assert simulate(step, again).seconds <= simulate(step, first).seconds
    greedy = earliest_finish(step, by_urgency(step))
    assert simulate(step, first).seconds <= simulate(step, greedy).seconds


@pytest.mark.parametrize("seed", range(8))
def test_close_to_the_best_there_is(seed):
    """All placements of a small step, by hand."""
    rng = random.Random(seed)
    edges = [(rng.randrange(i), i, rng.choice([1e3, 5e6])) for i in range(1, 8) for _ in range(2)]
    step = work([rng.uniform(1e-3, 2e-2) for _ in range(8)], edges)
    best = min(simulate(step, placed).seconds for placed in itertools.product(range(2), repeat=8))
    assert simulate(step, best_placement(step)).seconds <= 1.1 * best


def test_the_best_of_a_small_step():
    """Two chains side by side, of which each should stay in one place."""
    chains = work([1] * 8, [(i, i + 2, 1e9) for i in range(6)])
    placed = best_placement(chains)
    assert simulate(chains, placed).seconds == 4 and simulate(chains, placed).bytes_moved == 0
    assert len({placed[i] for i in (0, 2, 4, 6)}) == 1


def test_slow_networks_keep_a_step_in_one_place():
    diamond = work([0.1] * 4, [(0, 1, 1e6), (0, 2, 1e6), (1, 3, 1e6), (2, 3, 1e6)], bandwidth=1e6, latency=1)
    assert len(set(best_placement(diamond))) == 1


def test_what_has_no_choice_stays():
    step = work([1, 1, 1], [])
    step.choices[0][:] = step.choices[1][:] = [1]
    assert best_placement(step) == [1, 1, 0]


# ----------------------------------------------------------------------------------------------- from a trace


def towers(count=4):
    """Matrices multiplied side by side, and their sum."""
    x = tf.placeholder(tf.float32, [64, 64], name="x")
    parts = []
    for i in range(count):
        w = tf.get_variable(f"w{i}", [64, 64], initializer=tf.ones_initializer())
        parts.append(tf.reduce_sum(tf.tanh(tf.matmul(x, w, name=f"mm{i}")), name=f"part{i}"))
    return x, tf.add_n(parts, name="y")


def trace_of(seconds, sizes=None):
    """A trace in which these operations took so long."""
    metadata = RunMetadata()
    device = metadata.step_stats.dev_stats.add(device="/job:localhost/replica:0/task:0/device:CPU:0")
    for name, took in seconds.items():
        stats = device.node_stats.add(node_name=name, all_end_rel_nanos=int(took * 1e9))
        output = stats.output.add(slot=0).tensor_description.allocation_description
        output.requested_bytes = int((sizes or {}).get(name, 0))
    return metadata


def traced(session, fetches, feeds=None):
    metadata = tf.RunMetadata()
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    return session.run(fetches, feeds, options=options, run_metadata=metadata), metadata


def test_costs_are_read_from_a_trace():
    metadata = trace_of({"a": 0.5, "b": 0.25}, {"a": 100})
    metadata.step_stats.dev_stats[0].node_stats.add(node_name="a", all_end_rel_micros=500000)
    costs = measured(metadata)
    assert costs.seconds["a"] == 1.0 and costs.sizes["a:0"] == 100 and costs.kinds["b"] == "CPU"
    with pytest.raises(ValueError, match="FULL_TRACE"):
        measured(RunMetadata())


def test_the_gpus_own_clock_counts():
    metadata = trace_of({"a": 0.5})
    stream = metadata.step_stats.dev_stats.add(device="/device:GPU:0/stream:all")
    stream.node_stats.add(node_name="a", all_end_rel_nanos=2 * 10**9)
    assert measured(metadata).seconds == {"a": 2.0}


def test_work_side_by_side_is_shared_out(graph):
    towers()
    metadata = trace_of({f"mm{i}": 0.1 for i in range(4)} | {f"part{i}": 0.01 for i in range(4)})
    proposal = propose(graph, metadata, TASKS, bandwidth=1e9, latency=1e-3)
    assert len({proposal.devices[f"mm{i}"] for i in range(4)}) == 4
    assert all(proposal.devices[f"mm{i}"] == proposal.devices[f"part{i}"] for i in range(4))
    assert proposal.now.seconds == pytest.approx(0.44) and proposal.then.seconds < 0.12
    assert "times as fast" in str(proposal) and "task:3/device:CPU:0 110 ms" in str(proposal)


def test_what_must_be_together_stays_together(graph):
    with tf.device("/job:worker/task:2"):
        v = tf.get_variable("v", [4])
        a = tf.exp(v, name="a")
    w = tf.get_variable("w", [4])
    update = tf.assign_add(w, a, name="update")
    with tf.colocate_with(w):
        beside = tf.exp(a, name="beside")
    loop = tf.while_loop(lambda i: i < 3, lambda i: i + 1, [tf.constant(0)], name="loop")
    metadata = trace_of({op.name: 0.1 for op in (a.op, update.op, beside.op, v.op, w.op, loop.op)})
    found = propose(graph, metadata, TASKS).devices
    assert found["a"] == found["v"] == TASKS[2].name
    assert found["w"] == found["update"] == found["beside"]
    assert len({device for name, device in found.items() if name.startswith("loop/")}) == 1


def test_applied_to_the_graph_the_results_are_the_same(graph):
    x, y = towers()
    feeds = {x: np.random.RandomState(0).normal(size=(64, 64))}
    config = tf.ConfigProto(device_count={"CPU": 3, "GPU": 0})
    with tf.Session(config=config) as session:
        session.run(tf.global_variables_initializer())
        expected, _ = traced(session, y, feeds)
        # As if each had cores of its own: the model would leave the step on one of them otherwise.
        cores = [replace(d, torch_device=torch.device("cpu", d.index)) for d in session.list_devices()]
    proposal = propose(graph, trace_of({f"mm{i}": 0.1 for i in range(4)}), cores)
    proposal.apply(graph)
    assert len({graph.get_operation_by_name(f"mm{i}").device for i in range(4)}) > 1
    with tf.Session(config=config) as session:
        session.run(tf.global_variables_initializer())
        found, again = traced(session, y, feeds)
        assert session.run(y, feeds) == found == expected
    ran = {s.node_name: d.device for d in again.step_stats.dev_stats for s in d.node_stats}
    assert {ran[f"mm{i}"] for i in range(4)} == {proposal.devices[f"mm{i}"] for i in range(4)}


def test_cpus_of_one_process_promise_nothing(graph):
    """They are the same cores."""
    towers()
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2, "GPU": 0})) as session:
        proposal = propose(graph, trace_of({f"mm{i}": 0.1 for i in range(4)}), session.list_devices())
    assert proposal.then.seconds == proposal.now.seconds
    assert str(proposal).endswith("expected to be 1.00 times as fast")


def test_as_a_device_function(graph):
    towers()
    metadata = trace_of({f"mm{i}": 0.1 for i in range(4)})
    proposal = propose(graph, metadata, TASKS)
    with tf.Graph().as_default() as again, tf.device(proposal):
        towers()
        with tf.device("/job:ps"):
            own = tf.constant(1.0, name="own")
    for i in range(4):
        assert again.get_operation_by_name(f"mm{i}").device == proposal.devices[f"mm{i}"]
    assert own.device == "/job:ps"


def test_no_devices(graph):
    with pytest.raises(ValueError, match="devices to choose from"):
        propose(graph, trace_of({"a": 1.0}), [])
