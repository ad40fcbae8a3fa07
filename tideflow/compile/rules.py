"""The rewrite rules. Each is a law about one op type; see `rewrite` for how they are applied."""

from __future__ import annotations

from typing import Any

from tideflow.compile.ir import Node
from tideflow.compile.rewrite import Sweep, rule


@rule("Identity", "StopGradient", "PreventGradient", phase="simplify")
def identity_is_its_input(node: Node, sweep: Sweep) -> Any:
    """Identity(x) -> x"""
    return node.inputs[0]


@rule("IdentityN", phase="simplify")
def identities_are_their_inputs(node: Node, sweep: Sweep) -> Any:
    """IdentityN(x, y) -> x, y"""
    return list(node.inputs)


@rule("Cast", phase="simplify")
def same_cast(node: Node, sweep: Sweep) -> Any:
    """Cast(x: T, DstT=T) -> x"""
    return node.inputs[0] if node.inputs[0].dtype.base_dtype is node.attrs["DstT"] else None


@rule("Reshape", phase="simplify")
def same_reshape(node: Node, sweep: Sweep) -> Any:
    """Reshape(x, shape of x) -> x"""
    before, after = node.inputs[0].shape, node.inputs[1].constant
    known = after is not None and before.is_fully_defined()
    return node.inputs[0] if known and before.as_list() == after.tolist() else None


@rule("Switch", "RefSwitch", phase="simplify")
def switch_is_its_data(node: Node, sweep: Sweep) -> Any:
    """Switch(x, p) -> x, x; what depends on a side carries the condition itself"""
    return [node.inputs[0], node.inputs[0]]
