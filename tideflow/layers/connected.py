"""What a layer knows of its calls: inputs, outputs, their shapes and masks."""

from __future__ import annotations

from typing import Any

from tideflow.graph import nest
from tideflow.graph.scopes import name_scope
from tideflow.layers.nodes import KerasHistory, Node
from tideflow.ops.arrays import constants


def _mask_of(tensor: Any) -> Any:
    return getattr(tensor, "_keras_mask", None)


class Connected:
    """The part of `Layer` that keeps the nodes of its calls."""

    _inbound_nodes: list[Node]
    _outbound_nodes: list[Node]
    _name: str

    def _connect(self, inputs: Any, outputs: Any, arguments: dict[str, Any]) -> Any:
        """Adds a node for a call. Inputs that the layer gives back become tensors of their own."""
        given = {id(tensor) for tensor in nest.flatten(inputs)}

        def own(tensor: Any) -> Any:
            if id(tensor) not in given:
                return tensor
            with name_scope(self._name):
                return constants.identity(tensor)

        outputs = nest.map_structure(own, outputs)
        self._add_node(inputs, outputs, arguments)
        return outputs

    def _add_node(self, inputs: Any, outputs: Any, arguments: dict[str, Any] | None = None) -> None:
        Node(self, inputs, outputs, arguments)
        for index, tensor in enumerate(nest.flatten(outputs)):
            tensor._keras_history = KerasHistory(self, len(self._inbound_nodes) - 1, index)

    def _at(self, index: int, attribute: str, what: str) -> Any:
        if not self._inbound_nodes:
            raise RuntimeError(f"The layer has never been called and thus has no defined {what}.")
        if index >= len(self._inbound_nodes):
            raise ValueError(
                f"Asked to get {what} at node {index}, but the layer has only {len(self._inbound_nodes)} "
                "inbound nodes."
            )
        found = getattr(self._inbound_nodes[index], attribute)
        return found[0] if isinstance(found, list) and len(found) == 1 else found

    def _same_in_all(self, attribute: str, what: str) -> Any:
        if not self._inbound_nodes:
            raise AttributeError(f"The layer has never been called and thus has no defined {what}.")
        if len({str(getattr(node, attribute)) for node in self._inbound_nodes}) > 1:
            raise AttributeError(
                f'The layer "{self._name}" has multiple inbound nodes, with different {what}s. Hence the '
                "notion "
                f'of "{what}" is ill-defined for the layer. Use '
                f"`get_{what.replace(' ', '_')}_at(node_index)` instead."
            )
        return getattr(self._inbound_nodes[0], attribute)

    def get_input_at(self, node_index: int) -> Any:
        """The input of a call.

        Args:
          node_index: The number of the call, from 0.

        Returns:
          The tensor or tensors.
        """
        return self._at(node_index, "input_tensors", "input")

    def get_output_at(self, node_index: int) -> Any:
        """The output of a call.

        Args:
          node_index: The number of the call, from 0.

        Returns:
          The tensor or tensors.
        """
        return self._at(node_index, "output_tensors", "output")

    def get_input_mask_at(self, node_index: int) -> Any:
        """The mask of a call's input.

        Args:
          node_index: The number of the call, from 0.

        Returns:
          The mask, or one for each input.
        """
        return nest.map_structure(_mask_of, self.get_input_at(node_index))

    def get_output_mask_at(self, node_index: int) -> Any:
        """The mask of a call's output.

        Args:
          node_index: The number of the call, from 0.

        Returns:
          The mask, or one for each output.
        """
        return nest.map_structure(_mask_of, self.get_output_at(node_index))

    def get_input_shape_at(self, node_index: int) -> Any:
        """The static shape of a call's input.

        Args:
          node_index: The number of the call, from 0.

        Returns:
          The shape or shapes.
        """
        return self._at(node_index, "input_shapes", "input shape")

    def get_output_shape_at(self, node_index: int) -> Any:
        """The static shape of a call's output.

        Args:
          node_index: The number of the call, from 0.

        Returns:
          The shape or shapes.
        """
        return self._at(node_index, "output_shapes", "output shape")

    @property
    def input(self) -> Any:
        """The input; of the first call, if the layer was called more often."""
        if not self._inbound_nodes:
            raise AttributeError(f"Layer {self._name} is not connected, no input to return.")
        return self._at(0, "input_tensors", "input")

    @property
    def output(self) -> Any:
        """The output; of the first call, if the layer was called more often."""
        if not self._inbound_nodes:
            raise AttributeError(f"Layer {self._name} has no inbound nodes.")
        return self._at(0, "output_tensors", "output")

    @property
    def input_mask(self) -> Any:
        """The mask of the input."""
        return nest.map_structure(_mask_of, self.input)

    @property
    def output_mask(self) -> Any:
        """The mask of the output."""
        return nest.map_structure(_mask_of, self.output)

    @property
    def input_shape(self) -> Any:
        """The static shape of the input, if it is the same in all calls."""
        return self._same_in_all("input_shapes", "input shape")

    @property
    def output_shape(self) -> Any:
        """The static shape of the output, if it is the same in all calls."""
        return self._same_in_all("output_shapes", "output shape")

    @property
    def inbound_nodes(self) -> list[Node]:
        """The calls of the layer."""
        return self._inbound_nodes

    @property
    def outbound_nodes(self) -> list[Node]:
        """The calls of other layers that took an output of this one."""
        return self._outbound_nodes
