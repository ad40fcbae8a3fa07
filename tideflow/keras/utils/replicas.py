"""Models on several GPUs, and kernels of Theano."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

import tideflow as tf
from tideflow.export import export
from tideflow.layers.keras_convolutional import Conv1D, Conv2D, Conv2DTranspose, Conv3D
from tideflow.layers.keras_session import batch_get_value, batch_set_value, get_session


def _ids(gpus: int | Sequence[int]) -> list[int]:
    several = isinstance(gpus, (list, tuple))
    if (len(gpus) if several else gpus) <= 1:
        what = "len(gpus) >= 2" if several else "gpus >= 2"
        raise ValueError(
            f"For multi-gpu usage to be effective, call `multi_gpu_model` with `{what}`. "
            f"Received: `gpus={gpus}`"
        )
    return list(gpus) if several else list(range(gpus))


def _check_devices(gpus: Any, ids: list[int]) -> None:
    wanted = ["/cpu:0", *(f"/gpu:{i}" for i in ids)]
    found = ["/" + device.name.lower().split("device:")[1] for device in get_session().list_devices()]
    if any(device not in found for device in wanted):
        raise ValueError(
            f"To call `multi_gpu_model` with `gpus={gpus}`, we expect the following devices to be available: "
            f"{wanted}. However this machine only has: {found}. Try reducing `gpus`."
        )


def _slice(data: Any, i: int, parts: int) -> Any:
    """One of as many parts of a batch; the last one has the rest."""
    batch = tf.shape(data)[0]
    step = batch // parts
    return data[step * i :] if i == parts - 1 else data[step * i : step * (i + 1)]


def _unique(names: Sequence[str]) -> list[str]:
    count, seen = Counter(names), Counter[str]()
    found = []
    for name in names:
        seen[name] += 1
        found.append(f"{name}_{seen[name]}" if count[name] > 1 else name)
    return found


@export("keras.utils.multi_gpu_model")
def multi_gpu_model(
    model: Any, gpus: int | Sequence[int], cpu_merge: bool = True, cpu_relocation: bool = False
) -> Any:
    """Makes a model that cuts its batch into parts, one for each GPU, with the weights of the given model.

    Args:
      model: The model.
      gpus: The number of GPUs, or a list of their numbers.
      cpu_merge: Whether the CPU joins the outputs, and not the first GPU.
      cpu_relocation: Whether a copy of the model on the CPU is used.

    Returns:
      The model.

    Raises:
      ValueError: If fewer than two GPUs are asked for, or fewer are there.
    """
    ids = _ids(gpus)
    _check_devices(gpus, ids)
    if cpu_relocation:
        with tf.device("/cpu:0"):
            model = tf.keras.models.clone_model(model)
    parts: list[list[Any]] = []
    for number, gpu in enumerate(ids):
        with tf.device(f"/gpu:{gpu}"), tf.name_scope(f"replica_{gpu}"):
            arguments = {"i": number, "parts": len(ids)}
            inputs = [
                tf.keras.layers.Lambda(_slice, output_shape=x.shape.as_list()[1:], arguments=arguments)(x)
                for x in model.inputs
            ]
            outputs = model(inputs if len(inputs) > 1 else inputs[0])
            parts.append(outputs if isinstance(outputs, list) else [outputs])
    with tf.device("/cpu:0" if cpu_merge else f"/gpu:{ids[0]}"):
        joined = [
            tf.keras.layers.concatenate(list(each), axis=0, name=name)
            for name, each in zip(_unique(model.output_names), zip(*parts, strict=True), strict=True)
        ]
        return tf.keras.Model(model.inputs, joined)


@export("keras.utils.convert_all_kernels_in_model")
def convert_all_kernels_in_model(model: Any) -> None:
    """Turns the kernels of convolutions around, in place: Theano's are the other way round.

    Args:
      model: The model.
    """
    kinds = (Conv1D, Conv2D, Conv3D, Conv2DTranspose)
    kernels = [layer.kernel for layer in model.layers if type(layer) in kinds]
    values = batch_get_value(kernels)
    batch_set_value(
        [
            (kernel, np.flip(value, range(value.ndim - 2)).copy())
            for kernel, value in zip(kernels, values, strict=True)
        ]
    )
