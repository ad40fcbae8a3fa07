"""Python functions of arrays as ops: PyFunc. They run in the process that made the graph."""

from __future__ import annotations

import itertools
import traceback
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tideflow.export import export
from tideflow.graph import dtypes, errors, nest
from tideflow.graph.arrays import as_array
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.op import Op
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.schema import attr
from tideflow.graph.scopes import executing_eagerly, get_default_graph
from tideflow.runtime.values import to_numpy, to_torch

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike

_tokens = itertools.count()
_BACKWARD = ":gradient"  # at the end of the token of a gradient function
_ERRORS = (  # what a Python function raises, as the step reports it
    (StopIteration, errors.OutOfRangeError),
    (MemoryError, errors.ResourceExhaustedError),
    (NotImplementedError, errors.UnimplementedError),
    ((TypeError, ValueError), errors.InvalidArgumentError),
)


class _Registered:
    """A function that nodes call.

    The graph of the nodes holds it, and nothing else does: a function that refers to its own graph would
    otherwise keep the graph, and itself, for ever.
    """

    __slots__ = ("__weakref__", "function")

    def __init__(self, function: Callable):
        self.function = function


_registered: weakref.WeakValueDictionary[str, _Registered] = weakref.WeakValueDictionary()


def register(token: str, function: Callable) -> None:
    """Makes a function known by its token, which is all that a node knows, for the life of the graph."""
    held = _Registered(function)
    _registered[token] = held
    get_default_graph()._python_functions.append(held)


def registered_count() -> int:
    """How many functions nodes of living graphs call."""
    return len(_registered)


def new_token() -> str:
    """A token that no function has."""
    return f"pyfunc_{next(_tokens)}"


def _function_of(token: str) -> Callable:
    held = _registered.get(token)
    if held is None:
        raise errors.invalid_argument(
            f"callback {token} is not found: the function lives in the process that made the graph",
        )
    return held.function


def _unknown_shapes(input, *, Tout):
    return [None] * len(Tout)


def _call_function(input, *, token, Tout):
    function = _function_of(token)
    results = called(
        function, [np.array(to_numpy(x), copy=True) if x.ndim else to_numpy(x)[()] for x in input]
    )
    results = as_many(results, len(Tout), token)
    return [
        _checked(result, dtype, i, token) for i, (result, dtype) in enumerate(zip(results, Tout, strict=True))
    ]


def called(function: Callable, args: Sequence[Any]) -> Any:
    """Calls a program's function; what it raises becomes the error that a step reports."""
    try:
        return function(*args)
    except Exception as error:
        kind = next((kind for raised, kind in _ERRORS if isinstance(error, raised)), errors.UnknownError)
        said = f"{type(error).__name__}: {error}"
        its_own = error.__traceback__.tb_next if error.__traceback__ else None  # without this function's line
        lines = traceback.format_exception(type(error), error, its_own)
        raise kind(None, None, "\n".join([said, *lines, ""])) from error


def as_many(returned: Any, count: int, token: str) -> list[Any]:
    """What a function returned as a list of as many values as its node has outputs."""
    single = not isinstance(returned, (list, tuple))
    results = [] if returned is None else [returned] if single else list(returned)
    if len(results) != count:
        raise errors.invalid_argument(
            f"{token} returns {len(results)} values, but expects to see {count} values."
        )
    return results


def refuse_variable(value: Any) -> None:
    """Raises an error for a variable that a function returned: only its value can leave the function."""
    if hasattr(value, "read_value") and hasattr(value, "handle"):
        raise RuntimeError(
            "Attempting to return a variable from an eagerly executed py_func. Only numeric data structures "
            "like Tensors or NumPy arrays should be returned; to return the value of a variable, make sure "
            "to obtain the Tensor backing it by calling `.read_value()` on the variable in question: "
            f"{value}"
        )


def _checked(result: Any, dtype: dtypes.DType, i: int, token: str) -> Any:
    if dtype is dtypes.string:
        return as_array(result, dtype)
    array = np.asarray(result)
    if array.dtype == object:
        raise errors.internal(f"Unsupported object type {type(result).__name__}")
    if array.dtype.fields:
        raise errors.internal("Unsupported numpy data type")
    found = dtypes.string if array.dtype.kind in "SU" else dtypes.as_dtype(array.dtype)
    if found != dtype:
        raise errors.invalid_argument(
            f"{i}-th value returned by {token} is {errors.type_name(found)}, but expects "
            f"{errors.type_name(dtype)}"
        )
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
    return as_many(called(_function_of(token), [input, Tin, Tout]), len(Tout), token)


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
    token = new_token()
    register(token, forward)
    register(f"{token}{_BACKWARD}", backward)
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
      where there are no results (an empty list if it is not stateful). In eager mode, the function is called
      at once, and its results become tensors of their own types.

    Raises:
      ValueError: If `func` is not callable.
      OpError: When the step runs, an error of the kind that fits what the function raised.
    """
    if not callable(func):
        raise ValueError(f"Expected func to be callable, got func of type {type(func)}")
    if executing_eagerly():
        return _called_eagerly(func, inp)
    single = not isinstance(Tout, (list, tuple))
    op = py_func_op if stateful else py_func_stateless_op
    types = [Tout] if single else list(Tout)
    token = new_token()
    register(token, func)
    node = op.node(list(inp), token=token, Tout=types, name=name)
    if not node.outputs:
        return node if stateful else []
    return node.outputs[0] if single else list(node.outputs)


def _called_eagerly(func: Callable, inp: Sequence[Any]) -> Any:
    """What a function returns, as tensors; what it raises is the program's own."""
    results = [
        value if value is None else convert_to_tensor(value)
        for value in nest.flatten(func(*[np.array(x) for x in inp]))
    ]
    return results[0] if len(results) == 1 else results


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
