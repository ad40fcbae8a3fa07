"""What a ConfigProto asks of devices. GPUs are made up: torch's count of them is put in place."""

import pytest

import tideflow as tf
from tideflow.platform import device_lib
from tideflow.runtime import devices as room
from tideflow.runtime.devices import DeviceType
from tideflow.runtime.settings import Settings, settings
from tideflow.session.config import apply_config, devices_for

limits_set: list[tuple[int, int]] = []


@pytest.fixture(autouse=True)
def three_gpus(monkeypatch):
    limits_set.clear()
    kind = DeviceType(
        "GPU",
        "cuda",
        lambda: 3,
        lambda i: 2**30,
        lambda i, n: limits_set.append((i, n)),
        lambda i: f"chip {i}",
        200,
    )
    monkeypatch.setitem(room._types, "GPU", kind)
    yield
    settings.__dict__.update(Settings().__dict__)


def gpus(**options):
    found = devices_for(tf.ConfigProto(gpu_options=tf.GPUOptions(**options)))
    return [(d.index, d.torch_device.index) for d in found if d.device_type == "GPU"]


def test_all_of_them_by_default():
    assert gpus() == [(0, 0), (1, 1), (2, 2)]
    assert [d.device_type for d in devices_for(None)] == ["CPU", "GPU", "GPU", "GPU"]


def test_as_many_as_are_asked_for():
    found = devices_for(tf.ConfigProto(device_count={"GPU": 1, "CPU": 2}))
    assert [d.name[-5:] for d in found] == ["CPU:0", "CPU:1", "GPU:0"]
    assert [d.device_type for d in devices_for(tf.ConfigProto(device_count={"GPU": 0}))] == ["CPU"]


def test_visible_ones_in_their_order():
    assert gpus(visible_device_list="2,0") == [(0, 2), (1, 0)]


@pytest.mark.parametrize(
    ("listed", "said"),
    [
        ("x", "Could not parse entry in 'visible_device_list': 'x'"),
        ("0,", "Could not parse entry"),
        ("7", "listed an invalid GPU id '7' but visible device count is 3"),
        ("1,1", "visible_device_list contained a duplicate entry"),
    ],
)
def test_lists_of_what_is_not_there(listed, said):
    with pytest.raises(tf.errors.InvalidArgumentError, match=said):
        gpus(visible_device_list=listed)


def test_a_fraction_of_the_memory_is_a_limit():
    config = tf.ConfigProto(
        gpu_options=tf.GPUOptions(per_process_gpu_memory_fraction=0.25, allow_growth=True)
    )
    placement, _ = apply_config(config, None)
    assert {d.memory_limit_bytes for d in placement.devices if d.device_type == "GPU"} == {2**28}
    assert limits_set == [(i, 2**28) for i in range(3)]


def test_one_gpu_can_stand_for_several():
    config = tf.ConfigProto()
    config.gpu_options.experimental.virtual_devices.add().memory_limit_mb.extend([100, 200])
    placement, _ = apply_config(config, None)
    found = [(d.index, d.torch_device.index, d.memory_limit_bytes) for d in placement.devices[1:3]]
    assert found == [(0, 0, 100 * 2**20), (1, 0, 200 * 2**20)]
    assert len(placement.devices) == 5 and limits_set == [(0, 300 * 2**20)]


def test_the_process_may_choose_too():
    experimental = tf.config.experimental
    first, second, _ = experimental.list_physical_devices("GPU")
    experimental.set_visible_devices([second], "GPU")
    assert gpus() == [(0, 1)] and experimental.get_visible_devices("GPU") == [second]
    configuration = experimental.VirtualDeviceConfiguration
    experimental.set_virtual_device_configuration(second, [configuration(memory_limit=64)] * 2)
    assert gpus() == [(0, 1), (1, 1)]
    assert experimental.get_virtual_device_configuration(second) == [configuration(64), configuration(64)]
    assert experimental.get_virtual_device_configuration(first) is None
    names = [d.name for d in experimental.list_logical_devices("GPU")]
    assert names == [f"/job:localhost/replica:0/task:0/device:GPU:{i}" for i in range(2)]


def test_cpus_can_be_several_for_the_process():
    experimental = tf.config.experimental
    [cpu] = experimental.list_physical_devices("CPU")
    part = experimental.VirtualDeviceConfiguration()
    with pytest.raises(ValueError, match="one device at least"):
        experimental.set_virtual_device_configuration(cpu, [])
    experimental.set_virtual_device_configuration(cpu, [part, part])
    assert [d.name[-5:] for d in devices_for(None) if d.device_type == "CPU"] == ["CPU:0", "CPU:1"]


def test_devices_are_described():
    found = device_lib.list_local_devices(tf.ConfigProto(device_count={"CPU": 2, "GPU": 1}))
    assert [d.name for d in found] == ["/device:CPU:0", "/device:CPU:1", "/device:GPU:0"]
    assert found[2].physical_device_desc == "chip 0" and found[2].memory_limit == 2**30
    assert tf.test.gpu_device_name() == "/device:GPU:0"


def test_a_task_names_its_devices():
    placement, _ = apply_config(None, None, task="/job:ps/replica:0/task:1")
    assert {d.task for d in placement.devices} == {"/job:ps/replica:0/task:1"}
