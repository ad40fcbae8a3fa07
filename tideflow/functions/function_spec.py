"""FunctionSpec: how the arguments of a call fit the parameters of a Python function, and its signature."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tideflow.graph import nest
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.type_spec import TensorSpec, TypeSpec
from tideflow.ops.arrays import constants

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_KEYWORDS = (
    "Cannot define a TensorFlow function from a Python function with keyword arguments when input_signature "
    "is provided."
)


class FunctionSpec:
    """The parameters of a function, and the signature that its calls must have, if there is one."""

    def __init__(self, function: Callable[..., Any], input_signature: Sequence[Any] | None) -> None:
        self.fullargspec = _open_signature(function)
        parameters = list(self.fullargspec.parameters.values())
        positional = [p for p in parameters if p.kind in _POSITIONAL]
        self.arg_names = [p.name for p in positional]
        self.vararg_name = next((p.name for p in parameters if p.kind is p.VAR_POSITIONAL), None)
        self._index = {name: i for i, name in enumerate(self.arg_names)}
        self._defaults = {i: p.default for i, p in enumerate(positional) if p.default is not p.empty}
        self.input_signature: tuple[Any, ...] | None = None
        if input_signature is None:
            return
        if any(p.kind is p.KEYWORD_ONLY for p in parameters):
            raise ValueError(_KEYWORDS)
        if not isinstance(input_signature, (tuple, list)):
            raise TypeError(
                f"input_signature must be either a tuple or a list, received {type(input_signature)}"
            )
        self.input_signature = tuple(input_signature)
        if any(not isinstance(spec, TypeSpec) for spec in nest.flatten(self.input_signature)):
            raise TypeError(
                f"Invalid input_signature {input_signature}; input_signature must be a possibly nested "
                "sequence of TensorSpec objects."
            )

    @staticmethod
    def without_first(function: Callable[..., Any]) -> inspect.Signature:
        """The signature of a method of an instance, which is its first argument."""
        signature = inspect.signature(function)
        parameters = list(signature.parameters.values())
        first = parameters[:1]
        kept = parameters if first and first[0].kind is inspect.Parameter.VAR_POSITIONAL else parameters[1:]
        return signature.replace(parameters=kept)

    def argument_names(self, count: int) -> list[str]:
        """Names for so many arguments by position: of the parameters, then numbered."""
        more = [f"{self.vararg_name}_{i}" for i in range(count - len(self.arg_names))]
        return self.arg_names[:count] + more

    def canonicalize_function_inputs(self, *args: Any, **kwargs: Any) -> tuple[tuple[Any, ...], Any]:
        """All arguments by position that can be, defaults included, and the others by name. Arrays become
        tensors; what a signature is for becomes what it says.
        """
        if self.input_signature is not None:
            self._check_covered(args, kwargs)
        by_index = {i: value for i, value in self._defaults.items() if i >= len(args)}
        rest = {}
        for name, value in kwargs.items():
            if name in self._index:
                by_index[self._index[name]] = value
            elif self.input_signature is not None:
                raise ValueError(_KEYWORDS)
            else:
                rest[name] = value
        missing = next((i for i in range(len(args), max(by_index, default=0)) if i not in by_index), None)
        if missing is not None:
            if not kwargs:
                raise AssertionError(
                    f"Not enough arguments ({args}, {list(self._defaults)}, {self.arg_names})"
                )
            raise TypeError(f"missing a required argument: '{self.arg_names[missing]}'")
        given = (*args, *[by_index[i] for i in sorted(by_index)])
        if self.input_signature is not None:
            return self._converted(given, self.input_signature), {}
        return _with_tensors(given), _with_tensors(rest) if rest else rest

    def _check_covered(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        assert self.input_signature is not None
        covered = "When input_signature is provided, only pass arguments covered by it. Received"
        if len(args) > len(self.input_signature):
            raise TypeError(f"{covered} {len(args)} argument(s).")
        for name in kwargs:
            if name not in self._index:
                raise TypeError(f"Function got an unexpected keyword argument {name}")
            if self._index[name] >= len(self.input_signature):
                raise TypeError(f"{covered} argument {name}.")

    def _converted(self, given: tuple[Any, ...], signature: tuple[Any, ...]) -> tuple[Any, ...]:
        def both() -> str:
            inputs = ",\n    ".join(map(str, given))
            specs = ",\n    ".join(map(str, signature))
            return f"  inputs: (\n    {inputs})\n  input_signature: (\n    {specs})"

        try:
            flat = nest.flatten_up_to(signature, given[: len(signature)])
        except (ValueError, TypeError):
            raise ValueError(
                f"Structure of Python function inputs does not match input_signature:\n{both()}"
            ) from None
        specs = nest.flatten(signature)
        for i, spec in enumerate(specs):
            if isinstance(spec, TensorSpec) and not isinstance(flat[i], Tensor):
                try:
                    flat[i] = convert_to_tensor(flat[i], preferred_dtype=spec.dtype)
                except (ValueError, TypeError):
                    raise ValueError(
                        "When input_signature is provided, all inputs to the Python function must be "
                        f"convertible to tensors:\n{both()}"
                    ) from None
        if any(not spec.is_compatible_with(value) for spec, value in zip(specs, flat, strict=True)):
            raise ValueError(f"Python inputs incompatible with input_signature:\n{both()}")
        packed: tuple[Any, ...] = nest.pack_sequence_as(signature, flat)
        return packed


def _open_signature(function: Callable[..., Any]) -> inspect.Signature:
    """The parameters that calls give: not those that a `functools.partial` has given by name."""
    signature = inspect.signature(function)
    fixed = function.keywords if isinstance(function, functools.partial) else {}
    return signature.replace(parameters=[p for p in signature.parameters.values() if p.name not in fixed])


def _with_tensors(structure: Any) -> Any:
    """The structure with tensors in the place of arrays."""
    flat = nest.flatten(structure)
    if not any(type(leaf) is np.ndarray for leaf in flat):
        return structure
    leaves = [constants.constant(leaf) if type(leaf) is np.ndarray else leaf for leaf in flat]
    return nest.pack_sequence_as(structure, leaves)
