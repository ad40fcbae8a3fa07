"""Ops that look at a running step: assertions, printing, numeric checks, the time, the end of the process."""

from __future__ import annotations

import logging
import os
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

import tideflow as tf
from tideflow.export import export
from tideflow.graph import dtypes, errors
from tideflow.graph.convert import convert_n_to_tensor, convert_to_tensor
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.schema import attr
from tideflow.graph.scopes import executing_eagerly, name_scope
from tideflow.ops.arrays import constants
from tideflow.ops.helpers.failed_checks import condition_error
from tideflow.ops.helpers.samples import f32, i32, scratch, text
from tideflow.ops.strings import formatting
from tideflow.runtime.values import to_numpy

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike, TensorOrRagged


def _summary(value: Any, summarize: int) -> str:
    """The first elements of a value (all, where `summarize` is negative), as TensorFlow prints them."""
    array = to_numpy(value)
    flat = array.reshape(-1)
    shown = [_element(item) for item in flat[: summarize if summarize >= 0 else flat.size]]
    dots = "..." if len(shown) < flat.size else ""
    return f"[{_rows(shown, array.shape)}{dots}]"


def _element(item: Any) -> str:
    return item.decode("utf-8", "replace") if isinstance(item, bytes) else formatting.element(item)


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
        raise errors.invalid_argument(
            f"In[0] should be a scalar: the condition has shape {list(condition.shape)}"
        )
    if not condition:
        shown = " ".join(_summary(d, summarize) for d in data)
        raise errors.invalid_argument(f"assertion failed: {shown}")


assert_op.samples((True, [i32(2)]), law=lambda condition, data: condition)  # it has run, so it was true
assert_op.refuses((False, [np.arange(5)]), "assertion failed: [0 1 2...]", errors.InvalidArgumentError)


@export("Assert", "debugging.Assert")
def Assert(
    condition: TensorLike, data: Sequence[Any], summarize: int | None = None, name: str | None = None
) -> Operation:
    """An operation that fails where `condition` is false, showing `data`.

    It is checked in a step only if the step needs it: fetch it, or make it a control dependency of what must
    not be computed otherwise.

    Args:
      condition: A scalar bool tensor.
      data: The tensors to show when the assertion fails.
      summarize: How many elements of each tensor are shown; 3 unless given.
      name: A name for the operation.

    Returns:
      The operation.

    Raises:
      InvalidArgumentError: When the step runs and `condition` is false.
    """
    with name_scope(name, "Assert", [x for x in (condition, *data) if isinstance(x, Tensor)]):
        shown = convert_n_to_tensor(data)
        if executing_eagerly():
            if not condition:
                raise condition_error(condition, shown, summarize)
            return None
        summarize = 3 if summarize is None else summarize
        if all(t.dtype.base_dtype in (dtypes.string, dtypes.int32) for t in shown):
            return assert_op(condition, data, summarize=summarize, name="Assert")
        # What may have to come from another device first is only brought when the assertion fails.
        condition = convert_to_tensor(condition, name="Condition")
        guarded = tf.cond(
            condition,
            constants.no_operation,
            lambda: assert_op(condition, data, summarize=summarize, name="Assert"),
            name="AssertGuard",
        )
        return None if guarded is None else guarded.op


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


print_op.samples(
    (f32(2, 3), [i32(2)], {"message": "value: "}), (f32(2), []), against=lambda input, data: input
)


@export("Print")
def Print(
    input_: TensorLike,
    data: Sequence[Any],
    message: str | None = None,
    first_n: int | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> Tensor:
    """`input_` itself; computing it prints `data` to standard error.

    Args:
      input_: The tensor that is passed through.
      data: The tensors to print, in one line.
      message: What the line begins with.
      first_n: Print only the first so many times in a session; negative or None for every time.
      summarize: How many elements of each tensor are printed; 3 unless given, all where it is negative.
      name: A name for the operation.

    Returns:
      A tensor of the value, type and shape of `input_`.
    """
    return print_op(
        input_,
        list(data),
        message="" if message is None else message,
        first_n=-1 if first_n is None else first_n,
        summarize=3 if summarize is None else summarize,
        name=name,
    )


print_v2_op = Op(
    "PrintV2",
    "input: string",
    output_stream="stderr",
    end="\n",
    stateful=True,
    differentiable=False,
    touches="files",  # where the stream is a file://
)


@print_v2_op.shape
def _print_v2_shape(input):
    if input.ndims:
        raise ShapeError(f"input must be a scalar, but has rank: {input.ndims}")
    return []


_LOG_LEVELS = {"log(warning)": logging.WARNING, "log(error)": logging.ERROR}


@print_v2_op.kernel
def _print_v2_kernel(input, *, output_stream, end):
    if input.ndim:
        raise ShapeError(f"Input is expected to be scalar, but got shape {list(input.shape)}")
    message = input.item().decode("utf-8", "replace")
    stream = {"stdout": sys.stdout, "stderr": sys.stderr}.get(output_stream)
    if stream is not None:
        print(message, end=end, file=stream, flush=True)
    elif output_stream.startswith("file://"):
        with open(output_stream.removeprefix("file://"), "a") as file:
            file.write(message + end)
    else:
        logging.getLogger("tideflow").log(_LOG_LEVELS.get(output_stream, logging.INFO), message)


def _is_at_the_end(input: np.ndarray, output_stream: str, end: str) -> bool:
    with open(output_stream.removeprefix("file://")) as file:
        return file.read().endswith(input.item().decode() + end)


print_v2_op.samples(
    (text("a sample", shape=()), {"output_stream": f"file://{scratch('print')}", "end": "!\n"}),
    law=_is_at_the_end,
)

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


check_numerics_op.samples((f32(2, 3), {"message": "bad"}), (f32(0), {"message": ""}), against=lambda x: x)
check_numerics_op.refuses(
    (np.array([1, np.nan], np.float32), {"message": "weights"}),
    "weights : Tensor had NaN values",
    errors.InvalidArgumentError,
)


@export("check_numerics", "debugging.check_numerics", ragged="values")
def check_numerics(tensor: TensorOrRagged, message: str, name: str | None = None) -> Tensor:
    """`tensor` itself, of which a step makes sure that every element is a finite number.

    Its gradient is checked in the same way.

    Args:
      tensor: A tensor of floating-point numbers.
      message: What the error begins with.
      name: A name for the operation.

    Returns:
      A tensor of the value, type and shape of `tensor`.

    Raises:
      InvalidArgumentError: When the step runs and an element is NaN or infinite.
    """
    return check_numerics_op(tensor, message=message, name=name)


timestamp_op = Op("Timestamp", " -> ts: double", stateful=True, differentiable=False)


@timestamp_op.shape
def _timestamp_shape():
    return []


@timestamp_op.kernel
def _timestamp_kernel():
    return torch.tensor(time.time(), dtype=torch.float64)


timestamp_op.samples(covered_by="tests/ops/control_flow/test_debugging.py")


@export("timestamp")
def timestamp(name: str | None = None) -> Tensor:
    """The time at which a step computes this.

    Args:
      name: A name for the operation.

    Returns:
      A float64 scalar: seconds since the beginning of 1970, in UTC.
    """
    return timestamp_op(name=name)


abort_op = Op("Abort", "", error_msg="", exit_without_error=False, differentiable=False)
abort_op.effects = True  # TensorFlow's list of op types does not say so


@abort_op.shape
def _abort_shape():
    return []


@abort_op.kernel
def _abort_kernel(*, error_msg, exit_without_error):
    sys.stdout.flush()
    if exit_without_error:
        os._exit(0)
    print(f"Abort: {error_msg}", file=sys.stderr, flush=True)
    os.abort()


abort_op.samples(covered_by="tests/ops/control_flow/test_debugging.py")
