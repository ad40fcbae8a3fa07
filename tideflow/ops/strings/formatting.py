"""Tensors as text for people: the op StringFormat, on which `tf.strings.format` and `tf.print` stand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tideflow.export import export
from tideflow.graph import dtypes, errors
from tideflow.graph.arrays import as_array
from tideflow.graph.convert import is_tensor
from tideflow.graph.op import Op
from tideflow.graph.operation import Tensor
from tideflow.graph.schema import attr
from tideflow.ops.helpers.samples import f32, i32
from tideflow.runtime.values import to_numpy

_ESCAPES = {"\n": r"\n", "\r": r"\r", "\t": r"\t", '"': r"\"", "'": r"\'", "\\": r"\\"}


def summary(array: np.ndarray, summarize: int = 3) -> str:
    """The array with `summarize` elements at both ends of every axis; all of them where it is negative."""
    ends = array.size if summarize < 0 else min(summarize, array.size)
    return _block(array if array.ndim else array[()], array.ndim, 0, ends)


def _block(value: Any, rank: int, depth: int, ends: int) -> str:
    if rank == 0:
        return element(value)
    gap = " " if rank == 1 else "\n" * (rank - 1) + " " * (depth + 1)
    show = lambda items: [_block(item, rank - 1, depth + 1, ends) for item in items]
    parts = show(value[:ends])
    if len(value) > 2 * ends:  # with nothing shown, TensorFlow still puts the gap before the dots
        parts = [*(parts or [""]), "..."]
    return "[" + gap.join(parts + show(value[max(ends, len(value) - ends) :])) + "]"


def element(value: Any) -> str:
    """One element as TensorFlow writes it."""
    if isinstance(value, bytes):
        return '"' + "".join(map(_escaped, value)) + '"'
    if isinstance(value, (bool, np.bool_)):
        return str(int(value))
    if isinstance(value, np.complexfloating):
        return f"({element(value.real)},{element(value.imag)})"
    if isinstance(value, np.integer):
        return str(value)
    return _short(value, 15, 17) if isinstance(value, np.float64) else _short(np.float32(value), 6, 9)


def _escaped(byte: int) -> str:
    char = chr(byte)
    return _ESCAPES.get(char) or (char if 32 <= byte < 127 else f"\\{byte:03o}")


def _short(value: Any, digits: int, exact_digits: int) -> str:
    """Few digits where they say the number exactly, all that matter otherwise."""
    text = f"{value:.{digits}g}"
    return text if type(value)(text) == value or value != value else f"{value:.{exact_digits}g}"


string_format_op = Op(
    "StringFormat",
    "inputs: T -> output: string",
    T=attr("list(type)", minimum=0),
    template="%s",
    placeholder="%s",
    summarize=3,
    on_host=True,
    differentiable=False,
)


@string_format_op.shape
def _string_format_shape(inputs):
    return []


@string_format_op.kernel
def _string_format_kernel(inputs, *, template, placeholder, summarize):
    head, *rest = template.split(placeholder)
    if len(rest) != len(inputs):
        raise errors.invalid_argument(
            f"num placeholders in template and num inputs must match: {len(rest)} vs. {len(inputs)}",
        )
    texts = (summary(to_numpy(value), summarize) + text for value, text in zip(inputs, rest, strict=True))
    return as_array((head + "".join(texts)).encode(), dtypes.string)


def _string_format_reference(inputs, template, placeholder, summarize):
    """As NumPy writes arrays, with TensorFlow's digits."""

    def digits(value: Any) -> str:
        if isinstance(value, np.integer):
            return str(value)
        return f"{value:.6g}" if np.float32(f"{value:.6g}") == value else f"{value:.9g}"

    text = template
    for array in inputs:
        shown = np.array2string(
            array, np.inf, separator=" ", edgeitems=summarize, threshold=0, formatter={"all": digits}
        )
        text = text.replace(placeholder, shown if array.size else "[\n ...]", 1)
    return np.array(text.encode(), object)


string_format_op.samples(
    ([i32(3), f32(2, 2)], {"template": "a: %s, b: %s"}),
    ([i32(9, 9)], {"template": "{}", "placeholder": "{}", "summarize": 2}),
    ([i32(3, 0), f32()], {"template": "{} {}", "placeholder": "{}"}),
    ([], {"template": "no tensor"}),
    against=_string_format_reference,
)


@export("strings.format")
def string_format(
    template: str,
    inputs: Tensor | Sequence[Any],
    placeholder: str = "{}",
    summarize: int = 3,
    name: str | None = None,
) -> Tensor:
    """Formats tensors as text, long axes abbreviated.

    Args:
      template: The text, with a placeholder for each tensor.
      inputs: A tensor, or a list of them.
      placeholder: What stands for a tensor in `template`.
      summarize: How many elements at each end of an axis are shown; all where it is negative.
      name: A name for the operation.

    Returns:
      A string scalar.

    Raises:
      ValueError: Where there are more or fewer placeholders than tensors.
    """
    tensors = [inputs] if is_tensor(inputs) else list(inputs)
    places = template.count(placeholder)
    if places != len(tensors):
        raise ValueError(
            f"{places} placeholder(s) in template does not match {len(tensors)} tensor(s) provided as input"
        )
    return string_format_op(
        tensors, template=template, placeholder=placeholder, summarize=summarize, name=name
    )
