"""Op types as Python functions: `MatMul` as `mat_mul(a, b, transpose_a=False, …, name=None)`."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable
from typing import Any

from tideflow.graph.op import Op

_EMPTY = inspect.Parameter.empty


def python_name(op_type: str) -> str:
    """The function's name for an op type: MatMul is mat_mul, Conv2DBackpropInput conv2d_backprop_input."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z0-9])(?=[A-Z][a-z])", "_", op_type).lower()


def python_function(op: Op, attrs: Iterable[str] | None = None) -> Callable[..., Any]:
    """The Python function of an op type.

    Its parameters, by position or by name, are the op's inputs, then its attributes (in the order of `attrs`,
    if given; required ones first), then `name`.
    """
    inferred = {attr for arg in op.inputs for attr in (arg.type_attr, arg.number_attr, arg.type_list_attr)}
    attrs = [attr for attr in attrs or op.attrs if attr not in inferred]
    attrs.sort(key=lambda attr: attr in op._defaults)  # required attributes first
    schema_order = [*(arg.name for arg in op.inputs), *attrs, "name"]
    in_python = {ours: theirs for theirs, ours in op.python_names.items()}
    order = [in_python.get(key, key) for key in schema_order]
    name = python_name(op.name)

    def function(*args: Any, **kwargs: Any) -> Any:
        if len(args) > len(order):
            raise TypeError(f"{name}() takes {len(order)} arguments ({', '.join(order)}), {len(args)} given")
        return op.raw(**dict(zip(order, args)), **kwargs)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{op.name}({', '.join(order)})"
    given = {in_python.get(key, key): op._defaults[key] for key in attrs if key in op._defaults}
    defaults = {**given, "name": None}
    function.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter(key, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=defaults.get(key, _EMPTY))
            for key in order
        ]
    )
    return function
