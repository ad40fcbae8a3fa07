"""tf.xla.experimental: parts of a program that the hot tier compiles as soon as they have run a few times."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tensorboard.compat.proto.node_def_pb2 import NodeDef

import tideflow as tf
from tideflow.export import export
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import add_to_collection, get_collection, get_default_graph

_SCOPES = ("__xla_scope",)  # the collection of the counter of a graph's scopes


class _Counter:
    """How many outermost scopes a graph has had, and how deep the present one is."""

    def __init__(self) -> None:
        self.count = self.depth = 0


@export("xla.experimental.jit_scope", "contrib.compiler.jit.experimental_jit_scope")
@contextlib.contextmanager
def experimental_jit_scope(
    compile_ops: bool | Callable[[NodeDef], bool] = True, separate_compiled_gradients: bool = False
) -> Iterator[None]:
    """Has the operations made in a `with` block compiled.

    A step with such operations is compiled as a whole after its first few runs, as with
    `optimizer_options.global_jit_level` in its session's configuration. `TIDEFLOW_COMPILE=off` prevents it.

    Args:
      compile_ops: Whether they are compiled; or a function that says so of a node.
      separate_compiled_gradients: Whether gradients are noted as compiled apart. They are compiled with the
        step that they belong to.

    Yields:
      None.

    Raises:
      RuntimeError: In eager mode.
    """
    if tf.executing_eagerly():
        raise RuntimeError(
            "xla.experimental.jit_scope is not supported when eager execution is enabled. Try use it inside "
            "tf.function."
        )
    found = get_collection(_SCOPES)
    counter = found[0] if found else _Counter()
    if not found:
        add_to_collection(_SCOPES, counter)
    attributes: dict[str, Any] = {
        "_XlaCompile": compile_ops if callable(compile_ops) else bool(compile_ops),
        "_XlaSeparateCompiledGradients": bool(separate_compiled_gradients),
    }
    if counter.depth == 0:
        attributes["_XlaScope"] = f"jit_scope_{counter.count}".encode()
        counter.count += 1
    counter.depth += 1
    try:
        with get_default_graph()._attr_scope(attributes):
            yield
    finally:
        counter.depth -= 1


@export("xla.experimental.compile", "contrib.compiler.xla.compile")
def compile(computation: Callable, inputs: Sequence[Any] | None = None) -> Any:
    """Calls a function, and has the operations that it makes compiled.

    Args:
      computation: A function of tensors that returns tensors, operations, or a structure of tensors.
      inputs: Its arguments.

    Returns:
      The tensors that the function returns: a list of them if it returns one or a sequence, and a structure
      like that which it returns otherwise. Operations that it returns are run with all of them. If there
      are none, an operation that runs what the function made.

    Raises:
      TypeError: If the inputs are no list or tuple, or something else than tensors is returned with
        operations in a structure.
    """
    if inputs is not None and not isinstance(inputs, (list, tuple)):
        raise TypeError("inputs must be a list or tuple")
    given = [tf.convert_to_tensor(each) for each in inputs or ()]
    with experimental_jit_scope():
        outputs = computation(*given)
        if isinstance(outputs, dict) or any(
            isinstance(each, (list, tuple, dict)) for each in _listed(outputs)
        ):
            return tf.nest.map_structure(tf.identity, outputs)
        listed = _listed(outputs)
        operations = [each for each in listed if isinstance(each, Operation)]
        tensors: list[Tensor] = [
            tf.convert_to_tensor(each) for each in listed if not isinstance(each, Operation)
        ]
        with tf.control_dependencies(operations):
            return [tf.identity(each) for each in tensors] if tensors else tf.no_op()


def _listed(outputs: Any) -> list[Any]:
    if outputs is None:
        return []
    return list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
