"""`tf.print`."""

from __future__ import annotations

import itertools
import logging as python_logging
import os
import pprint
import sys
from collections.abc import Iterator
from typing import Any

from absl import logging as absl_logging

from tideflow.export import export
from tideflow.graph import dtypes, nest
from tideflow.graph.composite import SparseTensor
from tideflow.graph.convert import is_tensor
from tideflow.graph.operation import Operation, Tensor
from tideflow.ops.control_flow import debugging
from tideflow.ops.strings import formatting
from tideflow.platform import logging

_LOGS = {
    "log(info)": (logging.INFO, logging.info, python_logging.info, absl_logging.info),
    "log(warning)": (
        logging.WARN,
        logging.warn,
        logging.warning,
        python_logging.warning,
        absl_logging.warning,
    ),
    "log(error)": (logging.ERROR, logging.error, python_logging.error, absl_logging.error),
}


@export("print")
def print_v2(*inputs: Any, **kwargs: Any) -> Operation:
    """Adds an operation that prints values.

    Args:
      *inputs: Tensors, structures of tensors, and other Python objects.
      **kwargs: `output_stream` (`sys.stderr`, the default, `sys.stdout`, a function of `tf.logging`, or
        `"file://path"`), `summarize` (the number of elements at each end of an axis; 3 by default, -1 for
        all), `sep`, `end` and `name`.

    Returns:
      The operation.

    Raises:
      ValueError: If an option is unknown or not valid.
    """
    stream = _stream_name(kwargs.pop("output_stream", sys.stderr))
    name = kwargs.pop("name", None)
    summarize = kwargs.pop("summarize", 3)
    separator = kwargs.pop("sep", " ")
    end = kwargs.pop("end", os.linesep)
    if kwargs:
        raise ValueError(f"Unrecognized keyword arguments for tf.print: {kwargs}")
    text = (
        inputs[0]
        if len(inputs) == 1 and _is_one_string(inputs[0])
        else _format(inputs, separator, summarize, f"{name}_format" if name else None)
    )
    return debugging.print_v2_op(text, output_stream=stream, end=end, name=name)


def _stream_name(stream: Any) -> str:
    if isinstance(stream, str) and stream.startswith("file://"):
        return stream
    if stream is sys.stdout:
        return "stdout"
    if stream is sys.stderr:
        return "stderr"
    for name, streams in _LOGS.items():
        if stream in streams:
            return name
    raise ValueError(
        f"Unsupported output stream, logging level, or file.{stream}. Supported streams are sys.stdout, "
        "sys.stderr, tf.logging.info, tf.logging.warning, tf.logging.error. File needs to be in the form of "
        "'file://<filepath>'."
    )


def _is_one_string(value: Any) -> bool:
    return (
        is_tensor(value)
        and not isinstance(value, SparseTensor)
        and value.shape.ndims == 0
        and value.dtype == dtypes.string
    )


def _format(inputs: tuple, separator: str, summarize: int, name: str | None) -> Tensor:
    """The tensors stand as placeholders in the text that Python prints for the rest."""
    placeholder = _placeholder_outside(separator.join(_text(value, "") for value in inputs))
    template = separator.join(_text(value, placeholder) for value in inputs)
    template = template.replace(f"'{placeholder}'", placeholder)
    tensors = [tensor for leaf in nest.flatten(list(inputs)) for tensor in _tensors_of(leaf)]
    return formatting.string_format(template, tensors, placeholder, summarize, name)


def _text(value: Any, placeholder: str) -> str:
    if isinstance(value, str):
        return value
    return pprint.pformat(nest.map_structure(lambda leaf: _stand_in(leaf, placeholder), value))


def _placeholder_outside(text: str) -> str:
    numbered = (f"{{{i}}}" for i in itertools.count())
    return next(mark for mark in itertools.chain(["{}"], numbered) if mark not in text)


def _stand_in(leaf: Any, placeholder: str) -> Any:
    if isinstance(leaf, SparseTensor):
        return f"SparseTensor(indices={placeholder}, values={placeholder}, shape={placeholder})"
    return placeholder if is_tensor(leaf) else leaf


def _tensors_of(leaf: Any) -> Iterator[Any]:
    if isinstance(leaf, SparseTensor):
        yield from (leaf.indices, leaf.values, leaf.dense_shape)
    elif is_tensor(leaf):
        yield leaf
