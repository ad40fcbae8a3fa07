"""ExecuTorch: programs for phones, by XNNPACK's kernels, in float32 or in 8 bits."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from typing import Any

import torch
from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
    XNNPACKQuantizer,
    get_symmetric_quantization_config,
)
from executorch.exir import to_edge_transform_and_lower
from torch.export import Dim, ExportedProgram
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

from tideflow.exchange.step_module import CannotExport

aten = torch.ops.aten


def program_bytes(program: ExportedProgram, is_exact: bool = True) -> bytes:
    """The contents of a .pte file. What XNNPACK cannot take a part of is left to ExecuTorch's own kernels.

    Args:
      program: The program.
      is_exact: Whether the file computes the same numbers; those of 8 bits do not.

    Raises:
      CannotExport: If ExecuTorch cannot write it, or computes something else.
    """
    reason = ""
    for partitioners in ([XnnpackPartitioner()], []):
        try:
            contents = _lowered(program, partitioners)
        except Exception as error:
            reason = f"ExecuTorch cannot write it: {error}"
            continue
        reason = _difference(program, contents) if is_exact else ""
        if not reason:
            return contents
    raise CannotExport([(None, reason)])


def _lowered(program: ExportedProgram, partitioners: list[Any]) -> bytes:
    any_sizes = _any_sizes(program)
    lowered = to_edge_transform_and_lower(program, partitioner=partitioners)
    if _any_sizes(lowered.exported_program()) != any_sizes:
        raise ValueError("it cannot leave the sizes of its inputs open: give fixed ones")
    contents: bytes = lowered.to_executorch().buffer
    return contents


def _difference(program: ExportedProgram, contents: bytes) -> str:
    """Where the file computes something else than the program does, for random inputs; empty where it does
    not.
    """
    from executorch.runtime import Runtime  # loaded when asked for

    generator = torch.Generator().manual_seed(0)
    inputs = tuple(
        [
            torch.rand(x.shape, generator=generator, dtype=x.dtype) if x.is_floating_point() else x
            for x in program.example_inputs[0]
        ]
    )
    wanted = program.module()(*inputs)
    try:
        found = Runtime.get().load_program(contents).load_method("forward").execute(inputs)
    except RuntimeError as error:
        return f"ExecuTorch cannot run what it writes: {error}"
    names = program.graph_signature.user_outputs
    for name, a, b in zip(names, wanted, found, strict=True):
        if not torch.allclose(a.double(), b.double(), 1e-3, 1e-4, equal_nan=True):
            return f"ExecuTorch computes something else for the output '{name}'"
    return ""


def of_8_bits(program: ExportedProgram, samples: Sequence[Sequence[torch.Tensor]]) -> ExportedProgram:
    """The program with products and convolutions of 8 bits, whose ranges the samples show."""
    module = program.module()
    _use_linear(module)
    quantizer = XNNPACKQuantizer().set_global(get_symmetric_quantization_config(is_per_channel=True))
    prepared = prepare_pt2e(module, quantizer)
    for inputs in samples:
        prepared(*inputs)
    most = max((limits.upper for limits in program.range_constraints.values()), default=None)
    any_size = Dim.DYNAMIC(max=int(most)) if most is not None else None
    axes = tuple(dict.fromkeys(free, any_size) for free in _any_sizes(program))
    return torch.export.export(convert_pt2e(prepared), program.example_inputs[0], dynamic_shapes=axes)


def seconds_a_run(path: str, inputs: Sequence[torch.Tensor], runs: int = 30) -> float:
    """How long ExecuTorch's runtime takes for a file here, in the median."""
    from executorch.runtime import Runtime  # loaded when asked for

    method = Runtime.get().load_program(path).load_method("forward")
    taken = []
    for _ in range(runs):
        began = time.perf_counter()
        method.execute(tuple(inputs))
        taken.append(time.perf_counter() - began)
    return statistics.median(taken)


def _any_sizes(program: ExportedProgram) -> list[list[int]]:
    """Of each input, the axes that may have any size."""
    names = set(program.graph_signature.user_inputs)
    inputs = [node for node in program.graph.find_nodes(op="placeholder") if node.name in names]
    return [[i for i, n in enumerate(node.meta["val"].shape) if not isinstance(n, int)] for node in inputs]


def _use_linear(module: torch.fx.GraphModule) -> None:
    """Writes products with constant matrices in the form that the quantizer looks for."""
    for node in list(module.graph.nodes):
        weights = _constant_matrix(module, node)
        if weights is None:
            continue
        name = f"{node.args[1].target}_transposed".replace(".", "_")
        module.register_buffer(name, weights.t().contiguous())
        with module.graph.inserting_before(node):
            transposed = module.graph.get_attr(name)
            linear = module.graph.call_function(aten.linear.default, (node.args[0], transposed))
        linear.meta = dict(node.meta)
        node.replace_all_uses_with(linear)
        module.graph.erase_node(node)
    module.graph.eliminate_dead_code()
    module.recompile()


def _constant_matrix(module: torch.fx.GraphModule, node: torch.fx.Node) -> torch.Tensor | None:
    """The matrix that a node multiplies something by, if it is a constant."""
    if node.target not in (aten.mm.default, aten.matmul.default) or node.args[1].op != "get_attr":
        return None
    value: Any = module
    for part in node.args[1].target.split("."):
        value = getattr(value, part)
    return value if value.ndim == 2 else None
