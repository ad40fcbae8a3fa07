"""An op's example: one of the samples that stand beside the op, as a call of the public function."""

from __future__ import annotations

import contextlib
import functools
import inspect
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import tideflow as tf
from docs_site import programs, signatures
from tideflow.graph.op import Op, definitions
from tideflow.ops.helpers.samples import SampleArray, SampleRef

_SPELLED_OUT = 12  # elements of an array that an example writes down
_LINES = 20  # of printed values; of a larger result the shape is shown
_TYPES_OF_LITERALS = (tf.float32, tf.int32, tf.bool, tf.string)  # what tf.constant makes of Python values


class _Unsuitable(Exception):
    """The sample cannot be said by calling this function."""


def example(name: str, function: Callable) -> programs.Ran | None:
    """The first sample of an op that the function makes which runs as a call of `name`, small ones first."""
    for op in sorted(
        ops_of(function), key=lambda op: op.name.lower() != name.rpartition(".")[2].replace("_", "")
    ):
        for sample in sorted(op.sample_cases or (), key=_effort):
            try:
                ran = programs.run(_program(name, function, op, sample))
            except Exception:  # the function takes something else than the op does: the next sample, maybe
                continue
            if any(node.type == op.name for node in ran.operations):
                return ran if ran.printed.count("\n") <= _LINES else _of_shape(ran)
    return None


def _of_shape(ran: programs.Ran) -> programs.Ran:
    """The example of a large result prints its shape."""
    *lines, last = ran.program.splitlines()
    result = last.strip().removeprefix("print(").removesuffix(")")
    one = ["    print(" + result + ".shape)"]
    several = [f"    for value in {result}:", "        print(value.shape)"]
    for ending in (one, several):
        with contextlib.suppress(AttributeError):
            return programs.run("\n".join(lines + ending))
    return ran


def ops_of(function: Callable) -> list[Op]:
    """The ops that a function makes by itself: those that its code names."""
    function = inspect.unwrap(function)
    if isinstance(function, functools.partial):
        function = function.func
    found = [getattr(function, "op", None)]
    if isinstance(function, types.FunctionType):
        found += [cell.cell_contents for cell in function.__closure__ or () if cell.cell_contents is not None]
        for code in _codes(function.__code__):
            found += [function.__globals__.get(name) for name in code.co_names]
            if "definition" in code.co_names:  # `definition("MatMul")(a, b)`
                found += [definitions().get(word) for word in code.co_consts if isinstance(word, str)]
    return list(dict.fromkeys(op for op in found if isinstance(op, Op)))


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def _effort(sample: tuple) -> tuple:
    """Samples that show something come first, then small ones."""
    arrays = [v for value in sample for v in (value if isinstance(value, list) else [value])]
    arrays = [value for value in arrays if isinstance(value, (SampleArray, np.ndarray))]
    sizes = [int(np.prod(value.shape)) for value in arrays]
    whole = not any(isinstance(value, SampleArray) and value.dtype.is_floating for value in arrays)
    return 0 in sizes, max(sizes, default=1) == 1, whole, sum(sizes)


def _program(name: str, function: Callable, op: Op, sample: tuple) -> str:
    inputs, attrs = (sample[:-1], sample[-1]) if isinstance(sample[-1:][0], dict) else (sample, {})
    known = {parameter.name: parameter for parameter in signatures.parameters(function)}
    names = _names(op, list(known))
    lines, given, variables = [], {}, []
    for salt, (parameter, value) in enumerate(zip(names, inputs, strict=True)):
        if isinstance(value, (SampleArray, SampleRef, np.ndarray)):
            lines.append(f"{parameter} = {_expression(value, salt)}")
            given[parameter] = parameter
        elif isinstance(value, list):
            given[parameter] = (
                f"[{', '.join(_expression(item, salt + 100 * i) for i, item in enumerate(value))}]"
            )
        else:
            given[parameter] = _literal(value)
        if isinstance(value, SampleRef):
            variables.append(parameter)
    for key, value in attrs.items():
        if key in known:
            given[key] = _literal(value)
        elif op.attrs[key].kind != "type":
            raise _Unsuitable(key)
    if "seed" in known and "seed" not in given:
        given["seed"] = "1"
    result = "z" if "y" in given else "y"
    lines.append(f"{result} = {name}({_arguments(known, given)})")
    lines.append("with tf.Session() as sess:")
    if variables:
        lines.append("    sess.run(tf.global_variables_initializer())")
    if op.outputs:
        lines.append(f"    print(sess.run({result}))")
    elif variables:
        lines += [f"    sess.run({result})", f"    print(sess.run({variables[0]}))"]
    else:
        raise _Unsuitable("nothing to print")
    return programs.with_imports("\n".join(lines))


def _names(op: Op, known: list[str]) -> list[str]:
    """The parameter for each input of the op: the one of its name, else the one in its place."""
    names = []
    for position, arg in enumerate(op.inputs):
        name = arg.name if arg.name in known else known[position] if position < len(known) else None
        if name is None or name in names or name == "name":
            raise _Unsuitable(arg.name)
        names.append(name)
    return names


def _arguments(known: dict[str, inspect.Parameter], given: dict[str, str]) -> str:
    """The call's arguments: by position as far as nothing is left out, and those with defaults by name."""
    words, by_position = [], True
    for name, parameter in known.items():
        if name not in given:
            by_position = False
            continue
        plain = by_position and parameter.default is parameter.empty
        words.append(given[name] if plain or given[name] == name and by_position else f"{name}={given[name]}")
    return ", ".join(words)


def _expression(value: Any, salt: int) -> str:
    """The sample's value in Python."""
    if isinstance(value, SampleRef):
        kind = ", use_resource=True" if value.kind == "resource" else ""
        inner = (
            _expression(value.value, salt) if isinstance(value.value, SampleArray) else _literal(value.value)
        )
        return f"tf.Variable({inner}{kind})"
    if isinstance(value, SampleArray):
        array = value.array(salt)
        if array.size > _SPELLED_OUT:
            return _random(value)
        value = array
    if not isinstance(value, np.ndarray):
        return _literal(value)
    if value.size > 2 * _SPELLED_OUT:
        raise _Unsuitable("too long")
    dtype = tf.as_dtype(value.dtype)
    suffix = "" if dtype in _TYPES_OF_LITERALS and value.size else f", tf.{dtype.name}"
    return f"tf.constant({_literal(value.tolist())}{suffix})"


def _random(value: SampleArray) -> str:
    """A large array: drawn when the program runs."""
    shape = list(value.shape)
    if value.dtype.is_floating:
        drawn = f"uniform({value.low:g}, {value.high:g}, {shape})"
    elif value.dtype.is_integer and not value.dtype.is_quantized:
        drawn = f"randint({int(value.low)}, {int(value.high)}, {shape})"
    else:
        raise _Unsuitable(value.dtype.name)
    return f"tf.constant(np.random.RandomState(0).{drawn}, tf.{value.dtype.name})"


def _literal(value: Any) -> str:
    if isinstance(value, tf.DType):
        return f"tf.{value.name}"
    if isinstance(value, (float, complex)):
        return repr(np.round(value, 2).item() if abs(value) > 0.01 else value)
    if isinstance(value, (bool, int, str, bytes, type(None))):
        return repr(value)
    if isinstance(value, np.generic):
        return _literal(value.item())
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(_literal(item) for item in value)}]"
    raise _Unsuitable(type(value).__name__)
