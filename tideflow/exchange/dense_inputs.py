"""Inputs of AOTInductor packages. The compiled kernels read the memory of an input as if it were contiguous,
whatever its strides are. So a program that is compiled begins with calls of ATen, which looks at strides:
each input is copied once, to contiguous memory.
"""

from __future__ import annotations

from typing import Any

import torch
from torch._inductor.lowering import fallback_handler, register_lowering
from torch.export import ExportedProgram


@torch.library.custom_op("tideflow::flat", mutates_args=())
def flat(x: torch.Tensor) -> torch.Tensor:
    """The elements of a tensor in their order, in contiguous memory."""
    return x.reshape(-1).clone()


@flat.register_fake
def _flat_fake(x: torch.Tensor) -> torch.Tensor:
    return x.new_empty([x.numel()])


@register_lowering(torch.ops.tideflow.flat.default, type_promotion_kind=None)
def _flat_lowering(x: Any) -> Any:
    """`reshape` may give a view with a stride, of which `cat` makes memory without one."""
    one_axis = _call_of_aten(torch.ops.aten.reshape.default, x, [-1])
    return _call_of_aten(torch.ops.aten.cat.default, [one_axis])


def _call_of_aten(op: Any, *args: Any) -> Any:
    return fallback_handler(op, add_to_fallback_set=False)(*args)


def take_any_strides(program: ExportedProgram) -> None:
    """Has a program use contiguous copies of its inputs."""
    graph = program.graph_module.graph
    names = set(program.graph_signature.user_inputs)
    for node in [node for node in graph.nodes if node.op == "placeholder" and node.name in names]:
        value = node.meta["val"]
        if isinstance(value, torch.Tensor) and value.ndim:
            _insert_copy(graph, node, value)
    graph.lint()
    program.graph_module.recompile()


def _insert_copy(graph: torch.fx.Graph, node: torch.fx.Node, value: torch.Tensor) -> None:
    users = list(node.users)
    last = [each for each in graph.nodes if each.op == "placeholder"][-1]
    with graph.inserting_before(last.next), value.fake_mode:
        made = _call(graph, torch.ops.tideflow.flat.default, node)
        sizes = [
            size if isinstance(size, int) else _call(graph, torch.ops.aten.sym_size.int, node, axis)
            for axis, size in enumerate(value.shape)
        ]
        dense = _call(graph, torch.ops.aten.view.default, made, sizes)
    for user in users:
        user.replace_input_with(node, dense)


def _call(graph: torch.fx.Graph, function: Any, *args: Any) -> torch.fx.Node:
    made = graph.call_function(function, args)
    made.meta["val"] = function(*torch.fx.map_arg(args, lambda node: node.meta["val"]))
    return made
