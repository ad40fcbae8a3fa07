"""The placer, over the devices of many tasks. No device and no task is needed."""

import pytest
import torch

import tideflow as tf
from tideflow.compile.placer import asked_for, assign, merged, pattern_of
from tideflow.functions.defun import Defun
from tideflow.runtime.devices import Device, PlacementMemory


def device(task, kind="CPU", index=0):
    where = torch.device("cpu") if kind == "CPU" else torch.device("cuda", index)
    return Device(f"{task}/device:{kind}:{index}", kind, index, where, 1)


def task(job, index):
    return f"/job:{job}/replica:0/task:{index}"


PS = [device(task("ps", i)) for i in range(2)]
WORKERS = [d for i in range(2) for d in (device(task("worker", i)), device(task("worker", i), "GPU"))]
CLUSTER = [*WORKERS, *PS]


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def placed(*ops, devices=CLUSTER, **options):
    """The devices of these operations and of all that is behind them, by name, without "replica:0"."""
    found = assign(tf.get_default_graph().get_operations(), devices, **options)
    names = {op.name: d.name.replace("/replica:0", "") for op, d in found.items()}
    return [names[op.name] for op in ops] if ops else names


def refused(**options):
    with pytest.raises(tf.errors.InvalidArgumentError) as info:
        placed(**options)
    return str(info.value)


def exp(name, wanted=None, value=1.0):
    with tf.device(wanted):
        return tf.exp(value, name=name)


def together(op, *names):
    op.op._set_attr("_class", [f"loc:@{name}" for name in names])


def test_device_patterns():
    assert pattern_of("/job:ps/cpu:1") == ("ps", None, None, "CPU", 1)
    assert str(pattern_of("/cpu:1")) == "/device:CPU:1" and str(pattern_of("")) == ""
    assert merged(pattern_of("/job:a"), pattern_of("/task:1/cpu:0")) == ("a", None, 1, "CPU", 0)
    soft = merged(pattern_of("/job:a/cpu:0"), pattern_of("/cpu:1"), soft=True)
    assert soft == ("a", None, None, "CPU", None)
    assert merged(pattern_of("/cpu:0"), pattern_of("/gpu:0"), soft=True) == (None,) * 5


def test_the_first_by_name_where_nothing_is_asked():
    a = exp("a")
    assert placed(a.op, devices=PS) == ["/job:ps/task:0/device:CPU:0"]
    assert placed(a.op) == ["/job:worker/task:0/device:GPU:0"]


def test_a_cluster_as_tensorflow_places_it():
    """What TensorFlow 1.15 says of this graph on two parameter servers and two workers of two CPUs each."""
    tasks = [task(job, i) for job in ("worker", "ps") for i in range(2)]
    devices = [device(name, index=i) for name in tasks for i in range(2)]
    wanted = [None, "/job:worker", "/job:worker/task:1", "/task:1", "/cpu:1"]
    ops = [exp(f"e{i}", name) for i, name in enumerate(wanted)]
    assert placed(*(o.op for o in ops), devices=devices) == [
        "/job:ps/task:0/device:CPU:0",
        "/job:worker/task:0/device:CPU:0",
        "/job:worker/task:1/device:CPU:0",
        "/job:ps/task:1/device:CPU:0",
        "/job:ps/task:0/device:CPU:1",
    ]


@pytest.mark.parametrize("default", [task("worker", 1), WORKERS[3]])
def test_the_default_task_comes_first(default):
    a, b = exp("a"), exp("b", "/job:worker")
    words = tf.strings.join(["a", "b"], name="words")
    asked = exp("c", "/job:ps")
    found = placed(a.op, b.op, words.op, asked.op, default=default)
    assert found == ["/job:worker/task:1/device:GPU:0"] * 2 + [
        "/job:worker/task:1/device:CPU:0",
        "/job:ps/task:0/device:CPU:0",
    ]


def test_jobs_tasks_and_types():
    ops = [
        exp(str(i), wanted)
        for i, wanted in enumerate(["/job:ps/task:1", "/task:1/cpu:0", "/job:worker/gpu:*"])
    ]
    assert placed(*(o.op for o in ops)) == [
        "/job:ps/task:1/device:CPU:0",
        "/job:ps/task:1/device:CPU:0",
        "/job:worker/task:0/device:GPU:0",
    ]


def test_an_op_with_no_kernel_there_is_beside_what_it_belongs_to():
    v = exp("v", "/job:worker/task:1/gpu:0")
    with tf.colocate_with(v):
        words = tf.strings.join(["a", "b"], name="words")
    assert placed(words.op) == ["/job:worker/task:1/device:GPU:0"]


def test_state_decides_for_what_touches_it():
    with tf.device("/job:ps/task:1"):
        v = tf.get_variable("v", [2], use_resource=True)
    with tf.device("/job:worker/task:1"):
        write = tf.raw_ops.AssignAddVariableOp(resource=v.handle, value=[1.0, 1.0], name="write")
        read = v.read_value()
    home, worker = "/job:ps/task:1/device:CPU:0", "/job:worker/task:1/device:GPU:0"
    assert placed(v.handle.op, write) == [home, home]
    assert placed()["write/value"] == worker
    assert placed(read.op) == [worker]


def test_the_call_of_a_function_is_beside_its_state():
    @Defun(tf.resource)
    def read(handle):
        return tf.raw_ops.ReadVariableOp(resource=handle, dtype=tf.float32)

    handles = []
    for i in range(2):
        with tf.device(f"/job:ps/task:{i}"):
            handles.append(tf.raw_ops.VarHandleOp(dtype=tf.float32, shape=[], name=f"h{i}"))
    call = tf.raw_ops.StatefulPartitionedCall(args=[handles[1]], Tout=[tf.float32], f=read, name="call")[0]
    assert placed(call.op) == ["/job:ps/task:1/device:CPU:0"]
    assert placed(handles[0].op, handles[1].op) == [f"/job:ps/task:{i}/device:CPU:0" for i in range(2)]


def test_state_stays_where_it_is():
    memory = PlacementMemory()
    with tf.device("/job:worker/task:1"):
        v = tf.get_variable("v", [2], use_resource=True)
    first = placed(v.handle.op, memory=memory)
    assert first == ["/job:worker/task:1/device:GPU:0"]
    with tf.device("/job:ps/task:0"):
        late = tf.exp(1.0, name="late")
    late.op._set_attr("_class", ["loc:@v"])
    v.handle.op._set_device("/job:ps/task:0")
    assert placed(v.handle.op, late.op, memory=memory) == first * 2
    assert placed(v.handle.op) == ["/job:ps/task:0/device:CPU:0"]


def test_the_same_state_in_every_step():
    """A step that needs only the variable puts it where what the rest of the graph says has it."""
    v = tf.get_variable("v", [2], use_resource=True)
    far = exp("far", "/job:ps/task:1")
    together(far, "v")
    found = assign([v.handle.op], CLUSTER)
    assert found[v.handle.op] is PS[1]


def test_what_a_step_asks_for():
    """Other operations of the graph may say where those of a step are."""
    v = tf.get_variable("v", [2], use_resource=True)
    far, free = exp("far", "/job:ps/task:1"), exp("free")
    together(far, "v")
    assert asked_for([v.handle.op]) == {pattern_of("/job:ps/task:1")}
    assert asked_for([free.op, far.op]) == {pattern_of(""), pattern_of("/job:ps/task:1")}
    kept = PlacementMemory(kept={"v": WORKERS[0]})
    assert asked_for([far.op], memory=kept) == {pattern_of(WORKERS[0].name)}
    assert asked_for([]) == set()


def test_what_a_step_does_not_need_may_be_impossible():
    exp("bad", "/job:nowhere")
    a = exp("a", "/job:ps")
    assert assign([a.op], CLUSTER)[a.op] is PS[0]


def test_the_graph_is_placed_anew_when_it_changes():
    memory = PlacementMemory()
    a = exp("a", "/job:ps/task:0")
    assert placed(a.op, memory=memory) == ["/job:ps/task:0/device:CPU:0"]
    a.op._set_device("/job:ps/task:1")
    b = exp("b", "/job:ps/task:1")
    assert placed(a.op, b.op, memory=memory) == ["/job:ps/task:1/device:CPU:0"] * 2


def test_nothing_to_place():
    assert assign([], CLUSTER) == {}


# ------------------------------------------------------------------------------------------------ errors


def test_a_task_that_is_not_there():
    exp("a", "/job:worker/task:5")
    said = refused()
    assert said.startswith("Cannot assign a device for operation a")
    assert "was explicitly assigned to /job:worker/task:5 but available devices are [ /job:ps" in said
    assert "test_placer.py" in said and "allow_soft_placement" not in said
    assert "explicitly assigned to /job:worker/task:5" in refused(soft=True)


def test_a_kind_that_is_not_there():
    exp("a", "/job:ps/task:0/gpu:0")
    said = refused(devices=PS)
    assert "appears to be a GPU" in said and "allow_soft_placement=True" in said
    assert placed(devices=PS, soft=True)["a"] == "/job:ps/task:0/device:CPU:0"


def test_a_type_nobody_knows():
    exp("a", "/device:ABACUS:0")
    assert "No device type ABACUS is registered." in refused()


def test_members_of_an_impossible_group_are_told_one_by_one():
    exp("a", "/job:ps/task:0")
    b = exp("b", "/job:ps/task:1")
    together(b, "a")
    said = refused()
    assert said.startswith("Cannot colocate nodes node b (defined at ")
    assert "Cannot merge devices with incompatible tasks: '/job:ps/task:1' and '/job:ps/task:0'" in said
    assert "  a (Exp) /job:ps/task:0, made at " in said and "  b (Exp) /job:ps/task:1, made at " in said


def test_a_group_that_wants_what_is_not_there():
    b = exp("b")
    exp("a", "/job:ps/task:7")
    together(b, "a")
    said = refused()
    assert (
        "required incompatible device '/job:ps/task:7'" in said and "All available devices [/job:ps" in said
    )


def test_an_op_between_two_places_of_state():
    handles = []
    for i in range(2):
        with tf.device(f"/job:ps/task:{i}"):
            handles.append(tf.raw_ops.VarHandleOp(dtype=tf.float32, shape=[], name=f"h{i}"))
    tf.raw_ops.Merge(inputs=handles, name="merge")
    assert "connected by a reference or resource connection" in refused()
