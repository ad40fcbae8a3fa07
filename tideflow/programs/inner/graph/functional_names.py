"""Functions of `tensorflow.python.ops.functional_ops` that take `Defun`s."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tideflow import raw_ops
from tideflow.functions.defun import DefinedFunction, Defun, get_extra_args
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import get_default_graph
from tideflow.ops.control_flow import calls, python_functions


def If(
    cond: Any,
    inputs: Sequence[Any],
    then_branch: DefinedFunction,
    else_branch: DefinedFunction,
    name: str | None = None,
) -> list[Tensor]:
    """Calls one of two functions.

    Args:
      cond: Which one: a tensor, of whose value Python's truth is taken.
      inputs: The arguments of either.
      then_branch: The function for true.
      else_branch: The function for false.
      name: A name for the operation.

    Returns:
      The results of the function.
    """
    return raw_ops.If(
        cond=cond,
        input=list(inputs),
        Tout=_result_types(then_branch),
        then_branch=then_branch,
        else_branch=else_branch,
        name=name,
    )


def While(
    input_: Sequence[Any],
    cond: DefinedFunction,
    body: DefinedFunction,
    name: str | None = None,
    hostmem: Sequence[int] | None = None,
) -> list[Tensor]:
    """Calls a function on its own results as long as another one says so.

    Args:
      input_: The first arguments.
      cond: From the arguments to whether there is another call.
      body: From the arguments to the next ones. What it takes from outside becomes a further argument.
      name: A name for the operation.
      hostmem: Which arguments stay in the host's memory; nothing here depends on it.

    Returns:
      The last arguments.

    Raises:
      ValueError: If `cond` takes something from outside, or the functions have different arguments.
    """
    if cond.captured_inputs:
        raise ValueError(
            "While op 'cond' argument must be a function without implicitly captured inputs; "
            f"{cond.name} takes {cond.captured_inputs}."
        )
    if cond.declared_input_types != body.declared_input_types:
        raise ValueError(
            "While op 'cond' and 'body' signatures do not match. "
            f"{cond.declared_input_types!r} vs {body.declared_input_types!r}"
        )
    captured = body.captured_inputs
    if not captured:
        return raw_ops.While(input=list(input_), cond=cond, body=body, name=name)
    own = len(body.declared_input_types)
    types = [*body.declared_input_types, *(tensor.dtype.base_dtype for tensor in captured)]

    @Defun(*types, func_name=f"{cond.name}_Wrapper")
    def with_captured(*args: Any) -> Any:
        return cond(*args[:own])

    results = raw_ops.While(input=[*input_, *captured], cond=with_captured, body=_passing_on(body), name=name)
    return results[:own]


def For(
    start: Any,
    limit: Any,
    delta: Any,
    inputs: Sequence[Any],
    body: DefinedFunction,
    name: str | None = None,
    hostmem: Sequence[int] | None = None,
    rewrite_with_while: bool | None = None,
) -> list[Tensor]:
    """Calls a function for each number of a range, on the number and its own results.

    Args:
      start: The first number.
      limit: Where the range ends; it is not in it.
      delta: The difference of two numbers.
      inputs: The first arguments, beside the number.
      body: From a number and the arguments to the next arguments.
      name: A name for the operation.
      hostmem: Which arguments stay in the host's memory; nothing here depends on it.
      rewrite_with_while: Whether to make a While of it.

    Returns:
      The last arguments.
    """
    if rewrite_with_while:
        return _for_by_while(start, limit, delta, list(inputs), body, name)
    captured = body.captured_inputs
    called = _passing_on(body) if captured else body
    results = raw_ops.For(
        start=start,
        limit=limit,
        delta=delta,
        input=[convert_to_tensor(value) for value in (*inputs, *captured)],
        body=called,
        name=name,
    )
    return [] if isinstance(results, Operation) else results[: len(inputs)]


def partitioned_call(
    args: Sequence[Any],
    f: Any,
    tout: Sequence[Any] | None = None,
    executing_eagerly: bool | None = None,
    config: Any = None,
    executor_type: str | None = None,
) -> Any:
    """Calls a function.

    Args:
      args: The arguments.
      f: The function, a `Defun`.
      tout: The types of the results, those of the function unless given.
      executing_eagerly: Whether the call is at once; nothing here depends on it.
      config: How to rewrite the function; nothing here depends on it.
      executor_type: What runs the function; nothing here depends on it.

    Returns:
      A list of the results; of a function without any, the operation, or None in eager mode.
    """
    types = _result_types(f) if tout is None else [dtypes.as_dtype(each) for each in tout]
    op = calls.stateful_partitioned_call_op if f.stateful_ops else calls.partitioned_call_op
    given = [convert_to_tensor(value) for value in args]
    if types or get_default_graph().is_eager:
        return op(given, Tout=types, f=f) or None
    return op.node(given, Tout=types, f=f)


def Gradient(inputs: Sequence[Any], f: DefinedFunction, name: str | None = None) -> list[Tensor]:
    """The gradient of a function.

    Args:
      inputs: The arguments of the function, and then a gradient for each of its results.
      f: The function.
      name: A name for the operation.

    Returns:
      A gradient for each argument.
    """
    types = [dtypes.as_dtype(arg.type) for arg in f.definition.signature.input_arg]
    return raw_ops.SymbolicGradient(input=list(inputs), Tout=types, f=f, name=name)


def _result_types(function: DefinedFunction) -> list[dtypes.DType]:
    return [dtypes.as_dtype(arg.type) for arg in function.definition.signature.output_arg]


def _for_by_while(
    start: Any, limit: Any, delta: Any, inputs: list[Any], body: DefinedFunction, name: str | None
) -> list[Tensor]:
    """A While that counts the calls."""
    start, limit, delta = (convert_to_tensor(value, dtypes.int32) for value in (start, limit, delta))
    size = raw_ops.Abs(x=delta)
    calls = (raw_ops.Abs(x=limit - start) + size - 1) // size
    types = [dtypes.int32] * 4 + list(body.declared_input_types)[1:]

    @Defun(*types, func_name=f"{body.name}_Cond")
    def is_left(i: Tensor, calls: Tensor, *args: Tensor) -> Tensor:
        return i < calls

    @Defun(*types, func_name=f"{body.name}_Body")
    def called(i: Tensor, calls: Tensor, start: Tensor, delta: Tensor, *args: Tensor) -> Any:
        return (i + 1, calls, start, delta, *_results(body(start + i * delta, *args)))

    return While([0, calls, start, delta, *inputs], is_left, called, name)[4:]


def _passing_on(body: DefinedFunction) -> DefinedFunction:
    """A function that returns what it takes from outside after its results, so that a loop hands it on."""

    @Defun(*body.declared_input_types, func_name=f"{body.name}_Wrapper")
    def wrapper(*args: Tensor) -> Any:
        results = _results(body(*args))
        return (*results, *get_extra_args())

    return wrapper


def _results(returned: Any) -> tuple[Any, ...]:
    """What a `Defun` returned, as a tuple."""
    if isinstance(returned, Operation):
        return ()
    return returned if isinstance(returned, tuple) else (returned,)


class _PythonFunctions:
    """The functions that operations of this process call."""

    def size(self) -> int:
        """How many there are."""
        return python_functions.registered_count()


_py_funcs = _PythonFunctions()


def remote_call(
    target: Any, args: Sequence[Any], Tout: Sequence[Any], f: Any, name: str | None = None
) -> Any:
    """Calls a function on a device.

    Args:
      target: The full name of the device.
      args: The arguments.
      Tout: The types of the results.
      f: The function, a `Defun`.
      name: A name for the operation.

    Returns:
      The results.
    """
    return raw_ops.RemoteCall(target=target, args=list(args), Tout=list(Tout), f=f, name=name)
