"""The op types that only TensorFlow's own tests have, of `tensorflow.python.framework.test_ops`.

They are registered when a program imports that module, and not before. Most can stand in a graph but not run,
as those of TensorFlow, which have no kernels either.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from tideflow.graph import errors
from tideflow.graph.graph import GRAPH_DEF_VERSION
from tideflow.graph.op import Op
from tideflow.graph.op_registry import register_unlisted
from tideflow.graph.schema import Attr, attr
from tideflow.graph.wrappers import python_function, python_name

_PLAIN = {  # op types without attributes
    "A": " -> out: float",
    "B": " -> out: float",
    "FiveFloatOutputs": " -> a: float, b: float, c: float, d: float, e: float",
    "FloatInput": "a: float",
    "FloatOutput": " -> a: float",
    "FloatOutputStringOutput": " -> a: float, b: string",
    "Foo1": "a: float, b: int32, c: int32 -> d: float, e: int32",
    "Foo2": "a: float, b: string, c: string -> d: float, e: int32",
    "Foo3": "a: float, b: string, c: float -> d: float, e: int32",
    "Int64Output": " -> out: int64",
    "IntInput": "a: int32",
    "IntInputFloatInput": "a: int32, b: float",
    "IntInputIntOutput": "a: int32 -> b: int32",
    "IntOutput": " -> a: int32",
    "IntOutputFloatOutput": " -> a: int32, b: float",
    "KernelLabelRequired": "input: int32 -> result: string",
    "None": "",
    "OpWithFutureDefaultAttr": "",
    "RefInputFloatInput": "a: Ref(float), b: float",
    "RefInputFloatInputIntOutput": "a: Ref(float), b: float -> c: int32",
    "RefInputIntInput": "a: Ref(int32), b: int32",
    "RefOutput": " -> a: Ref(int32)",
    "RefOutputFloatOutput": " -> a: Ref(float), b: float",
    "ReservedInput": "input: int32",
    "Simple": "a: int32 -> out: float",
    "TwoFloatInputs": "a: float, b: float",
    "TwoFloatInputsFloatOutput": "a: float, b: float -> c: float",
    "TwoFloatInputsIntOutput": "a: float, b: float -> c: int32",
    "TwoFloatOutputs": " -> a: float, b: float",
    "TwoIntInputs": "a: int32, b: int32",
    "TwoIntOutputs": " -> a: int32, b: int32",
}

_TYPE = {"T": attr("type")}
_TYPES = {"T": attr("list(type)", minimum=0)}
_TEXT_OR_BOOL = attr("type", allowed=("string", "bool"))
_TEXTS_OR_BOOLS = attr("list(type)", allowed=("string", "bool"), minimum=1)
_FRUIT = ("apples", "oranges")


def _several(least: int) -> dict[str, Attr]:
    return {"N": attr("int", minimum=least)}


_WITH_ATTRIBUTES: dict[str, tuple[str, dict[str, Attr]]] = {
    "Attr": ("", {"a": attr("int")}),
    "AttrBool": ("", {"a": attr("bool")}),
    "AttrBoolList": ("", {"a": attr("list(bool)")}),
    "AttrDefault": ("", {"a": attr("string", "banana")}),
    "AttrEmptyListDefault": ("", {"a": attr("list(float)", [])}),
    "AttrEnum": ("", {"a": attr("string", allowed=_FRUIT)}),
    "AttrEnumList": ("", {"a": attr("list(string)", allowed=_FRUIT)}),
    "AttrFloat": ("", {"a": attr("float")}),
    "AttrListDefault": ("", {"a": attr("list(int)", [5, 15])}),
    "AttrListMin": ("", {"a": attr("list(int)", minimum=2)}),
    "AttrListTypeDefault": ("a: N * T, b: N * T", {"T": attr("type", "int32"), **_several(1)}),
    "AttrMin": ("", {"a": attr("int", minimum=5)}),
    "AttrPartialShape": ("", {"a": attr("shape")}),
    "AttrPartialShapeList": ("", {"a": attr("list(shape)")}),
    "AttrShape": ("", {"a": attr("shape")}),
    "AttrShapeList": ("", {"a": attr("list(shape)")}),
    "AttrTypeDefault": ("a: T", {"T": attr("type", "int32")}),
    "Binary": ("a: T, b: T -> out: T", _TYPE),
    "ComplexStruct": (
        " -> a: n_a * int32, b: n_b * int64, c: t_c",
        {
            "n_a": attr("int", minimum=0),
            "n_b": attr("int", minimum=0),
            "t_c": attr("list(type)", minimum=0),
        },
    ),
    "FuncAttr": ("", {"f": attr("func")}),
    "FuncListAttr": ("", {"f": attr("list(func)")}),
    "InPolymorphicTwice": ("a: N * T, b: M * T", {**_TYPE, **_several(0), "M": attr("int", minimum=0)}),
    "IntAttr": (" -> out: int64", {"foo": attr("int", 1)}),
    "ListInput": ("a: N * T", {**_several(1), **_TYPE}),
    "ListOutput": (" -> a: T", {"T": attr("list(type)", minimum=1)}),
    "MixedStruct": (" -> a: n_a * int32, b: float", {"n_a": attr("int", minimum=0)}),
    "NInPolymorphicTwice": ("a: N * T, b: N * T", {**_TYPE, **_several(0)}),
    "NInTwice": ("a: N * int32, b: N * string", _several(0)),
    "NInTwoTypeVariables": ("a: N * S, b: N * T", {"S": attr("type"), **_TYPE, **_several(0)}),
    "NIntsIn": ("a: N * int32", _several(2)),
    "NIntsOut": (" -> a: N * int32", _several(2)),
    "NIntsOutDefault": (" -> a: N * int32", {"N": attr("int", 3, minimum=2)}),
    "NPolymorphicIn": ("a: N * T", {**_TYPE, **_several(2)}),
    "NPolymorphicOut": (" -> a: N * T", {**_TYPE, **_several(2)}),
    "NPolymorphicOutDefault": (" -> a: N * T", {"T": attr("type", "bool"), "N": attr("int", 2, minimum=2)}),
    "NPolymorphicRestrictIn": ("a: N * T", {"T": _TEXT_OR_BOOL, **_several(2)}),
    "NPolymorphicRestrictOut": (" -> a: N * T", {"T": _TEXT_OR_BOOL, **_several(2)}),
    "OpWithDefaultAttr": (" -> a: int32", {"default_float": attr("float", 123.0)}),
    "OutT": (" -> a: T", _TYPE),
    "OutTypeList": (" -> out: T", _TYPES),
    "OutTypeListRestrict": (" -> out: t", {"t": _TEXTS_OR_BOOLS}),
    "Polymorphic": ("a: T -> out: T", _TYPE),
    "PolymorphicDefaultOut": (" -> out: T", {"T": attr("type", "string")}),
    "PolymorphicOut": (" -> out: T", _TYPE),
    "RefIn": ("a: Ref(T)", _TYPE),
    "RefOut": (" -> a: Ref(T)", _TYPE),
    "ReservedAttr": ("", {"range": attr("int")}),
    "Restrict": ("a: T -> out: T", {"T": _TEXT_OR_BOOL}),
    "SimpleStruct": (" -> a: n_a * int32", {"n_a": attr("int", minimum=0)}),
    "StringListAttr": ("", {"a": attr("list(string)"), "b": attr("string")}),
    "TestAttr": (" -> out: T", {"T": attr("type", allowed=("float32", "float64"))}),
    "TwoRefsIn": ("a: Ref(T), b: Ref(T)", _TYPE),
    "TypeList": ("a: T", _TYPES),
    "TypeListRestrict": ("a: T", {"T": _TEXTS_OR_BOOLS}),
    "TypeListTwice": ("a: T, b: T", _TYPES),
    "Unary": ("a: T -> b: T", _TYPE),
}


def _without_kernel(name: str) -> Callable[..., Any]:
    def kernel(*inputs: Any, **attrs: Any) -> Any:
        raise errors.invalid_argument(f"No OpKernel was registered to support Op '{name}'.")

    return kernel


def _text(value: str) -> np.ndarray:
    return np.array(value.encode(), object)


def _full_name(device: torch.device) -> str:
    kind = "CPU" if device.type == "cpu" else "GPU"
    return f"/job:localhost/replica:0/task:0/device:{kind}:{device.index or 0}"


def _label(node: Any) -> str:
    return node.attrs.get("_kernel") or "default"


class _StubResource:
    """A resource of a session, which is there once an operation has made it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.made = False

    def make(self) -> tuple[()]:
        self.made = True
        return ()

    def is_made(self) -> torch.Tensor:
        return torch.tensor(self.made)

    def use(self) -> tuple[()]:
        if not self.made:
            raise errors.not_found(f"Could not find resource: {self.name}")
        return ()


def _stub_handle(*, container: str, shared_name: str, resources: Any, node: Any) -> _StubResource:
    name = shared_name or node.name
    return resources.get_or_create(container, "stub", name, lambda: _StubResource(f"{container}/{name}"))


class _RemovedOp(Op):
    """An op type that graphs of today may not have any more; those of earlier versions may."""

    def _insert(self, graph: Any, *args: Any) -> Any:
        if graph.graph_def_versions.producer >= _REMOVED_IN:
            raise errors.UnimplementedError(
                None,
                None,
                f"Op {self.name} is not available in GraphDef version {graph.graph_def_versions.producer}. "
                f"It has been removed in version {_REMOVED_IN}. For reasons.",
            )
        return super()._insert(graph, *args)


_REMOVED_IN = 8

_RUNNING: dict[str, tuple[str, Callable[..., Any]]] = {
    "CopyOp": ("a: T -> b: T", lambda a: a.clone()),
    "DevicePlacementOp": (" -> device: string", lambda *, device: _text(_full_name(device))),
    "GraphDefVersion": (" -> version: int32", lambda: torch.tensor(GRAPH_DEF_VERSION, dtype=torch.int32)),
    "KernelLabel": (" -> result: string", lambda *, node: _text(f"My label is: {_label(node)}")),
    "ResourceCreateOp": ("resource: resource", lambda resource: resource.make()),
    "ResourceInitializedOp": ("resource: resource -> initialized: bool", lambda resource: resource.is_made()),
    "ResourceUsingOp": ("resource: resource", lambda resource: resource.use()),
    "TestStringOutput": ("input: float -> output1: float, output2: string", lambda input: (input, _text(""))),
}
_STATEFUL = (
    "DevicePlacementOp",
    "GraphDefVersion",
    "KernelLabel",  # steps would merge those with different labels
    "ResourceCreateOp",
    "ResourceInitializedOp",
    "ResourceUsingOp",
)
_TESTS = "tests/programs/test_inner_modules.py"


def _shape_rule(op: Op) -> Callable[..., Any]:
    """A rule by which nothing is known of the shapes, except that texts are scalars."""
    number = next((arg.number_attr for arg in op.outputs if arg.number_attr), None)
    if op.name == "ComplexStruct":
        return lambda *inputs, n_a, n_b, t_c: [None] * (n_a + n_b + len(t_c))
    if op.name == "OutTypeListRestrict":
        return lambda *inputs, t: [None] * len(t)
    if number == "N":
        return lambda *inputs, N: [None] * N
    if number == "n_a":
        return lambda *inputs, n_a: [None] * (n_a + len(op.outputs) - 1)
    if any(arg.type_list_attr for arg in op.outputs):
        return lambda *inputs, T: [None] * len(T)
    known = [() if op.name in _RUNNING and op.name != "CopyOp" else None] * len(op.outputs)
    return lambda *inputs: known if len(known) != 1 else known[0]


def _op_types() -> dict[str, Op]:
    """The op types by name."""
    plain = {name: (signature, {}) for name, signature in _PLAIN.items()}
    running = {name: (signature, {}) for name, (signature, _) in _RUNNING.items()}
    made = {}
    for name, (signature, attrs) in (plain | _WITH_ATTRIBUTES | running).items():
        stateful = name in _STATEFUL
        op = Op(name, signature, stateful=stateful, differentiable=False, registered=False, **attrs)
        op.shape(_shape_rule(op))
        op.kernel(_RUNNING[name][1] if name in _RUNNING else _without_kernel(name))
        op.samples(covered_by=_TESTS)
        made[name] = op
    return made | {"Old": _removed(), "StubResourceHandleOp": _stub()}


def _removed() -> Op:
    op = _RemovedOp("Old", "", differentiable=False, registered=False)
    op.shape(lambda: [])
    op.kernel(_without_kernel("Old"))
    op.samples(covered_by=_TESTS)
    return op


def _stub() -> Op:
    texts = {"container": "", "shared_name": ""}
    op = Op(
        "StubResourceHandleOp",
        " -> resource: resource",
        stateful=True,
        handle=True,
        differentiable=False,
        registered=False,
        **texts,
    )
    op.shape(lambda: [])
    op.kernel(_stub_handle)
    op.samples(covered_by=_TESTS)
    return op


_ops = _op_types()
globals().update({python_name(name): python_function(op) for name, op in _ops.items()})


def register_all() -> None:
    """Lets graphs have these op types from now on."""
    for op in _ops.values():
        register_unlisted(op)
