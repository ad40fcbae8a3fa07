"""The schemas that libraries of kernels declare: `REGISTER_OP("ZeroOut").Attr("T: {float, int32}")`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tensorboard.compat.proto.types_pb2 import DataType

from tideflow.graph import errors
from tideflow.graph.dtypes import as_dtype
from tideflow.graph.schema import Attr
from tideflow.platform.kernel_specs import SpecError, check_argument, parse_attr


@dataclass
class OpDeclaration:
    """What a library says of an op type."""

    name: str
    index: int  # among the op types of the library
    inputs: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    attr_specs: list[str] = field(default_factory=list)
    attrs: dict[str, Attr] = field(default_factory=dict)
    traits: dict[str, bool] = field(default_factory=dict)
    doc: str = ""
    has_shape_function: bool = False

    @property
    def signature(self) -> str:
        return f"{', '.join(self.inputs)} -> {', '.join(self.outputs)}"


@dataclass
class KernelDeclaration:
    """What a library says of a kernel."""

    op: str
    index: int  # among the kernels of the library
    device: str = ""
    constraints: dict[str, list[Any]] = field(default_factory=dict)
    on_host: set[str] = field(default_factory=set)
    label: str = ""
    priority: int = 0

    def __str__(self) -> str:
        words = [f"device='{self.device}'"] + ([f"label='{self.label}'"] if self.label else [])
        words += [
            f"{name} in [{', '.join(DataType.Name(dtype.as_datatype_enum) for dtype in allowed)}]"
            for name, allowed in self.constraints.items()
        ]
        return "; ".join(words)


def declarations(words: list[tuple[bytes, bytes]]) -> tuple[list[OpDeclaration], list[KernelDeclaration]]:
    """The op types and kernels that a library describes."""
    ops: list[OpDeclaration] = []
    kernels: list[KernelDeclaration] = []
    for key, value in ((key.decode(), value.decode()) for key, value in words):
        if key == "op":
            ops.append(OpDeclaration(value, len(ops)))
        elif key == "kernel":
            kernels.append(KernelDeclaration(value, len(kernels)))
        elif kernels:
            _note_kernel(kernels[-1], key, value)
        else:
            _note_op(ops[-1], key, value)
    for op in ops:
        _read_specs(op)
    return ops, kernels


def _read_specs(op: OpDeclaration) -> None:
    """Reads what an op type says of its attributes and arguments, and refuses what is wrong with it."""
    wrong: list[str] = []
    declared = []
    for spec in op.attr_specs:
        try:
            name, each = parse_attr(spec)
            _check_minimum(name, each, op)
            declared.append((name, each))
        except SpecError as error:
            wrong.append(f'{error} from Attr("{spec}") for Op {op.name}')
    op.attrs = dict(declared)
    if not wrong:  # arguments refer to attributes
        names = [name for name, _ in declared]
        for kind, specs in (("input", op.inputs), ("output", op.outputs)):
            for spec in specs:
                try:
                    names.append(_argument(kind, spec, op))
                except SpecError as error:
                    wrong.append(f'{error} from {kind.title()}("{spec}") for Op {op.name}')
        wrong += [
            f"Duplicate name: {n}; in OpDef: {op.name}" for n in dict.fromkeys(names) if names.count(n) > 1
        ]
    if wrong:
        raise errors.invalid_argument("\n".join(wrong))


def _check_minimum(name: str, declared: Attr, op: OpDeclaration) -> None:
    least = declared.minimum
    if declared.kind.startswith("list(") and least is not None and least < 0:
        raise errors.invalid_argument(
            f"Attr '{name}' with list type must have a non-negative minimum, not {least}; in OpDef: {op.name}"
        )


def _argument(kind: str, spec: str, op: OpDeclaration) -> str:
    """The name of an input or output."""
    name, number = check_argument(spec, op.attrs)
    if number is not None and number not in op.attrs:
        raise errors.invalid_argument(
            f"No attr with name '{number}' for {kind} '{name}'; in OpDef: {op.name}"
        )
    if number is not None and op.attrs[number].kind != "int":
        raise errors.invalid_argument(
            f"Attr '{number}' used as length for {kind} '{name}' has type {op.attrs[number].kind} != int; "
            f"in OpDef: {op.name}"
        )
    return name


def _note_op(op: OpDeclaration, key: str, value: str) -> None:
    if key == "input":
        op.inputs.append(value)
    elif key == "output":
        op.outputs.append(value)
    elif key == "attr":
        op.attr_specs.append(value)
    elif key == "trait":
        op.traits[value] = True
    elif key == "doc":
        op.doc = value.strip()
    else:
        op.has_shape_function = True


def _note_kernel(kernel: KernelDeclaration, key: str, value: str) -> None:
    if key == "constraint":
        name, *allowed = value.split()
        kernel.constraints[name] = [as_dtype(int(number)) for number in allowed]
    elif key == "host":
        kernel.on_host.add(value)
    elif key == "priority":
        kernel.priority = int(value)
    else:
        setattr(kernel, key, value)  # device, label
