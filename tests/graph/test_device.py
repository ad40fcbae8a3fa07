"""Device names: parsing, writing, merging. Expected values are TensorFlow 1.15's."""

import copy
import pickle
from types import SimpleNamespace

import pytest

from tideflow.graph import device
from tideflow.graph.device import DeviceSpec


@pytest.mark.parametrize(
    ("text", "full"),
    [
        ("", ""),
        ("/cpu:0", "/device:CPU:0"),
        ("/CPU:0", "/device:CPU:0"),
        ("/Gpu:1", "/device:GPU:1"),
        ("/gpu:*", "/device:GPU:*"),
        ("/cpu", "/device:CPU:*"),
        ("cpu:0", "/device:CPU:0"),
        ("gpu", "/device:GPU:*"),
        ("//cpu:0", "/device:CPU:0"),
        ("/device:GPU:1", "/device:GPU:1"),
        ("/device:gpu:*", "/device:GPU:*"),
        ("/device:Gpu:1", "/device:Gpu:1"),
        ("/device:TPU:0", "/device:TPU:0"),
        ("/device:XLA_GPU:0", "/device:XLA_GPU:0"),
        ("/job:ps/replica:0/task:1/device:CPU:0", "/job:ps/replica:0/task:1/device:CPU:0"),
        ("/task:1/job:ps", "/job:ps/task:1"),
        ("/job:w/", "/job:w"),
        ("/job:", "/job:"),
        ("/job:*", "/job:*"),
        ("/job:my job", "/job:my job"),
        ("/job:a/job:b", "/job:b"),
    ],
)
def test_names_are_read_and_written_in_full(text, full):
    assert DeviceSpec.from_string(text).to_string() == full
    assert DeviceSpec.from_string(full).to_string() == full
    assert device.canonical_name(text) == full


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("/foo:0", "Unknown attribute: 'foo' in '/foo:0'"),
        ("/tpu:0", "Unknown attribute: 'tpu' in '/tpu:0'"),
        ("/xla_cpu:0", "Unknown attribute: 'xla_cpu'"),
        ("/device:CPU", "Unknown attribute: 'device'"),
        ("/device:*", "Unknown attribute: 'device'"),
        ("/cpu:0:1", "Unknown attribute: 'cpu' in '/cpu:0:1'"),
        ("/job", "Unknown attribute: 'job' in '/job'"),
        ("/job:a:b", "Unknown attribute: 'job'"),
        ("@", "Unknown attribute: '@' in '@'"),
        ("/cpu:0/cpu:1", "Cannot specify multiple device types: /cpu:0/cpu:1"),
        ("/job:ps/cpu:0/gpu:1", "Cannot specify multiple device types: /job:ps/cpu:0/gpu:1"),
        ("/device:CPU:0/device:GPU:0", "Cannot specify multiple device types"),
        ("/task:x", "invalid literal for int"),
        ("/replica:*", "invalid literal for int"),
        ("/device:a:b", "invalid literal for int"),
        ("/cpu:x", "invalid literal for int"),
    ],
)
def test_bad_names_are_refused(text, message):
    for read in (DeviceSpec.from_string, device.check_valid, device.canonical_name, device.merge_device):
        with pytest.raises(ValueError) as error:
            read(text)
        assert message in str(error.value)


@pytest.mark.parametrize(
    ("parts", "full"),
    [
        ({}, ""),
        ({"job": "ps", "task": 0, "device_type": "cpu", "device_index": 0}, "/job:ps/task:0/device:CPU:0"),
        ({"job": 3, "replica": 1, "task": "2"}, "/job:3/replica:1/task:2"),
        ({"device_type": "gpu", "device_index": "1"}, "/device:GPU:1"),
        ({"device_type": "CPU"}, "/device:CPU:*"),
        ({"device_type": "xla_cpu", "device_index": 0}, "/device:xla_cpu:0"),
        ({"device_type": "Gpu"}, "/device:Gpu:*"),
        ({"device_index": 3}, ""),
        ({"job": ""}, "/job:"),
    ],
)
def test_specs_from_parts(parts, full):
    assert DeviceSpec(**parts).to_string() == full


@pytest.mark.parametrize("parts", [{"task": "x"}, {"replica": "x"}, {"device_index": "*"}])
def test_numbers_must_be_numbers(parts):
    with pytest.raises(ValueError, match="invalid literal for int"):
        DeviceSpec(**parts)


def test_parts_can_be_set_and_are_cleaned():
    spec = DeviceSpec(job="a")
    spec.task = "3"
    spec.device_type = "gpu"
    spec.device_index = "2"
    assert spec.to_string() == "/job:a/task:3/device:GPU:2"
    assert (spec.job, spec.replica, spec.task, spec.device_type, spec.device_index) == (
        "a",
        None,
        3,
        "GPU",
        2,
    )
    with pytest.raises(ValueError):
        spec.task = "x"
    with pytest.raises(AttributeError):
        spec.foo = 1
    assert spec.task == 3


def test_parse_from_string_forgets_what_was():
    spec = DeviceSpec(job="a", task=1)
    assert spec.parse_from_string("/cpu:0") is spec
    assert spec.to_string() == "/device:CPU:0"


def test_merging_takes_what_the_other_fixes():
    spec = DeviceSpec(job="zz", task=3, device_type="gpu", device_index=2)
    other = DeviceSpec(job="b", device_type="CPU")
    merged = spec.make_merged_spec(other)
    assert merged.to_string() == "/job:b/task:3/device:CPU:2"
    assert spec.job == "zz"
    spec.merge_from(other)
    assert spec == merged


def test_replace_returns_a_new_spec():
    spec = DeviceSpec(job="a")
    assert spec.replace(task=3).to_string() == "/job:a/task:3"
    assert spec.replace(job=None).to_string() == ""
    assert spec.to_string() == "/job:a"
    with pytest.raises(TypeError):
        spec.replace(foo=3)


def test_equality_hash_and_copies():
    spec = DeviceSpec(job="a", device_index=1)
    assert spec == DeviceSpec(job="a", device_index=1)
    assert spec != DeviceSpec(job="a")
    assert spec != 3
    assert hash(spec) == hash(DeviceSpec(job="a", device_index=1))
    assert pickle.loads(pickle.dumps(spec)) == spec == copy.deepcopy(spec)


def test_canonical_names_of_none_and_specs():
    assert device.canonical_name(None) == ""
    assert device.canonical_name(DeviceSpec(job="a")) == "/job:a"


@pytest.mark.parametrize(
    ("outer", "inner", "merged"),
    [
        ("/cpu:0", "", "/device:CPU:0"),
        ("/cpu:0", None, "/device:CPU:0"),
        ("/job:a/cpu:0", "/gpu:1", "/job:a/device:GPU:1"),
        ("/cpu:0", "/cpu:*", "/device:CPU:0"),
        ("/cpu:0", "/job:b", "/job:b/device:CPU:0"),
        ("/job:z", "/job:a/device:GPU:1", "/job:a/device:GPU:1"),
        (DeviceSpec(job="z"), "/task:1", "/job:z/task:1"),
        (None, "/gpu:1", "/device:GPU:1"),
        ("", "", ""),
    ],
)
def test_a_merge_fills_what_the_op_leaves_open(outer, inner, merged):
    merge = device.merge_device(outer)
    node = SimpleNamespace(device=inner)
    assert merge(node).to_string() == merged
    assert merge.shortcut_string_merge(node) == merged
    assert merge.is_null_merge == (not outer)


def test_a_merge_is_made_once_per_name_and_its_results_are_free_to_change():
    merge = device.merge_device("/cpu:0")
    assert device.merge_device("/device:CPU:0") is merge
    node = SimpleNamespace(device="")
    merge(node).job = "changed"
    assert merge(node).to_string() == "/device:CPU:0"
