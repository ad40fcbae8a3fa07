"""`tensorflow.python.framework.op_def_library`: operations by the name of their op type.

Callers compare the messages of `apply_op` as a whole, so they are TensorFlow's alone, without what ours add.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from tensorboard.compat.proto.op_def_pb2 import OpDef, OpList

from tideflow.graph.errors import NotFoundError
from tideflow.graph.op import Op
from tideflow.graph.op_registry import definition


class OpDefLibrary:
    """Op types that `apply_op` adds to graphs: those of this process; and the OpDefs that were checked."""

    def __init__(self) -> None:
        self._ops: dict[str, OpDef] = {}

    def add_op(self, op_def: OpDef) -> None:
        """Checks the OpDef of an op type, which must be known to this process when it is applied."""
        if not isinstance(op_def, OpDef):
            raise TypeError(f"{op_def} is {type(op_def)}, not an op_def_pb2.OpDef")
        if not op_def.name:
            raise ValueError(f"{op_def} missing name.")
        if op_def.name in self._ops:
            raise RuntimeError(f"Op name {op_def.name} registered twice.")
        _check(op_def)
        self._ops[op_def.name] = op_def

    def add_op_list(self, op_list: OpList) -> None:
        """The same for several."""
        if not isinstance(op_list, OpList):
            raise TypeError(f"{op_list} is {type(op_list)}, not an op_def_pb2.OpList")
        for op_def in op_list.op:
            self.add_op(op_def)

    def apply_op(self, op_type_name: str, name: str | None = None, **keywords: Any) -> Any:
        """Adds an operation to the default graph.

        Args:
          op_type_name: The name of the op type.
          name: A name for the operation.
          **keywords: Its inputs and attributes.

        Returns:
          Its outputs, or the operation where it has none.
        """
        try:
            op = definition(op_type_name)
        except NotFoundError:
            raise RuntimeError(f"Unrecognized Op name {op_type_name}") from None
        arguments = dict(_arguments(op, keywords))
        try:
            return op.raw(name=name, **arguments)
        except (TypeError, ValueError) as error:
            raise type(error)(_tensorflow_words(str(error))) from None


def _arguments(op: Op, keywords: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Inputs and attributes by name. `input_` is `input`; None stands for the default of an attribute."""
    inferred = {
        attr: arg.name
        for arg in op.inputs
        for attr in (arg.type_attr, arg.number_attr, arg.type_list_attr)
        if attr
    }
    for arg in op.inputs:
        given = next((key for key in (arg.name, f"{arg.name}_") if key in keywords), None)
        if given is None:
            raise TypeError(f"No argument for input {arg.name}")
        yield arg.name, keywords.pop(given)
    for attr in op.attrs:
        given = next((key for key in (attr, f"{attr}_") if key in keywords), None)
        if given is not None and attr in inferred:
            raise TypeError(f"Should not specify value for inferred attr '{attr}'.")
        if given is None and attr not in inferred and attr not in op._defaults:
            raise TypeError(f"No argument for attr {attr}")
        if given is not None:
            value = keywords.pop(given)
            if value is None and attr not in op._defaults and op.attrs[attr].kind == "type":
                raise TypeError(f"Expected DataType for argument '{attr}' not None.")
            if value is not None or attr not in op._defaults:
                yield attr, value
    if keywords:
        raise TypeError(f"apply_op() got unexpected keyword arguments: {', '.join(sorted(keywords))}")


# TensorFlow's sentences, where ours go on after them on the same line.
_SENTENCES = re.compile(
    r"^(.*?(?:that don't all match\.|inferred from earlier arguments\.|that do not match expected type \w+\."
    r"|that are invalid\. Tensors: \[.*\]|that does not match type list .* of argument '\w+'\.)).*$"
)
_OP = re.compile(r" \(op \w+(, [^()]*)?\)$")


def _tensorflow_words(message: str) -> str:
    """A message without what ours add to TensorFlow's."""
    return _OP.sub("", _SENTENCES.sub(r"\1", message.partition("\n")[0]))


def _check(op_def: OpDef) -> None:
    kinds = {attr.name: attr.type for attr in op_def.attr}
    for arg in [*op_def.input_arg, *op_def.output_arg]:
        said = (arg.type != 0) + bool(arg.type_attr) + bool(arg.type_list_attr)
        if said != 1:
            raise TypeError(f"Arg '{arg.name}' of '{op_def.name}' must have one type field not {said}")
        for field, kind in (("type_attr", "type"), ("type_list_attr", "list(type)"), ("number_attr", "int")):
            attr = getattr(arg, field)
            if attr and attr not in kinds:
                raise TypeError(f"Inconsistent OpDef for '{op_def.name}', missing attr '{attr}'")
            if attr and kinds[attr] != kind:
                raise TypeError(
                    f"Attr '{attr}' of '{op_def.name}' used as a {field} but has type {kinds[attr]}"
                )


_op_def_lib = OpDefLibrary()


def apply_op(op_type_name: str, name: str | None = None, **keywords: Any) -> Any:
    """Adds an operation to the default graph; see `OpDefLibrary.apply_op`."""
    return _op_def_lib.apply_op(op_type_name, name, **keywords)
