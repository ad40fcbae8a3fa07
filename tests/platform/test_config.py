"""tf.config: choices of the process that later sessions keep to."""

import pytest
import torch

import tideflow as tf
from tideflow.runtime.settings import Settings, settings


@pytest.fixture(autouse=True)
def restored():
    threads = torch.get_num_threads()
    yield
    torch.set_num_threads(threads)
    settings.__dict__.update(Settings().__dict__)


def test_devices():
    devices = tf.config.experimental
    [cpu] = devices.list_physical_devices("CPU")
    assert cpu.name == "/physical_device:CPU:0" and cpu in devices.get_visible_devices()
    assert devices.list_logical_devices("CPU")[0].name.endswith("device:CPU:0")
    assert tf.config.experimental_list_devices()[0].endswith("device:CPU:0")
    devices.set_visible_devices([], "GPU")
    assert devices.get_visible_devices("GPU") == []
    with tf.Session(graph=tf.Graph()) as session:
        assert {d.device_type for d in session.list_devices()} == {"CPU"}
    with pytest.raises(ValueError, match="Unrecognized device: 'x'"):
        devices.set_visible_devices(["x"])
    with pytest.raises(ValueError, match="non-GPU"):
        devices.set_memory_growth(cpu, True)


def test_threads():
    threading = tf.config.threading
    assert threading.get_intra_op_parallelism_threads() == 0
    threading.set_intra_op_parallelism_threads(1)
    threading.set_inter_op_parallelism_threads(3)
    assert torch.get_num_threads() == 1
    assert (
        threading.get_intra_op_parallelism_threads() == 1
        and threading.get_inter_op_parallelism_threads() == 3
    )


def test_what_concerns_eager_execution_is_kept():
    experimental = tf.config.experimental
    assert experimental.get_device_policy() == "silent" and experimental.get_synchronous_execution()
    experimental.set_device_policy("warn")
    experimental.set_synchronous_execution(False)
    assert experimental.get_device_policy() == "warn" and not experimental.get_synchronous_execution()
    with pytest.raises(ValueError, match="Not a valid device policy: 'x'"):
        experimental.set_device_policy("x")
    experimental.set_device_policy(None)
    assert experimental.get_device_policy() == "silent"


def test_soft_placement_is_the_sessions_default():
    def step():
        with tf.Graph().as_default(), tf.device("/gpu:7"), tf.Session() as session:
            return session.run(tf.constant(1.0) + 1.0)

    with pytest.raises(tf.errors.InvalidArgumentError):
        step()
    tf.config.set_soft_device_placement(True)
    assert tf.config.get_soft_device_placement() and step() == 2.0


def test_rewrites_can_be_switched_off():
    optimizer = tf.config.optimizer
    assert optimizer.get_experimental_options() == {
        "disable_model_pruning": False,
        "disable_meta_optimizer": False,
    }
    with tf.Graph().as_default():
        sum_ = tf.constant(1.0) + tf.constant(2.0)
        with tf.Session() as session:
            folded = session.explain(sum_)
        optimizer.set_experimental_options({"disable_meta_optimizer": True, "unknown": 1})
        with tf.Session() as session:
            plain = session.explain(sum_)
            assert session.run(sum_) == 3.0
    assert str(folded) != str(plain)
    assert "unknown" not in optimizer.get_experimental_options()
    optimizer.set_jit(True)
    assert optimizer.get_jit()


def test_placement_is_logged_on_request():
    tf.debugging.set_log_device_placement(True)
    assert tf.debugging.get_log_device_placement()
