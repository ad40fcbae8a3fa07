"""The data that models are given: put in order, checked against the model, and cut into batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any

import numpy as np

from tideflow.graph import nest
from tideflow.keras.engine import composites
from tideflow.keras.utils.arrays import rows_of_file


def as_array(value: Any, shape: Any = None) -> Any:
    """A value as an array with an axis of samples, and one more unless a shape says that there is none."""
    if isinstance(value, composites.Samples):
        return value
    if isinstance(value, int):
        raise ValueError(f"Expected an array data type but received an integer: {value}")
    if hasattr(value, "tocsr"):
        return value.tocsr()  # of which rows can be taken
    alone = shape is not None and len(shape) == 1
    if getattr(value, "is_eager", False):
        value = value.numpy()
    if value is None or hasattr(value, "shape") and not hasattr(value, "iloc"):
        return (
            np.expand_dims(value, 1)
            if getattr(value, "shape", None) is not None and len(value.shape) == 1 and not alone
            else value
        )
    value = np.asarray(value.values if hasattr(value, "iloc") else value)
    return np.expand_dims(value, 1) if value.ndim == 1 and not alone else value


def in_order(data: Any, names: Sequence[str], what: str, shapes: Sequence[Any] = ()) -> list[Any]:
    """One array for each name: of an array, a list of arrays, or a dictionary by names."""
    if not names:
        if data is not None and len(np.shape(data)):
            raise ValueError(f"Error when checking model {what}: expected no data, but got: {data}")
        return []
    if data is None:
        return [None] * len(names)
    if isinstance(data, dict):
        try:
            found = [data[name] for name in names]
        except KeyError as error:
            raise ValueError(
                f'No data provided for "{error.args[0]}". Need data for each key in: {list(names)}'
            ) from None
    elif isinstance(data, (list, tuple)):
        if (
            len(names) == 1
            and data
            and isinstance(data[0], (int, float))
            or len(names) == 1
            and len(data) != 1
            and data
            and isinstance(data[0], (list, tuple))
        ):
            found = [np.asarray(data)]
        else:
            found = [np.asarray(item) if isinstance(item, (list, tuple)) else item for item in data]
    else:
        found = [data]
    found = [as_array(item, shape) for item, shape in zip_longest(found, shapes[: len(found)])]
    if len(found) != len(names):
        if found and hasattr(found[0], "shape"):
            raise ValueError(
                f"Error when checking model {what}: the list of Numpy arrays that you are passing to your "
                f"model is not the size the model expected. Expected to see {len(names)} array(s), but "
                f"instead got the following list of {len(found)} arrays: {str(found)[:200]}..."
            )
        raise ValueError(
            f"Error when checking model {what}: you are passing a list as input to your model, but the model "
            f"expects a list of {len(names)} Numpy arrays instead. The list you passed was: {str(data)[:200]}"
        )
    return found


def check_shapes(
    arrays: list[Any], names: Sequence[str], shapes: Sequence[Any], what: str, batch: bool
) -> None:
    """ValueError where an array does not have the shape that the model expects."""
    for array, name, shape in zip(arrays, names, shapes, strict=True):
        if array is None or shape is None:
            continue
        found = tuple(array.shape)
        if len(found) != len(shape):
            raise ValueError(
                f"Error when checking {what}: expected {name} to have {len(shape)} dimensions, but got array "
                f"with shape {found}"
            )
        start = 0 if batch else 1
        for size, wanted in zip(found[start:], tuple(shape)[start:], strict=True):
            if wanted is not None and size is not None and size != wanted:
                raise ValueError(
                    f"Error when checking {what}: expected {name} to have shape {tuple(shape)[start:]} but "
                    f"got array with shape {found[start:]}"
                )


def check_lengths(inputs: list[Any], targets: list[Any], weights: list[Any]) -> None:
    """ValueError where arrays have different numbers of samples."""

    def lengths(arrays: list[Any]) -> list[int]:
        return sorted({int(array.shape[0]) for array in arrays if array is not None and len(array.shape)})

    x, y, w = lengths(inputs), lengths(targets), lengths(weights)
    if len(x) > 1:
        shapes = [array.shape for array in inputs]
        raise ValueError(
            f"All input arrays (x) should have the same number of samples. Got array shapes: {shapes}"
        )
    if len(y) > 1:
        shapes = [array.shape for array in targets]
        raise ValueError(
            f"All target arrays (y) should have the same number of samples. Got array shapes: {shapes}"
        )
    if x and y and x[0] != y[0]:
        raise ValueError(
            "Input arrays should have the same number of samples as target arrays. Found "
            f"{x[0]} input samples and {y[0]} target samples."
        )
    if len(w) > 1:
        shapes = [array.shape for array in weights]
        raise ValueError(
            f"All sample_weight arrays should have the same number of samples. Got array shapes: {shapes}"
        )
    if y and w and y[0] != w[0]:
        raise ValueError(
            "Sample_weight arrays should have the same number of samples as target arrays. Got "
            f"{w[0]} input samples and {y[0]} target samples."
        )


def check_losses(targets: list[Any], endpoints: list[Any]) -> None:
    """ValueError for targets that surely are not what the losses want."""
    for y, endpoint in zip(targets, endpoints, strict=True):
        if y is None or len(y.shape) < 1:
            continue
        name = getattr(getattr(endpoint.loss, "fn", None), "__name__", "")
        shape = endpoint.shape
        if name == "categorical_crossentropy" and y.shape[-1] == 1 and shape[-1] != 1:
            raise ValueError(
                f"You are passing a target array of shape {tuple(y.shape)} while using as loss "
                "`categorical_crossentropy`. `categorical_crossentropy` expects targets to be binary "
                "matrices (1s and 0s) of shape (samples, classes). If your targets are integer classes, you "
                "can convert them to the expected format via `tf.keras.utils.to_categorical`, or use the "
                "loss function `sparse_categorical_crossentropy` instead, which does expect integer targets."
            )
        keyed = {"mean_squared_error", "binary_crossentropy", "categorical_crossentropy"}
        if name in keyed and len(y.shape) == len(shape):
            for size, wanted in zip(y.shape[1:], shape[1:], strict=True):
                if wanted is not None and size != wanted:
                    raise ValueError(
                        f"A target array with shape {tuple(y.shape)} was passed for an output of shape "
                        f"{tuple(shape)} while using as loss `{name}`. This loss expects targets to have the "
                        "same shape as the output."
                    )


def sample_weights(y: Any, given: Any, class_weight: Any, mode: str | None) -> Any:
    """The weights of the samples of an output: those given, times those of their classes."""
    if mode is not None and mode != "temporal":
        raise ValueError(f'"sample_weight_mode should be None or "temporal". Found: {mode}')
    if given is not None:
        given = np.asarray(given)
        if mode == "temporal" and given.ndim < 2:
            raise ValueError(
                f"Found a sample_weight array with shape {given.shape}. Timestep-wise sample weighting "
                "(use of "
                'sample_weight_mode="temporal") requires at least a 2D sample_weight array.'
            )
        if mode is None and given.ndim != 1:
            raise ValueError(
                f"Found a sample_weight array with shape {given.shape}. In order to use timestep-wise sample "
                'weights, you should specify sample_weight_mode="temporal" in compile(). If you just '
                "mean to use "
                "sample-wise weights, make sure your sample_weight array is 1D."
            )
        if mode == "temporal" and len(y.shape) < 3:
            raise ValueError(
                f"Found a sample_weight array for an input with shape {tuple(y.shape)}. Timestep-wise sample "
                'weighting (use of sample_weight_mode="temporal") is restricted to outputs that are at least '
                "3D, i.e. that have a time dimension."
            )
        if given.shape[0] != y.shape[0]:
            raise ValueError(
                f"Found a sample_weight array with shape {given.shape} for an input with shape "
                f"{tuple(y.shape)}. sample_weight cannot be broadcast."
            )
    if not isinstance(class_weight, dict):
        return given
    if len(y.shape) > 2:
        raise ValueError("`class_weight` not supported for 3+ dimensional targets.")
    classes = np.argmax(y, axis=1) if len(y.shape) == 2 and y.shape[1] > 1 else np.reshape(y, y.shape[0])
    if missing := set(np.unique(classes).tolist()) - {float(key) for key in class_weight}:
        raise ValueError(
            f"`class_weight` must contain all classes in the data. The classes {missing} exist in the data "
            "but not in `class_weight`."
        )
    by_class = {float(key): value for key, value in class_weight.items()}
    weights = np.asarray([by_class[float(each)] for each in classes])
    return weights if given is None else given * weights


def split(arrays: list[Any], at: int) -> tuple[list[Any], list[Any]]:
    """The first part and the rest of arrays."""
    return [a if a is None else a[:at] for a in arrays], [a if a is None else a[at:] for a in arrays]


def size_of_batches(given: int | None) -> int:
    """The size that was given, or the default."""
    return 32 if given is None else given


def batches(number: int, size: int) -> list[tuple[int, int]]:
    """Where batches of `number` samples begin and end."""
    count = -(-number // size)
    return [(i * size, min((i + 1) * size, number)) for i in range(count)]


def shuffled(indices: np.ndarray, size: int, how: Any) -> np.ndarray:
    """The order of samples in an epoch: at random, or at random in batches of neighbours."""
    if how == "batch":
        whole = len(indices) // size * size
        blocks = indices[:whole].reshape((-1, size))
        np.random.shuffle(blocks)
        return np.append(blocks.flatten(), indices[whole:])
    if how:
        np.random.shuffle(indices)
    return indices


def taken(arrays: list[Any], indices: Any) -> list[Any]:
    """The samples of these numbers; those of a sparse matrix, dense."""

    def samples(array: Any) -> Any:
        if array is None:
            return None
        in_order = isinstance(indices, slice) or not _is_file(array)
        found = array[indices] if in_order else rows_of_file(array, indices)
        return found.toarray() if hasattr(found, "toarray") else found

    return [samples(array) for array in arrays]


def _is_file(array: Any) -> bool:
    return type(array).__module__.startswith("h5py") or type(array).__name__ == "HDF5Matrix"


def unpacked(batch: Any) -> tuple[Any, Any, Any]:
    """Inputs, targets and weights of what a generator gives."""
    if not isinstance(batch, tuple):
        return batch, None, None
    if len(batch) == 1:
        return batch[0], None, None
    if len(batch) == 2:
        return batch[0], batch[1], None
    if len(batch) == 3:
        return batch
    raise ValueError(
        "Output of generator should be a tuple `(x, y, sample_weight)` or `(x, y)`. Found: " + str(batch)
    )


def from_dataset(element: Any, initializer: Any, session: Any, out_of_range: type) -> Iterator[Any]:
    """The elements of a dataset, as arrays."""
    if initializer is not None:
        session.run(initializer)
    tensors = nest.flatten(element)
    while True:
        try:
            yield composites.element(element, session.run(tensors))
        except out_of_range:
            return
