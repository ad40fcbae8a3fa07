"""What tests and libraries take from `tensorflow.python.keras.engine.training_utils`."""

from __future__ import annotations

from typing import Any

import numpy as np

import tideflow as tf
from tideflow.keras.engine import data, feeding
from tideflow.programs.keras_utility_names import slice_arrays  # noqa: F401 - looked up by programs

standardize_weights = data.sample_weights
standardize_single_array = data.as_array


def should_run_validation(validation_freq: Any, epoch: int) -> bool:
    """Whether a model is validated after an epoch.

    Args:
      validation_freq: Every how many epochs, or the numbers of the epochs, which begin with 1.
      epoch: The epoch, which begins with 0.

    Returns:
      Whether it is.

    Raises:
      ValueError: If it is neither, or a number below 1.
    """
    one_indexed = epoch + 1
    if isinstance(validation_freq, int):
        if validation_freq < 1:
            raise ValueError("`validation_freq` can not be less than 1.")
        return one_indexed % validation_freq == 0
    if not hasattr(validation_freq, "__contains__"):
        raise ValueError(
            "`validation_freq` must be an Integer or `collections.Container` (e.g. list, tuple, etc.)"
        )
    return one_indexed in validation_freq


def standardize_input_data(
    data_given: Any,
    names: list[str],
    shapes: Any = None,
    check_batch_axis: bool = True,
    exception_prefix: str = "",
) -> list[Any]:
    """One array for each name, checked against the shapes.

    Args:
      data_given: An array, a list of arrays, or a dictionary by names.
      names: The names.
      shapes: The shapes, with the batch; None for any.
      check_batch_axis: Whether the size of the batch counts.
      exception_prefix: What the data are, in errors.

    Returns:
      The arrays.
    """
    found = data.in_order(data_given, names, exception_prefix)
    if shapes:
        data.check_shapes(found, names, shapes, exception_prefix, batch=check_batch_axis)
    return found


def standardize_sample_weights(sample_weight: Any, output_names: list[str]) -> list[Any]:
    """The weights of samples for each output.

    Args:
      sample_weight: One array, a list or a dictionary of them; None for none.
      output_names: The names of the outputs.

    Returns:
      The weights, in the order of the names.
    """
    return feeding.per_output(sample_weight, output_names, "sample_weight")


def check_array_lengths(inputs: Any, targets: Any, weights: Any = None) -> None:
    """Refuses arrays of different numbers of samples.

    Args:
      inputs: The inputs.
      targets: The true values.
      weights: The weights of samples.

    Raises:
      ValueError: If the numbers differ.
    """
    data.check_lengths(
        *([each for each in part or () if each is not None] for part in (inputs, targets, weights))
    )


def generic_output_names(outputs_list: list[Any]) -> list[str]:
    """Names for outputs that have none.

    Args:
      outputs_list: The outputs.

    Returns:
      The names.
    """
    return [f"output_{number + 1}" for number in range(len(outputs_list))]


def list_to_tuple(maybe_list: Any) -> Any:
    """A tuple of a list; anything else as it is.

    Args:
      maybe_list: The list.

    Returns:
      The tuple.
    """
    return tuple(maybe_list) if isinstance(maybe_list, list) else maybe_list


def has_tensors(ls: Any) -> bool:
    """Whether there is a tensor among values.

    Args:
      ls: The values: one, a list, or a dictionary.

    Returns:
      Whether there is.
    """
    values = ls.values() if isinstance(ls, dict) else ls if isinstance(ls, (list, tuple)) else [ls]
    return any(tf.is_tensor(each) for each in values)


def cast_if_floating_dtype(x: Any) -> Any:
    """Floating-point values in Keras's type.

    Args:
      x: A structure of arrays and tensors.

    Returns:
      The structure.
    """
    floatx = tf.keras.backend.floatx()

    def cast(value: Any) -> Any:
        if isinstance(value, np.ndarray) and value.dtype.kind == "f":
            return value.astype(floatx)
        return tf.cast(value, floatx) if tf.is_tensor(value) and value.dtype.is_floating else value

    return tf.nest.map_structure(cast, x)
