"""What tests and libraries take from `tensorflow.python.keras.engine.training_utils`."""

from __future__ import annotations

from typing import Any

import numpy as np

import tideflow as tf
from tideflow.keras import losses
from tideflow.keras.engine import data, feeding
from tideflow.programs.inner.keras.utility_names import slice_arrays  # noqa: F401 - looked up by programs

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


# ------------------------------------------------------------------------------------------- data and steps


def has_symbolic_tensors(ls: Any) -> bool:
    """Whether there is a tensor of a graph among values.

    Args:
      ls: The values.

    Returns:
      Whether there is.
    """
    return not tf.executing_eagerly() and has_tensors(ls)


def check_steps_argument(input_data: Any, steps: int | None, steps_name: str) -> bool:
    """Whether the number of steps counts, and not that of samples.

    Args:
      input_data: The data.
      steps: The number of steps.
      steps_name: What the argument is called, for errors.

    Returns:
      Whether it does.

    Raises:
      ValueError: If it must be given, and is not.
    """
    is_iterator = isinstance(input_data, tf.data.Iterator)
    is_nothing = input_data is None or (isinstance(input_data, list) and not input_data)
    if is_nothing or is_iterator or has_symbolic_tensors(input_data):
        if steps is None:
            kind = "a Dataset iterator" if is_iterator else "data tensors"
            raise ValueError(
                f"When using {kind} as input to a model, you should specify the `{steps_name}` argument."
            )
        return True
    if isinstance(input_data, tf.data.Dataset):
        return True
    if steps is not None and isinstance(input_data, (np.ndarray, list, tuple, dict)):
        tf.logging.warning(
            "When passing input data as arrays, do not specify `steps_per_epoch`/`steps` argument. Please "
            "use `batch_size` instead."
        )
    return False


def check_num_samples(
    ins: Any, batch_size: int | None = None, steps: int | None = None, steps_name: str = "steps"
) -> int | None:
    """The number of samples.

    Args:
      ins: The arrays.
      batch_size: The size of a batch.
      steps: The number of steps.
      steps_name: What that argument is called, for errors.

    Returns:
      The number; None where steps count.

    Raises:
      ValueError: If both the size of a batch and the number of steps are given.
    """
    if steps is not None and batch_size is not None:
        raise ValueError(f"If {steps_name} is set, the `batch_size` must be None.")
    if check_steps_argument(ins, steps, steps_name):
        return None
    return int(ins[0].shape[0]) if hasattr(ins[0], "shape") else None


def batch_shuffle(index_array: np.ndarray, batch_size: int) -> np.ndarray:
    """Indices with their whole batches in another order; the last ones that make no batch stay.

    Args:
      index_array: The indices.
      batch_size: The size of a batch.

    Returns:
      The indices.
    """
    whole = len(index_array) // batch_size * batch_size
    batches = index_array[:whole].reshape((-1, batch_size))
    np.random.shuffle(batches)
    return np.append(batches.flatten(), index_array[whole:])


def standardize_class_weights(class_weight: Any, output_names: list[str]) -> list[Any]:
    """The weights of classes for each output.

    Args:
      class_weight: One, a list or a dictionary of them; None for none.
      output_names: The names of the outputs.

    Returns:
      The weights, in the order of the names.
    """
    return feeding.per_output(class_weight, output_names, "class_weight")


def check_generator_arguments(y: Any = None, sample_weight: Any = None, validation_split: Any = None) -> None:
    """Refuses what cannot stand beside a generator.

    Args:
      y: The true values.
      sample_weight: The weights of samples.
      validation_split: The part that validates.

    Raises:
      ValueError: If one is given.
    """
    if y is not None:
        raise ValueError(
            "`y` argument is not supported when data is a generator or Sequence instance. Instead pass "
            "targets as the second element of the generator."
        )
    if sample_weight is not None:
        raise ValueError(
            "`sample_weight` argument is not supported when data is a generator or Sequence instance. "
            "Instead pass sample weights as the third element of the generator."
        )
    if validation_split:
        raise ValueError(
            "If your data is in the form of a Python generator, you cannot use `validation_split`."
        )


def unpack_validation_data(validation_data: Any) -> tuple[Any, Any, Any]:
    """The inputs, true values and weights of what validates.

    Args:
      validation_data: A dataset, or a tuple of two or three.

    Returns:
      The three, None where there is none.

    Raises:
      ValueError: If it is a tuple of another length.
    """
    if isinstance(validation_data, (tf.data.Dataset, tf.data.Iterator)):
        return validation_data, None, None
    if len(validation_data) not in (2, 3):
        raise ValueError(
            "When passing a `validation_data` argument, it must contain either 2 items (x_val, y_val), or 3 "
            "items (x_val, y_val, val_sample_weights), or alternatively it could be a dataset or a dataset "
            f"or a dataset iterator. However we received `validation_data={validation_data}`"
        )
    return (*validation_data, None)[:3]


def cast_single_tensor(x: Any, dtype: Any = None) -> Any:
    """A floating-point tensor in a type.

    Args:
      x: The value.
      dtype: The type; Keras's if None.

    Returns:
      The tensor.
    """
    x = x if tf.is_tensor(x) else tf.convert_to_tensor(x)
    return tf.cast(x, dtype or tf.keras.backend.floatx()) if x.dtype.is_floating else x


def is_dataset_or_iterator(data: Any) -> bool:
    """Whether data are a dataset or an iterator of one.

    Args:
      data: The data.

    Returns:
      Whether they are.
    """
    return isinstance(data, (tf.data.Dataset, tf.data.Iterator))


def is_eager_dataset_or_iterator(data: Any) -> bool:
    """The same, in eager mode.

    Args:
      data: The data.

    Returns:
      Whether they are.
    """
    return tf.executing_eagerly() and is_dataset_or_iterator(data)


def convert_eager_tensors_to_numpy(structure: Any) -> Any:
    """A structure with arrays in the place of eager tensors.

    Args:
      structure: The structure.

    Returns:
      The structure.
    """
    return tf.nest.map_structure(lambda leaf: leaf.numpy() if hasattr(leaf, "numpy") else leaf, structure)


def get_loss_function(loss: Any) -> Any:
    """The loss that a name or a function stands for.

    Args:
      loss: The loss; None for none.

    Returns:
      An object, whose call takes weights of samples.
    """
    if loss is None or isinstance(loss, tf.keras.losses.Loss):
        return loss
    function = tf.keras.losses.get(loss)
    if isinstance(function, tf.keras.losses.Loss):
        return function
    return losses.LossFunctionWrapper(function, name=function.__name__)


def prepare_loss_functions(loss: Any, output_names: list[str]) -> list[Any]:
    """The losses of outputs.

    Args:
      loss: One for all, a list, or a dictionary by the names of outputs.
      output_names: The names of the outputs.

    Returns:
      The losses, in the order of the names.

    Raises:
      ValueError: If a dictionary has other names, or a list another length.
    """
    if isinstance(loss, dict):
        unknown = sorted(set(loss) - set(output_names))
        if unknown:
            raise ValueError(
                f"Unknown entries in loss dictionary: {unknown}. Only expected following keys: {output_names}"
            )
        return [get_loss_function(loss.get(name)) for name in output_names]
    if isinstance(loss, (list, tuple)):
        if len(loss) != len(output_names):
            raise ValueError(
                "When passing a list as loss, it should have one entry per model outputs. The model has "
                f"{len(output_names)} outputs, but you passed loss={loss}"
            )
        return [get_loss_function(each) for each in loss]
    return [get_loss_function(loss) for _ in output_names]


class ModelInputs:
    """The inputs of a model, in a structure that can be given back.

    Args:
      inputs: A value, or a list or dictionary of them.
    """

    def __init__(self, inputs: Any):
        self._inputs = inputs
        self._is_dict = isinstance(inputs, dict)
        self._is_single_input = not isinstance(inputs, (list, tuple, dict))
        self._input_names: list[str] = []
        if isinstance(inputs, dict):
            self._input_names = sorted(inputs)
            self._flattened_inputs = [inputs[name] for name in self._input_names]
        else:
            self._flattened_inputs = tf.nest.flatten(inputs)
            self._input_names = [f"input_{number + 1}" for number in range(len(self._flattened_inputs))]

    def get_input_names(self) -> list[str]:
        """Their names: those of a dictionary, or numbered ones."""
        return self._input_names

    def get_symbolic_inputs(self, return_single_as_list: bool = False) -> Any:
        """Placeholders in the places of arrays; from now on, the others see those, too.

        Args:
          return_single_as_list: Whether a single one comes as a list.

        Returns:
          The inputs, as they were given.
        """
        pairs = zip(self._input_names, self._flattened_inputs, strict=True)
        self._flattened_inputs = [_placeholder_of(name, value) for name, value in pairs]
        if self._is_dict:
            return dict(self.as_dict())
        if self._is_single_input and not return_single_as_list:
            return self._flattened_inputs[0]
        return self._flattened_inputs

    def as_dict(self) -> Any:
        """Pairs of names and inputs."""
        yield from zip(self._input_names, self._flattened_inputs, strict=True)

    def as_list(self) -> list[Any]:
        """The inputs."""
        return self._flattened_inputs


def _placeholder_of(name: str, value: Any) -> Any:
    """A placeholder for batches like an array; other values as they are."""
    if isinstance(value, (list, float, int)):
        value = np.asarray(value)
        value = value[:, np.newaxis] if value.ndim == 1 else value
    is_eager = tf.is_tensor(value) and hasattr(value, "numpy")
    if not isinstance(value, (np.ndarray, tf.TensorSpec)) and not is_eager:
        return value
    dtype = tf.as_dtype(value.dtype)
    kept = isinstance(value, tf.TensorSpec) or not dtype.is_floating
    shape = (None, *(tuple(value.shape)[1:] or (1,)))
    return tf.keras.backend.placeholder(
        shape=shape, name=name, dtype=dtype if kept else tf.keras.backend.floatx()
    )
