"""Datasets of what Python generators yield."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import tideflow as tf
from tideflow.data import structure
from tideflow.data.functions import traced
from tideflow.graph import dtypes
from tideflow.graph.arrays import as_array
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.shapes import TensorShape, as_shape
from tideflow.graph.type_spec import TensorSpec
from tideflow.ops.control_flow import python_functions
from tideflow.ops.datasets import dataset_functions


class _Running:
    """The generators that are under way, by number. Graphs can hold a number, not a generator."""

    def __init__(self, generator: Callable):
        self._generator = generator
        self._lock = threading.Lock()
        self._numbers = itertools.count()
        self._arguments: dict[int, tuple] = {}
        self._iterators: dict[int, Iterator] = {}

    def begin(self, *args: Any) -> np.int64:
        with self._lock:
            number = next(self._numbers)
        self._arguments[number] = args
        return np.int64(number)

    def next(self, number: int) -> Any:
        """The next of what the generator yields; StopIteration at its end."""
        if number not in self._iterators:
            self._iterators[number] = iter(self._generator(*self._arguments.pop(number)))
        return next(self._iterators[number])

    def end(self, number: int) -> np.int64:
        self._arguments.pop(number, None)
        self._iterators.pop(number, None)
        return np.int64(0)


def from_generator(generator: Callable, output_types: Any, output_shapes: Any, args: Any) -> Any:
    """The dataset of what a generator yields."""
    if not callable(generator):
        raise TypeError("`generator` must be callable.")
    if output_shapes is None:
        output_shapes = structure.map_structure(lambda _: TensorShape(None), output_types)
    else:
        flat = [as_shape(shape) for shape in structure.up_to(output_types, output_shapes)]
        output_shapes = structure.pack(output_types, flat)
    if args is not None and not isinstance(args, (tuple, list)):
        raise TypeError("values must be a sequence.")
    given = tuple(convert_to_tensor(arg, name=f"args_{i}") for i, arg in enumerate(args or ()))
    types = structure.map_structure(dtypes.as_dtype, output_types)
    spec = structure.from_legacy(types, output_shapes)
    running = _Running(generator)
    checked = _Checked(running, spec)

    def get_iterator_id_fn(unused: Tensor) -> Tensor:
        return _number(python_functions.py_func(running.begin, list(given), dtypes.int64, stateful=True))

    def generator_next_fn(number: Tensor) -> Any:
        flat_types = [part.dtype for part in structure.flatten(spec)]
        values = python_functions.py_func(checked.next, [number], flat_types, stateful=True)
        values = list(values) if isinstance(values, (list, tuple)) else [values]
        return structure.from_tensors(spec, values)

    def finalize_fn(number: Tensor) -> Tensor:
        return _number(python_functions.py_func(running.end, [number], dtypes.int64, stateful=True))

    def flat_map_fn(unused: Tensor) -> Any:
        number = TensorSpec([], dtypes.int64)
        init = traced(get_iterator_id_fn, "Dataset.from_generator()", unused_spec)
        following = traced(generator_next_fn, "Dataset.from_generator()", number)
        finalize = traced(finalize_fn, "Dataset.from_generator()", number)
        variant = dataset_functions.generator_dataset_op(
            [unused, *init.captured],
            following.captured,
            finalize.captured,
            init_func=init.attr,
            next_func=following.attr,
            finalize_func=finalize.attr,
            **structure.flat_attributes(spec),
        )
        return tf.data.Dataset(variant, spec)

    unused_spec = TensorSpec([], dtypes.int32)
    return tf.data.Dataset.from_tensors(0).flat_map(flat_map_fn)


def _number(tensor: Tensor) -> Tensor:
    tensor.set_shape([])
    return tensor


class _Checked:
    """A generator whose elements are made arrays of the promised types and shapes."""

    def __init__(self, running: _Running, spec: Any):
        self._running, self._spec = running, spec

    def next(self, number: int) -> list[np.ndarray]:
        element = self._running.next(number)
        try:
            leaves = structure.up_to(self._spec, element)
        except (TypeError, ValueError):
            raise TypeError(
                "`generator` yielded an element that did not match the expected structure. The expected "
                f"structure was {structure.legacy_types(self._spec)}, but the yielded element was {element}."
            ) from None
        pairs = zip(leaves, structure.flatten(self._spec), strict=True)
        return [self._array(leaf, part) for leaf, part in pairs]

    @staticmethod
    def _array(leaf: Any, part: TensorSpec) -> np.ndarray:
        try:
            array = as_array(list(leaf) if isinstance(leaf, range) else leaf, part.dtype)
        except (TypeError, ValueError):
            raise TypeError(
                "`generator` yielded an element that could not be converted to the expected type. The "
                f"expected type was {part.dtype.name}, but the yielded element was {leaf}."
            ) from None
        if not part.shape.is_compatible_with(TensorShape(array.shape)):
            raise ValueError(
                f"`generator` yielded an element of shape {array.shape} where an element of shape "
                f"{part.shape} was expected."
            )
        return array
