"""Names inside TensorFlow's Graph that libraries and tests use, made of what this Graph has."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from tideflow.graph.graph_def import attr_from_proto
from tideflow.graph.stacks import replaced

if TYPE_CHECKING:
    from tideflow.graph.operation import Operation
    from tideflow.graph.typing import ControlFlowContext


class InnerNames:
    """The part of Graph that stands under names of TensorFlow's own code."""

    _kernel_labels: dict[str, str]
    _default_original_op: Operation | None

    @contextlib.contextmanager
    def _kernel_label_map(self: Any, op_to_kernel_label_map: dict[str, str]) -> Iterator[None]:
        """Gives the operations made in a `with` block the attribute `_kernel`, by op type."""
        if not isinstance(op_to_kernel_label_map, dict) or not all(
            isinstance(text, str) for pair in op_to_kernel_label_map.items() for text in pair
        ):
            raise TypeError("op_to_kernel_label_map must be a dictionary mapping strings to strings")
        with replaced(self, "_kernel_labels", {**self._kernel_labels, **op_to_kernel_label_map}):
            yield

    def _create_op_internal(self: Any, op_type: str, inputs: Sequence[Any], *args: Any, **kwargs: Any) -> Any:
        return self.create_op(op_type, inputs, *args, **kwargs)

    @contextlib.contextmanager
    def _attr_scope(self: Any, attr_map: dict[str, Any]) -> Iterator[None]:
        """Gives the operations made in a `with` block these attributes, in their stored form or as
        AttrValues; or what a function of the node gives. None cancels one of a block outside.
        """
        if not isinstance(attr_map, dict):
            raise TypeError("attr_map must be a dictionary mapping strings to AttrValue protocol buffers")
        local = self._local
        attrs = {k: attr_from_proto(v) if hasattr(v, "WhichOneof") else v for k, v in attr_map.items()}
        merged = {**local.attrs, **attrs}
        with local.block(attrs={k: v for k, v in merged.items() if v is not None}):
            yield

    @contextlib.contextmanager
    def _original_op(self: Any, op: Operation) -> Iterator[None]:
        """Says of the operations made in a `with` block that they were made for another one."""
        with replaced(self, "_default_original_op", op):
            yield

    def _get_control_flow_context(self: Any) -> Any:
        return self._local.context

    def _set_control_flow_context(self: Any, ctx: ControlFlowContext | None) -> None:
        self._local.context = ctx

    def _as_graph_def(
        self: Any, from_version: int | None = None, add_shapes: bool = False
    ) -> tuple[Any, int]:
        return self.as_graph_def(from_version, add_shapes), self.version

    def _is_function(self: Any, name: str) -> Any:
        return name in self._functions

    def _get_function(self: Any, name: str) -> Any:
        return self._functions.get(name)

    @property
    def _name_stack(self: Any) -> Any:
        return self._local.name_stack

    @_name_stack.setter
    def _name_stack(self: Any, name_stack: str) -> None:
        self._local.name_stack = name_stack

    @property
    def _nodes_by_name(self: Any) -> Any:
        return self._by_name

    @property
    def _nodes_by_id(self: Any) -> Any:
        return {op._id: op for op in self._ops}

    @property
    def _names_in_use(self: Any) -> Any:
        return self._names

    @property
    def _version(self: Any) -> Any:
        return self.version

    @property
    def _seed(self: Any) -> Any:
        return self.seed

    @property
    def _building_function(self: Any) -> Any:
        return self.building_function
