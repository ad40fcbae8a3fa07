"""Ops about the running itself: grouping, assertions, printing, numeric checks, Python functions."""

from __future__ import annotations

import itertools
import sys
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from tideflow.export import export
from tideflow.graph import dtypes, errors, nest
from tideflow.graph.composite import IndexedSlices
from tideflow.graph.convert import convert_n_to_tensor, convert_to_tensor
from tideflow.graph.op import Op
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.schema import attr
from tideflow.graph.scopes import colocate_with, control_dependencies, device, get_default_graph, name_scope
from tideflow.ops.arrays import constants
from tideflow.ops.control_flow import conditionals
from tideflow.ops.helpers.samples import f32, i32
from tideflow.ops.strings import formatting
from tideflow.runtime.values import to_numpy, to_torch


def _rows(shown: list[str], shape: Sequence[int]) -> str:
    """The elements by rows, each in brackets; one that is cut short ends in dots."""
    if len(shape) < 2:
        return " ".join(shown)
    size = int(np.prod(shape[1:]))
    texts = []
    for start in range(0, len(shown), max(size, 1)):
        row = shown[start : start + size]
        dots = "..." if len(shape) == 2 and len(row) < size else ""
        texts.append(f"[{_rows(row, shape[1:])}{dots}]")
    return "".join(texts)


def _element(item: Any) -> str:
    return item.decode("utf-8", "replace") if isinstance(item, bytes) else formatting.element(item)


def _summary(value: Any, summarize: int) -> str:
    """The first elements of a value (all, where `summarize` is negative), as TensorFlow prints them."""
    array = to_numpy(value)
    flat = array.reshape(-1)
    shown = [_element(item) for item in flat[: summarize if summarize >= 0 else flat.size]]
    dots = "..." if len(shown) < flat.size else ""
    return f"[{_rows(shown, array.shape)}{dots}]"


# ------------------------------------------------------------------------------------------------ assertions

# and printing
assert_op = Op(
    "Assert",
    "condition: bool, data: T",
    T=attr("list(type)", minimum=1),
    summarize=3,
    stateful=True,
    differentiable=False,
)


@assert_op.shape
def _assert_shape(condition, data):
    return []


@assert_op.kernel
def _assert_kernel(condition, data, *, summarize):
    if condition.ndim:
        raise errors.invalid_argument(f"the condition should be a scalar: {list(condition.shape)}")
    if not condition:
        shown = " ".join(_summary(d, summarize) for d in data)
        raise errors.invalid_argument(f"assertion failed: {shown}")


assert_op.samples((True, [i32(2)]))


@export("Assert", "debugging.Assert")
def Assert(condition: Any, data: Sequence[Any], summarize: int | None = None, name: str | None = None) -> Any:
    """An operation that fails with InvalidArgumentError, showing `data`, where `condition` is false."""
    with name_scope(name, "Assert", [x for x in (condition, *data) if isinstance(x, Tensor)]):
        shown = convert_n_to_tensor(data)
        summarize = 3 if summarize is None else summarize
        if all(t.dtype.base_dtype in (dtypes.string, dtypes.int32) for t in shown):
            return assert_op(condition, data, summarize=summarize, name="Assert")
        # What may have to come from another device first is only brought when the assertion fails.
        condition = convert_to_tensor(condition, name="Condition")
        guarded = conditionals.cond(
            condition,
            constants.no_operation,
            lambda: assert_op(condition, data, summarize=summarize, name="Assert"),
            name="AssertGuard",
        )
        return guarded.op


print_op = Op(
    "Print",
    "input: T, data: U -> output: T",
    U=attr("list(type)", minimum=0),
    message="",
    first_n=-1,
    summarize=3,
    stateful=True,
)


@print_op.shape
def _print_shape(input, data):
    return input


@print_op.kernel
def _print_kernel(input, data, *, message, first_n, summarize, state):
    state["count"] = count = state.get("count", 0) + 1
    if first_n < 0 or count <= first_n:
        print(message + "".join(_summary(d, summarize) for d in data), file=sys.stderr, flush=True)
    return input


@print_op.gradient
def _print_gradient(op, *grads):
    return [*grads, *[None] * (len(op.inputs) - 1)]


print_op.samples((f32(2, 3), [i32(2)], {"message": "value: "}), (f32(2), []))


@export("Print")
def Print(
    input_: Any,
    data: Sequence[Any],
    message: str | None = None,
    first_n: int | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> Tensor:
    """`input_`, printing `data` to standard error each time it is computed."""
    return print_op(
        input_,
        list(data),
        message="" if message is None else message,
        first_n=-1 if first_n is None else first_n,
        summarize=3 if summarize is None else summarize,
        name=name,
    )


print_v2_op = Op(
    "PrintV2", "input: string", output_stream="stderr", end="\n", stateful=True, differentiable=False
)


@print_v2_op.shape
def _print_v2_shape(input):
    return []


def _log_level(stream: str) -> int:
    import logging

    return {"log(info)": logging.INFO, "log(warning)": logging.WARNING, "log(error)": logging.ERROR}.get(
        stream, logging.INFO
    )


@print_v2_op.kernel
def _print_v2_kernel(input, *, output_stream, end):
    text = input.item().decode("utf-8", "replace")
    stream = {"stdout": sys.stdout, "stderr": sys.stderr}.get(output_stream)
    if stream is not None:
        print(text, end=end, file=stream, flush=True)
    elif output_stream.startswith("file://"):
        with open(output_stream.removeprefix("file://"), "a") as file:
            file.write(text + end)
    else:
        import logging

        logging.getLogger("tideflow").log(_log_level(output_stream), text)


print_v2_op.samples((np.array(b"a sample", dtype=object),))

check_numerics_op = Op(
    "CheckNumerics",
    "tensor: T -> output: T",
    T=(dtypes.bfloat16, dtypes.half, dtypes.float32, dtypes.float64),
    message=attr("string"),
    stateful=True,
)


@check_numerics_op.shape
def _check_numerics_shape(tensor):
    return tensor


@check_numerics_op.kernel
def _check_numerics_kernel(tensor, *, message):
    if not torch.isfinite(tensor).all():
        found = " and ".join(
            n for n, test in (("Inf", torch.isinf), ("NaN", torch.isnan)) if test(tensor).any()
        )
        raise errors.invalid_argument(f"{message} : Tensor had {found} values")
    return tensor


@check_numerics_op.gradient
def _check_numerics_gradient(op, grad):
    return check_numerics_op(
        grad,
        message="Not a number (NaN) or infinity (Inf) values detected in gradient. " + op.attrs["message"],
    )


check_numerics_op.samples((f32(2, 3), {"message": "bad"}))


@export("check_numerics", "debugging.check_numerics")
def check_numerics(tensor: Any, message: str, name: str | None = None) -> Tensor:
    """`tensor`, or InvalidArgumentError with `message` where an element is NaN or infinite."""
    return check_numerics_op(tensor, message=message, name=name)


# ------------------------------------------------------------------------------------------------ Python

# functions
_functions: dict[str, Callable] = {}
_ERRORS = (  # what a Python function raises, as the step reports it
    (StopIteration, errors.OutOfRangeError),
    (MemoryError, errors.ResourceExhaustedError),
    (NotImplementedError, errors.UnimplementedError),
    ((TypeError, ValueError), errors.InvalidArgumentError),
)


def _py_func_family_shape(input, *, Tout):
    return [None] * len(Tout)


def _call(function: Callable, args: list[Any]) -> Any:
    try:
        return function(*args)
    except errors.OpError:
        raise
    except Exception as error:
        kind = next((kind for raised, kind in _ERRORS if isinstance(error, raised)), errors.UnknownError)
        raise kind(None, None, f"{type(error).__name__}: {error}") from error


def _checked(result: Any, dtype: dtypes.DType, i: int, token: str) -> Any:
    from tideflow.graph.arrays import as_array

    if dtype is dtypes.string:
        return as_array(result, dtype)
    array = np.asarray(result)
    if array.dtype != dtype.as_numpy_dtype:
        if isinstance(result, (np.ndarray, np.generic)):
            raise errors.invalid_argument(
                f"{i}-th value returned by {token} is {array.dtype}, but expects {dtype.name}"
            )
        array = array.astype(dtype.as_numpy_dtype)
    return to_torch(np.array(array, copy=True))


def _py_func_family_kernel(input, *, token, Tout):
    function = _functions.get(token)
    if function is None:
        raise errors.invalid_argument(
            f"callback {token} is not found: the function lives in the process that made the graph",
        )
    results = _call(
        function, [np.array(to_numpy(x), copy=True) if x.ndim else to_numpy(x)[()] for x in input]
    )
    results = [] if results is None else list(results) if isinstance(results, (list, type(()))) else [results]
    if len(results) != len(Tout):
        raise errors.invalid_argument(
            f"{token} returns {len(results)} values, but expects to see {len(Tout)} values."
        )
    return [
        _checked(result, dtype, i, token) for i, (result, dtype) in enumerate(zip(results, Tout, strict=True))
    ]


py_func_op = Op(
    "PyFunc",
    "input: Tin -> output: Tout",
    takes_any_time=True,
    token=attr("string"),
    Tin=attr("list(type)", minimum=0),
    Tout=attr("list(type)", minimum=0),
    stateful=True,
    on_host=True,
    differentiable=False,
)
py_func_op.shape(_py_func_family_shape)
py_func_op.kernel(_py_func_family_kernel)
py_func_op.samples(covered_by="tests/ops/control_flow/test_grouping.py")

py_func_stateless_op = Op(
    "PyFuncStateless",
    "input: Tin -> output: Tout",
    takes_any_time=True,
    token=attr("string"),
    Tin=attr("list(type)", minimum=0),
    Tout=attr("list(type)", minimum=0),
    on_host=True,
    differentiable=False,
)
py_func_stateless_op.shape(_py_func_family_shape)
py_func_stateless_op.kernel(_py_func_family_kernel)
py_func_stateless_op.samples(covered_by="tests/ops/control_flow/test_grouping.py")


@export("py_func")
def py_func(
    func: Callable, inp: Sequence[Any], Tout: Any, stateful: bool = True, name: str | None = None
) -> Any:
    """A Python function of arrays as an operation; it runs in this process, each time the step needs its
    outputs.
    """
    if not callable(func):
        raise ValueError(f"Expected func to be callable, got func of type {type(func)}")
    token = f"pyfunc_{next(_tokens)}"
    _functions[token] = func
    weakref.finalize(get_default_graph(), _functions.pop, token, None)
    single = not isinstance(Tout, (list, type(())))
    op = py_func_op if stateful else py_func_stateless_op
    node = op.node(list(inp), token=token, Tout=[Tout] if single else list(Tout), name=name)
    if not node.outputs:
        return node
    return node.outputs[0] if single else list(node.outputs)


_tokens = itertools.count()

# ------------------------------------------------------------------------------------------------ grouping


@export("group")
def group(*inputs: Any, **kwargs: Any) -> Operation:
    """An operation that has run when all of `inputs` have."""
    name = kwargs.pop("name", None)
    if kwargs:
        raise ValueError("Unknown keyword arguments: " + ", ".join(kwargs))
    with name_scope(name, "group_deps", [x for x in inputs if isinstance(x, Tensor)]) as scope:
        by_device: dict[str, list[Operation]] = {}
        for item in nest.flatten(inputs):
            if not hasattr(item, "device") and not hasattr(item, "_as_graph_element"):
                raise TypeError(f"tf.group() expects Tensors and Operations, not {item!r} of {type(item)}")
            op = item if isinstance(item, Operation) else item.op  # of a variable its state, not a read of it
            by_device.setdefault(op.device, []).append(op)
        if len(by_device) <= 1:
            place, ops = next(iter(by_device.items()), ("", []))
            return _no_op_after(ops, place, scope)
        gates = [_no_op_after(by_device[place], place, None) for place in sorted(by_device)]
        return _no_op_after(gates, "", scope)


def _no_op_after(ops: Sequence[Operation], place: str, name: str | None) -> Operation:
    with control_dependencies(ops):
        if not place:
            return constants.no_operation(name=name)
        with device(place):
            return constants.no_operation(name=name)


@export("tuple")
def tuple(
    tensors: Sequence[Any], name: str | None = None, control_inputs: Sequence[Any] | None = None
) -> list[Any]:
    """The same tensors, none of which is there before all of them are."""
    with name_scope(name, "tuple", [t for t in tensors if isinstance(t, Tensor)]):
        gating = [t if isinstance(t, Operation) else t.op for t in tensors if t is not None]
        for item in control_inputs or ():
            if not isinstance(item, (Tensor, Operation)):
                raise TypeError(f"Control input must be Operation or Tensor: {item}")
            gating.append(item.op if isinstance(item, Tensor) else item)
        if not gating:
            raise ValueError(f"Must have at least one Tensor: {tensors}")
        gate = group(*dict.fromkeys(sorted(gating, key=lambda op: op._id)))
        return [_after_gate(gate, t) for t in tensors]


def _after_gate(gate: Operation, value: Any) -> Any:
    if value is None:
        return None
    if not isinstance(value, Operation):
        return with_dependencies([gate], value)
    with control_dependencies([gate]):
        return group(value)


@export("with_dependencies")
def with_dependencies(dependencies: Sequence[Any], output_tensor: Any, name: str | None = None) -> Any:
    """`output_tensor` after `dependencies` have run."""
    parts = [output_tensor.values] if isinstance(output_tensor, IndexedSlices) else [output_tensor]
    with (
        name_scope(name, "control_dependency", parts) as scope,
        colocate_with(parts[0]),
        control_dependencies(dependencies),
    ):
        if isinstance(output_tensor, IndexedSlices):
            return IndexedSlices(
                constants.identity(output_tensor.values, name=scope),
                output_tensor.indices,
                output_tensor.dense_shape,
            )
        return constants.identity(convert_to_tensor(output_tensor), name=scope)


@export("numpy_function")
def numpy_function(func: Callable, inp: Sequence[Any], Tout: Any, name: str | None = None) -> Any:
    """`py_func` of a function that may have effects."""
    return py_func(func, inp, Tout, stateful=True, name=name)
