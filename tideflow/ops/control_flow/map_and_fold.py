"""Functions over the elements of tensors: map, fold and scan, each a loop with TensorArrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tideflow.export import export
from tideflow.graph import nest
from tideflow.graph.composite import SparseTensor
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.functions import FunctionGraph
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import get_default_graph, name_scope
from tideflow.ops.arrays import constants, shapes
from tideflow.ops.control_flow import while_loops
from tideflow.ops.control_flow.tensor_array import TensorArray


@export("map_fn")
def map_fn(
    fn: Callable,
    elems: Any,
    dtype: Any = None,
    parallel_iterations: int | None = None,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    name: str | None = None,
) -> Any:
    """The results of a function for each element along the first axis of tensors.

    Args:
      fn: Takes an element (a structure of them, where `elems` is one) and returns one, whose tensors have the
        same shape for every element.
      elems: A tensor, or a structure of tensors, with equally many elements.
      dtype: The types of the results, in their structure; those of `elems` unless given.
      parallel_iterations: How many iterations the graph allows to run at the same time.
      back_prop: Whether the result is to be differentiable.
      swap_memory: Kept for TensorFlow's programs; it has no effect.
      infer_shape: Whether the results' shapes are checked to be the same.
      name: A name for the scope of the new operations.

    Returns:
      Tensors of the results along a new first axis, in the structure of `dtype` or `elems`.

    Raises:
      TypeError: If `fn` is not callable, or `elems` is a SparseTensor.
      ValueError: If `elems` is a scalar.
    """
    _check_callable(fn)
    if isinstance(elems, SparseTensor):
        raise TypeError(
            "To perform a map on the values of a sparse tensor use either "
            "SparseTensor(input.indices, fn(input.values), input.dense_shape) or "
            "SparseTensor(input.indices, map_fn(fn, input.values), input.dense_shape)"
        )
    with _elements(name, "map", elems) as (flat, count):
        kinds = nest.pack_sequence_as(elems, [elem.dtype for elem in flat]) if dtype is None else dtype
        given = _unstacked(flat, count)
        i = constants.constant(0)
        results = [
            TensorArray(kind, count, dynamic_size=False, infer_shape=infer_shape)
            for kind in nest.flatten(kinds)
        ]

        def compute(i: Tensor, arrays: list[TensorArray]) -> tuple:
            values = fn(_packed(elems, [array.read(i) for array in given]))
            nest.assert_same_structure(kinds, values)
            pairs = zip(arrays, nest.flatten(values), strict=True)
            arrays = [array.write(i, value) for array, value in pairs]
            return i + 1, arrays

        _, results = while_loops.while_loop(
            lambda i, _: i < count,
            compute,
            (i, results),
            parallel_iterations=parallel_iterations or 10,
            back_prop=back_prop,
            swap_memory=swap_memory,
            maximum_iterations=count,
        )
        return nest.pack_sequence_as(kinds, _stacked(results, flat))


@export("vectorized_map")
def vectorized_map(fn: Callable, elems: Any) -> Any:
    """The results of a function for each element along the first axis of tensors, whatever their types.

    The function is called once more than by `tf.map_fn`, in a graph of its own, to find the types.

    Args:
      fn: Takes an element (a structure of them, where `elems` is one) and returns a structure of tensors.
      elems: A tensor, or a structure of tensors, with equally many elements.

    Returns:
      Tensors of the results along a new first axis, in the structure that `fn` returns.

    Raises:
      TypeError: If `fn` is not callable.
    """
    _check_callable(fn)
    aside = FunctionGraph(get_default_graph())
    rows = [convert_to_tensor(elem) for elem in nest.flatten(elems)]
    with aside.as_default():
        args = [aside.add_input(row.dtype, row.shape[1:], f"elem_{i}") for i, row in enumerate(rows)]
        kinds = nest.map_structure(lambda value: convert_to_tensor(value).dtype, fn(_packed(elems, args)))
    return map_fn(fn, nest.pack_sequence_as(elems, rows) if nest.is_nested(elems) else rows[0], dtype=kinds)


@export("foldl")
def foldl(
    fn: Callable,
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    """A function applied to a total and each element in turn: `fn(… fn(fn(start, first), second) …, last)`.

    Args:
      fn: Takes the total so far and an element, and returns the new total.
      elems: A tensor, or a structure of tensors, whose elements are along the first axis.
      initializer: The total to begin with; the first element unless given.
      parallel_iterations: How many iterations the graph allows to run at the same time.
      back_prop: Whether the result is to be differentiable.
      swap_memory: Kept for TensorFlow's programs; it has no effect.
      name: A name for the scope of the new operations.

    Returns:
      The last total.

    Raises:
      TypeError: If `fn` is not callable.
    """
    return _fold("foldl", fn, elems, initializer, parallel_iterations, back_prop, swap_memory, name)


@export("foldr")
def foldr(
    fn: Callable,
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    """A function applied to a total and each element in turn, from the last element to the first.

    Args:
      fn: Takes the total so far and an element, and returns the new total.
      elems: A tensor, or a structure of tensors, whose elements are along the first axis.
      initializer: The total to begin with; the last element unless given.
      parallel_iterations: How many iterations the graph allows to run at the same time.
      back_prop: Whether the result is to be differentiable.
      swap_memory: Kept for TensorFlow's programs; it has no effect.
      name: A name for the scope of the new operations.

    Returns:
      The last total.

    Raises:
      TypeError: If `fn` is not callable.
    """
    return _fold("foldr", fn, elems, initializer, parallel_iterations, back_prop, swap_memory, name)


def _fold(
    kind: str,
    fn: Callable,
    elems: Any,
    initializer: Any,
    parallel_iterations: int,
    back_prop: bool,
    swap_memory: bool,
    name: str | None,
) -> Any:
    _check_callable(fn)
    backward = kind == "foldr"
    with _elements(name, kind, elems) as (flat, count):
        given = _unstacked(flat, count)
        if initializer is None:
            i = count - 1 if backward else constants.constant(1)
            total = _packed(elems, [array.read(i if backward else 0) for array in given])
        else:
            i = count if backward else constants.constant(0)
            total = initializer

        def compute(i: Tensor, total: Any) -> list[Any]:
            if backward:
                i -= 1
            total = fn(total, _packed(elems, [array.read(i) for array in given]))
            return [i if backward else i + 1, total]

        _, total = while_loops.while_loop(
            (lambda i, _: i > 0) if backward else (lambda i, _: i < count),
            compute,
            [i, total],
            parallel_iterations=parallel_iterations,
            back_prop=back_prop,
            swap_memory=swap_memory,
            maximum_iterations=count,
        )
        return total


@export("scan")
def scan(
    fn: Callable,
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    reverse: bool = False,
    name: str | None = None,
) -> Any:
    """A function applied to a total and each element in turn, with all totals on the way.

    Args:
      fn: Takes the total so far and an element, and returns the new total.
      elems: A tensor, or a structure of tensors, whose elements are along the first axis.
      initializer: The total to begin with, which also gives the totals' structure; the first element unless
        given.
      parallel_iterations: How many iterations the graph allows to run at the same time.
      back_prop: Whether the result is to be differentiable.
      swap_memory: Kept for TensorFlow's programs; it has no effect.
      infer_shape: Whether the totals' shapes are checked to be the same.
      reverse: Whether to go from the last element to the first.
      name: A name for the scope of the new operations.

    Returns:
      The totals along a new first axis, each at the place of its element.

    Raises:
      TypeError: If `fn` is not callable.
    """
    _check_callable(fn)
    with _elements(name, "scan", elems) as (flat, count):
        given = _unstacked(flat, count)
        if initializer is None:
            first = count - 1 if reverse else 0
            start = [array.read(first) for array in given]
            structure = elems
            i = 1
        else:
            start = [convert_to_tensor(value) for value in nest.flatten(initializer)]
            structure = initializer
            i = 0
        results = [
            TensorArray(
                value.dtype,
                count,
                dynamic_size=False,
                element_shape=value.shape if infer_shape else None,
                infer_shape=infer_shape,
            )
            for value in start
        ]
        if initializer is None:
            results = [array.write(first, value) for array, value in zip(results, start, strict=True)]

        def compute(i: Tensor, total: list[Tensor], arrays: list[TensorArray]) -> tuple:
            values = fn(_packed(structure, total), _packed(elems, [array.read(i) for array in given]))
            nest.assert_same_structure(elems if initializer is None else initializer, values)
            flat_values = nest.flatten(values)
            arrays = [array.write(i, value) for array, value in zip(arrays, flat_values, strict=True)]
            return (i - 1 if reverse else i + 1), flat_values, arrays

        if reverse:
            i = count - 1 - i
            goes_on = lambda i, *_: i >= 0
        else:
            goes_on = lambda i, *_: i < count
        _, _, results = while_loops.while_loop(
            goes_on,
            compute,
            (i, start, results),
            parallel_iterations=parallel_iterations,
            back_prop=back_prop,
            swap_memory=swap_memory,
            maximum_iterations=count,
        )
        return nest.pack_sequence_as(structure, _stacked(results, flat))


def _check_callable(fn: Any) -> None:
    if not callable(fn):
        raise TypeError("fn must be callable.")


@contextmanager
def _elements(name: str | None, kind: str, elems: Any) -> Iterator[tuple[list[Tensor], Any]]:
    """The flat elements as tensors, inside the construct's name scope, and how many rows they have."""
    flat = nest.flatten(elems)
    with name_scope(name, kind, flat):
        flat = [convert_to_tensor(elem, name="elem") for elem in flat]
        shape = flat[0].shape
        if shape.ndims == 0:
            raise ValueError(
                "elems must be a 1+ dimensional Tensor, not a scalar"
                if len(flat) == 1
                else "elements in elems must be 1+ dimensional Tensors, not scalars"
            )
        known = None if shape.ndims is None else shape.as_list()[0]
        yield flat, known or shapes.shape(flat[0])[0]


def _unstacked(flat: list[Tensor], count: Any) -> list[TensorArray]:
    arrays = [TensorArray(elem.dtype, count, dynamic_size=False, infer_shape=True) for elem in flat]
    return [array.unstack(elem) for array, elem in zip(arrays, flat, strict=True)]


def _stacked(arrays: list[TensorArray], flat: list[Tensor]) -> list[Tensor]:
    results = [array.stack() for array in arrays]
    for elem in flat:
        rows = None if elem.shape.ndims is None else elem.shape.as_list()[0]
        for result in results:
            if result.shape.ndims is not None:
                result.set_shape([rows, *result.shape.as_list()[1:]])
    return results


def _packed(structure: Any, values: list[Tensor]) -> Any:
    return nest.pack_sequence_as(structure, values) if nest.is_nested(structure) else values[0]
