"""`tensorflow.python.distribute.strategy_combinations`: the strategies and optimizers of tests."""

from __future__ import annotations

from typing import Any

import tideflow as tf
from tideflow.programs.inner.testing.distribution_combinations import NamedDistribution, NamedObject, combine


def _no_tpu() -> Any:
    raise RuntimeError("Tideflow runs on CPUs and GPUs, not on TPUs.")


default_strategy = NamedDistribution("Default", tf.distribute.get_strategy)
one_device_strategy = NamedDistribution("OneDeviceCPU", lambda: tf.distribute.OneDeviceStrategy("/cpu:0"))
one_device_strategy_gpu = NamedDistribution(
    "OneDeviceGPU", lambda: tf.distribute.OneDeviceStrategy("/gpu:0"), required_gpus=1
)
one_device_strategy_on_worker_1 = NamedDistribution(
    "OneDeviceOnWorker1CPU",
    lambda: tf.distribute.OneDeviceStrategy("/job:worker/replica:0/task:1/cpu:0"),
)
one_device_strategy_gpu_on_worker_1 = NamedDistribution(
    "OneDeviceOnWorker1GPU",
    lambda: tf.distribute.OneDeviceStrategy("/job:worker/replica:0/task:1/gpu:0"),
    required_gpus=1,
)
tpu_strategy = NamedDistribution("TPU", _no_tpu, required_tpu=True)
tpu_strategy_one_step = NamedDistribution("TPUOneStep", _no_tpu, required_tpu=True)
tpu_strategy_one_core = NamedDistribution("TPUOneCore", _no_tpu, required_tpu=True)
tpu_strategy_one_step_one_core = NamedDistribution("TPUOneStepOneCore", _no_tpu, required_tpu=True)
mirrored_strategy_with_one_cpu = NamedDistribution(
    "Mirrored1CPU", lambda: tf.distribute.MirroredStrategy(["/cpu:0"])
)
mirrored_strategy_with_one_gpu = NamedDistribution(
    "Mirrored1GPU", lambda: tf.distribute.MirroredStrategy(["/gpu:0"]), required_gpus=1
)
mirrored_strategy_with_gpu_and_cpu = NamedDistribution(
    "MirroredCPUAndGPU", lambda: tf.distribute.MirroredStrategy(["/gpu:0", "/cpu:0"]), required_gpus=1
)
mirrored_strategy_with_two_gpus = NamedDistribution(
    "Mirrored2GPUs", lambda: tf.distribute.MirroredStrategy(["/gpu:0", "/gpu:1"]), required_gpus=2
)
mirrored_strategy_with_cpu_1_and_2 = NamedDistribution(
    "Mirrored2CPU", lambda: tf.distribute.MirroredStrategy(["/cpu:1", "/cpu:2"])
)
central_storage_strategy_with_two_gpus = NamedDistribution(
    "CentralStorage2GPUs",
    lambda: tf.distribute.experimental.CentralStorageStrategy(["/gpu:0", "/gpu:1"]),
    required_gpus=2,
)
central_storage_strategy_with_gpu_and_cpu = NamedDistribution(
    "CentralStorageCPUAndGPU",
    lambda: tf.distribute.experimental.CentralStorageStrategy(["/gpu:0", "/cpu:0"]),
    required_gpus=1,
)

gradient_descent_optimizer_v1_fn = NamedObject(
    "GradientDescentV1", lambda: tf.train.GradientDescentOptimizer(0.2)
)
adagrad_optimizer_v1_fn = NamedObject("AdagradV1", lambda: tf.train.AdagradOptimizer(0.001))
adam_optimizer_v1_fn = NamedObject("AdamV1", lambda: tf.train.AdamOptimizer(0.001, epsilon=1))
rmsprop_optimizer_v1_fn = NamedObject("RmsPropV1", lambda: tf.train.RMSPropOptimizer(0.001))
optimizers_v1 = [gradient_descent_optimizer_v1_fn, adagrad_optimizer_v1_fn]

gradient_descent_optimizer_keras_v2_fn = NamedObject(
    "GradientDescentKerasV2", lambda: tf.keras.optimizers.SGD(0.2)
)
adagrad_optimizer_keras_v2_fn = NamedObject("AdagradKerasV2", lambda: tf.keras.optimizers.Adagrad(0.001))
adam_optimizer_keras_v2_fn = NamedObject("AdamKerasV2", lambda: tf.keras.optimizers.Adam(0.001, epsilon=1.0))
rmsprop_optimizer_keras_v2_fn = NamedObject("RmsPropKerasV2", lambda: tf.keras.optimizers.RMSprop(0.001))
optimizers_v2 = [gradient_descent_optimizer_keras_v2_fn, adagrad_optimizer_keras_v2_fn]
optimizers_v1_and_v2 = optimizers_v1 + optimizers_v2

graph_and_eager_modes = ["graph", "eager"]
strategies_minus_tpu = [
    default_strategy,
    one_device_strategy,
    one_device_strategy_gpu,
    mirrored_strategy_with_gpu_and_cpu,
    mirrored_strategy_with_two_gpus,
]
tpu_strategies = [tpu_strategy, tpu_strategy_one_step]
_TRAINING_STRATEGIES = [
    one_device_strategy,
    mirrored_strategy_with_gpu_and_cpu,
    mirrored_strategy_with_two_gpus,
]


def set_virtual_cpus_to_at_least(num_virtual_cpus: int) -> None:
    """Divides the CPU into logical devices, unless there are as many already."""
    if num_virtual_cpus < 1:
        raise ValueError(f"`num_virtual_cpus` must be at least 1 not {num_virtual_cpus!r}")
    config = tf.config.experimental
    device = config.list_physical_devices("CPU")[0]
    there = config.get_virtual_device_configuration(device)
    if there is None:
        parts = [config.VirtualDeviceConfiguration() for _ in range(num_virtual_cpus)]
        config.set_virtual_device_configuration(device, parts)
    elif len(there) < num_virtual_cpus:
        raise RuntimeError(f"Already configured with {len(there)} < {num_virtual_cpus} virtual CPUs")


def distributions_and_v1_optimizers() -> list[Any]:
    """Strategies that train, each with the optimizers of TensorFlow 1."""
    return combine(distribution=_TRAINING_STRATEGIES, optimizer_fn=optimizers_v1)


def distributions_and_v2_optimizers() -> list[Any]:
    """Strategies that train, each with Keras' optimizers."""
    return combine(distribution=_TRAINING_STRATEGIES, optimizer_fn=optimizers_v2)


def distributions_and_v1_and_v2_optimizers() -> list[Any]:
    """Strategies that train, each with both kinds of optimizers."""
    return combine(distribution=_TRAINING_STRATEGIES, optimizer_fn=optimizers_v1_and_v2)


def strategy_minus_tpu_combinations() -> list[Any]:
    """Strategies of CPUs and GPUs in both modes."""
    return combine(distribution=strategies_minus_tpu, mode=graph_and_eager_modes)


def tpu_strategy_combinations() -> list[Any]:
    """Strategies of TPUs, which have graph mode only."""
    return combine(distribution=tpu_strategies, mode=["graph"])


def all_strategy_combinations() -> list[Any]:
    """All strategies in the modes that they have."""
    return strategy_minus_tpu_combinations() + tpu_strategy_combinations()


def all_strategy_minus_default_and_tpu_combinations() -> list[Any]:
    """The strategies of CPUs and GPUs that are no default, in both modes."""
    given = [
        one_device_strategy,
        one_device_strategy_gpu,
        mirrored_strategy_with_gpu_and_cpu,
        mirrored_strategy_with_two_gpus,
    ]
    return combine(distribution=given, mode=graph_and_eager_modes)


def all_strategy_combinations_minus_default() -> list[Any]:
    """All strategies but the default one."""
    return all_strategy_minus_default_and_tpu_combinations() + tpu_strategy_combinations()
