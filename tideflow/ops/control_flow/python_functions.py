"""Python functions of arrays as ops: PyFunc. They run in the process that made the graph."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tideflow.export import export
from tideflow.graph import dtypes, errors
from tideflow.graph.arrays import as_array
from tideflow.graph.op import Op
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.schema import attr
from tideflow.graph.scopes import executing_eagerly, get_default_graph
from tideflow.runtime.values import to_numpy, to_torch

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike

_functions: dict[str, Callable] = {}  # by token, which is what a node knows of its function
_tokens = itertools.count()
_BACKWARD = ":gradient"  # at the end of the token of a gradient function
_ERRORS = (  # what a Python function raises, as the step reports it
    (StopIteration, errors.OutOfRangeError),
    (MemoryError, errors.ResourceExhaustedError),
    (NotImplementedError, errors.UnimplementedError),
    ((TypeError, ValueError), errors.InvalidArgumentError),
)


def _unknown_shapes(input, *, Tout):
    return [None] * len(Tout)


def _call_function(input, *, token, Tout):
    function = _functions.get(token)
    if function is None:
        raise errors.invalid_argument(
            f"callback {token} is not found: the function lives in the process that made the graph",
        )
    results = called(
        function, [np.array(to_numpy(x), copy=True) if x.ndim else to_numpy(x)[()] for x in input]
    )
    results = [] if results is None else list(results) if isinstance(results, (list, tuple)) else [results]
    if len(results) != len(Tout):
        raise errors.invalid_argument(
            f"{token} returns {len(results)} values, but expects to see {len(Tout)} values."
        )
    return [
        _checked(result, dtype, i, token) for i, (result, dtype) in enumerate(zip(results, Tout, strict=True))
    ]


def called(function: Callable, args: Sequence[Any]) -> Any:
    """Calls a program's function; what it raises becomes the error that a step reports."""
    try:
        return function(*args)
    except Exception as error:
        kind = next((kind for raised, kind in _ERRORS if isinstance(error, raised)), errors.UnknownError)
        raise kind(None, None, f"{type(error).__name__}: {error}") from error


def _checked(result: Any, dtype: dtypes.DType, i: int, token: str) -> Any:
    if dtype is dtypes.string:
        return as_array(result, dtype)
    array = np.asarray(result)
    if array.dtype == object:
        raise errors.internal(f"Unsupported object type {type(result).__name__}")
    if array.dtype != dtype.as_numpy_dtype:
        if isinstance(result, (np.ndarray, np.generic)):
            raise errors.invalid_argument(
                f"{i}-th value returned by {token} is "
                f"{errors.type_name(dtypes.as_dtype(array.dtype))}, but expects {errors.type_name(dtype)}"
            )
        array = array.astype(dtype.as_numpy_dtype)
    return to_torch(np.array(array, copy=True))


py_func_op = Op(
    "PyFunc",
    "input: Tin -> output: Tout",
    token=attr("string"),
    Tin=attr("list(type)", minimum=0),
    Tout=attr("list(type)", minimum=0),
    stateful=True,
    on_host=True,
    differentiable=False,
    touches="python",
)
py_func_op.shape(_unknown_shapes)
py_func_op.kernel(_call_function)
py_func_op.samples(covered_by="tests/ops/control_flow/test_python_functions.py")

py_func_stateless_op = Op(
    "PyFuncStateless",
    "input: Tin -> output: Tout",
    token=attr("string"),
    Tin=attr("list(type)", minimum=0),
    Tout=attr("list(type)", minimum=0),
    on_host=True,
    differentiable=False,
    touches="python",
)
py_func_stateless_op.shape(_unknown_shapes)
py_func_stateless_op.kernel(_call_function)
py_func_stateless_op.samples(covered_by="tests/ops/control_flow/test_python_functions.py")


eager_py_func_op = Op(
    "EagerPyFunc",
    "input: Tin -> output: Tout",
    token=attr("string"),
    is_async=False,
    Tin=attr("list(type)", minimum=0),
    Tout=attr("list(type)", minimum=0),
    stateful=True,
    on_host=True,
    touches="python",
)
eager_py_func_op.shape(_unknown_shapes)


@eager_py_func_op.kernel
def _eager_py_func_kernel(input, *, token, Tin, Tout):
    function = _functions.get(token)
    if function is None:
        raise errors.invalid_argument(
            f"callback {token} is not found: the function lives in the process that made the graph",
        )
    return called(function, [input, Tin, Tout])


def is_smooth(tensor: Tensor) -> bool:
    """Whether a tensor has a gradient."""
    return tensor.dtype.is_floating or tensor.dtype.is_complex


@eager_py_func_op.gradient
def _eager_py_func_gradient(op, *grads):
    token = f"{op.attrs['token']}{_BACKWARD}"
    types = [x.dtype for x in op.inputs if is_smooth(x)]
    given = [grad for grad, output in zip(grads, op.outputs, strict=True) if is_smooth(output)]
    found = iter(eager_py_func_op([*op.outputs, *given], token=token, Tout=types))
    return [next(found) if is_smooth(x) else None for x in op.inputs]


eager_py_func_op.samples(covered_by="tests/eager/test_python_functions.py")


def eager_py_func(
    forward: Callable, backward: Callable, inp: list[Any], types: list[dtypes.DType], name: str | None
) -> Operation:
    """An EagerPyFunc node. Both functions take runtime values, their types and the types of the results."""
    token = f"pyfunc_{next(_tokens)}"
    for key, function in ((token, forward), (f"{token}{_BACKWARD}", backward)):
        _functions[key] = function
        weakref.finalize(get_default_graph(), _functions.pop, key, None)
    return eager_py_func_op.node(inp, token=token, Tout=types, name=name)


@export("py_func")
def py_func(
    func: Callable,
    inp: Sequence[Any],
    Tout: DTypeLike | Sequence[DTypeLike],
    stateful: bool = True,
    name: str | None = None,
) -> Any:
    """A Python function of NumPy arrays as an operation.

    The function runs in this process, in the thread of its step, each time a step needs its outputs. It is
    not part of a GraphDef, and has no gradient.

    Args:
      func: Takes an array (a NumPy scalar for a scalar) for each of `inp` and returns as many values as
        `Tout` has types: a list or tuple of them, or one value. None stands for no values.
      inp: The tensors whose values the function gets. It may change them: they are copies.
      Tout: The type of each result, or a single type. A result that is an array must be of that type.
      stateful: Whether the function may give another result for the same arguments, or have effects. One
        that is not stateful may be called once for several equal operations.
      name: A name for the operation.

    Returns:
      A list of tensors of unknown shape, a single tensor where `Tout` is a single type, or the operation
      where there are no results.

    Raises:
      ValueError: If `func` is not callable.
      OpError: When the step runs, an error of the kind that fits what the function raised.
    """
    if not callable(func):
        raise ValueError(f"Expected func to be callable, got func of type {type(func)}")
    token = f"pyfunc_{next(_tokens)}"
    _functions[token] = func
    single = not isinstance(Tout, (list, tuple))
    op = py_func_op if stateful else py_func_stateless_op
    types = [Tout] if single else list(Tout)
    if executing_eagerly():
        try:
            results = op(list(inp), token=token, Tout=types)
        finally:
            del _functions[token]
        return results[0] if single else results or None
    weakref.finalize(get_default_graph(), _functions.pop, token, None)
    node = op.node(list(inp), token=token, Tout=types, name=name)
    if not node.outputs:
        return node
    return node.outputs[0] if single else list(node.outputs)


@export("numpy_function")
def numpy_function(
    func: Callable, inp: Sequence[Any], Tout: DTypeLike | Sequence[DTypeLike], name: str | None = None
) -> Any:
    """A Python function of NumPy arrays, which may have effects, as an operation.

    Args:
      func: The function; see `tf.py_func`.
      inp: The tensors whose values the function gets.
      Tout: The type of each result, or a single type.
      name: A name for the operation.

    Returns:
      What `tf.py_func` returns.
    """
    return py_func(func, inp, Tout, stateful=True, name=name)
