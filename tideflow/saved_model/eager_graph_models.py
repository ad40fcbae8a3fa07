"""SavedModels that are graphs alone, in eager mode: their signatures are functions.

A session loads the model into a graph of its own, which gives the variables their values. What a signature
needs of the graph becomes the body of a function; handles of state stand for the nodes that make them there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tensorboard.compat.proto.meta_graph_pb2 import MetaGraphDef, SignatureDef, TensorInfo

from tideflow.compile.trust import check_operations
from tideflow.functions.concrete import ConcreteFunction
from tideflow.functions.func_graph import FuncGraph
from tideflow.functions.lifting import NewVariables, UnliftableError
from tideflow.functions.tracing import traced
from tideflow.graph import dtypes, nest
from tideflow.graph.functions import op_definition
from tideflow.graph.graph import Graph
from tideflow.graph.graph_import import import_graph_def
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import GraphKeys, get_default_graph, init_scope
from tideflow.graph.type_spec import TensorSpec
from tideflow.ops.arrays import constants as constant_ops
from tideflow.ops.state.reference_variables import is_variable_initialized
from tideflow.saved_model import constants, loader
from tideflow.saved_model.graph_parts import (
    Part,
    holds_state,
    is_composite,
    needed_for,
    part_names,
    put_together,
    whole,
)
from tideflow.saved_model.loading import SignatureMap
from tideflow.session.session import Session
from tideflow.variables.assets import TrackableAsset
from tideflow.variables.resource import BaseResourceVariable, ResourceVariable
from tideflow.variables.trackable import AutoTrackable


class EagerGraphModel:
    """One model: its graph, and the eager variables and handles that stand for the state in it."""

    def __init__(self, export_dir: str, message: MetaGraphDef, trusted: bool) -> None:
        self.graph = Graph()
        self._message = message
        self._trusted = trusted
        self._assets = loader.asset_paths(export_dir, message)
        self._state: dict[str, Any] = {}
        self._restore(export_dir)
        self._make_tables()

    def root(self) -> AutoTrackable:
        """The object that a program gets."""
        root = AutoTrackable()
        hidden = (constants.INIT_OP_SIGNATURE_KEY, constants.TRAIN_OP_SIGNATURE_KEY)
        definitions = self._message.signature_def
        root.signatures = SignatureMap(
            {key: self._signature(key, definitions[key]) for key in definitions if key not in hidden}
        )
        root.variables = self.variables
        root.asset_paths = [TrackableAsset(path) for path in self._assets.values()]
        root.graph = self.graph
        root.prune = self.prune
        return root

    @property
    def variables(self) -> list[ResourceVariable]:
        """The variables of which the graph has handles; what it has references of is read alone."""
        return [
            state
            for name, state in self._state.items()
            if isinstance(state, ResourceVariable) and self._is_handle(name)
        ]

    def prune(self, feeds: Any, fetches: Any, name: str | None = None) -> ConcreteFunction:
        """A function of tensors of the model's graph.

        Args:
          feeds: The tensors that become arguments, or their names, in a structure.
          fetches: The tensors that a call returns, operations that it runs, or their names, in a structure.
          name: The name of the function.

        Returns:
          The function, which is called with tensors by position.
        """
        elements = [self.graph.as_graph_element(each) for each in nest.flatten(feeds)]
        if not all(isinstance(each, Tensor) for each in elements):
            raise ValueError("Feeds must be tensors.")
        wanted = nest.map_structure(self.graph.as_graph_element, fetches)

        def chosen(computed: Mapping[str, Any]) -> Any:
            return nest.map_structure(lambda each: computed[each.name], wanted)

        names = [each.name for each in nest.flatten(wanted)]
        made = self._function(name or "pruned", [each.name for each in elements], names, chosen)
        made._arg_keywords = [each.op.name for each in elements]
        made._num_positional_args = len(elements)
        return made

    # ------------------------------------------------------------------------------------------ state

    def _restore(self, export_dir: str) -> None:
        """Makes the variables, with the values that they have after a session has loaded the model."""
        with Session(graph=self.graph) as session:
            tags = self._message.meta_info_def.tags
            loader.SavedModelLoader(export_dir).load(session, tags, trusted=self._trusted)
            kinds = (GraphKeys.GLOBAL_VARIABLES, GraphKeys.LOCAL_VARIABLES)
            found = list(dict.fromkeys(v for kind in kinds for v in self.graph.get_collection(kind)))
            with self.graph.as_default():
                have_values = session.run([is_variable_initialized(v) for v in found])
            found = [v for v, has_value in zip(found, have_values, strict=True) if has_value]
            values = session.run(found)
        for variable, value in zip(found, values, strict=True):
            name = f"{variable.op.name}:0"
            self._state[name] = ResourceVariable(
                value,
                trainable=variable.trainable and self._is_handle(name),
                name=variable.op.name,
                dtype=variable.dtype.base_dtype,
            )

    def _make_tables(self) -> None:
        """Makes the other state that the graph has handles of, and runs what the model starts with."""
        nodes = [node for node in self._message.graph_def.node if holds_state(self.graph, node)]
        names = [f"{node.name}:0" for node in nodes]
        handles = [name for name in names if name not in self._state and self._is_handle(name)]
        if not handles:
            return
        make = self._function("state", [], handles, lambda computed: [computed[name] for name in handles])
        self._state.update(zip(handles, make(), strict=True))
        with self.graph.as_default():
            start = loader.get_init_op(self._message)
        if start is not None:
            self._function("start", [], [start.name], lambda computed: [])()

    # ------------------------------------------------------------------------------------------ functions

    def _signature(self, key: str, signature: SignatureDef) -> ConcreteFunction:
        """The function of a signature, which takes tensors by their names."""
        for name, info in signature.inputs.items():
            if is_composite(info):
                raise ValueError(
                    f"The signature {key!r} takes {name!r} as several tensors, which a function of eager "
                    "mode cannot be given by one name: load the model in a tf.Graph."
                )
        feeds = [whole(info.name) for info in signature.inputs.values()]
        wanted = [part for info in signature.outputs.values() for part in part_names(info)]
        try:
            made = self._function(
                f"signature_wrapper_{key}", feeds, wanted, lambda computed: _outputs(signature, computed)
            )
        except UnliftableError as error:
            raise UnliftableError(
                "A SavedModel signature needs an input for each placeholder the signature's outputs use. An "
                f"output for signature '{key}' depends on a placeholder which is not an input (i.e. the "
                f"placeholder is not fed a value).\n\n{error}"
            ) from None
        made._arg_keywords = list(signature.inputs)
        made._num_positional_args = 1 if len(feeds) == 1 else 0
        return made

    def _function(
        self, name: str, feeds: Sequence[str], wanted: Sequence[str], arrange: Any
    ) -> ConcreteFunction:
        """A function that arranges what is wanted, tensors and operations by name, of what is fed."""

        def body(*arguments: Tensor) -> Any:
            return arrange(self._computed(dict(zip(feeds, arguments, strict=True)), wanted))

        known = [self.graph.get_tensor_by_name(feed) for feed in feeds]
        specs = [TensorSpec(tensor.shape, tensor.dtype.base_dtype) for tensor in known]
        with init_scope():
            graph = FuncGraph(name, get_default_graph())
            graph.chosen_effects = []
            names = [f"arg_{i}" for i in range(len(specs))]
            traced(name, body, specs, {}, names, NewVariables(), graph=graph)
            graph.held_variables = self.variables
            return ConcreteFunction(graph, specs)

    def _computed(self, given: dict[str, Tensor], wanted: Sequence[str]) -> dict[str, Any]:
        """What is wanted, in the graph of the function that is being made: tensors, or None for an operation
        that calls run.
        """
        own_files = {name: constant_ops.constant(path) for name, path in self._assets.items()}
        given = {**own_files, **given}
        given |= {name: self._inside(name) for name in wanted if name in self._state}
        missing = [name for name in wanted if name not in given]
        part, shared = needed_for(self.graph, self._message.graph_def, missing, given)
        self._check_placeholders(part, given)
        input_map = {text: given[whole(text)] for text in part.inputs if whole(text) in given}
        input_map |= {text: self._inside(whole(text)) for text in shared}
        first = len(get_default_graph().get_operations())
        found = import_graph_def(part.graph_def, input_map, return_elements=missing, name="")
        if not self._trusted:
            made = get_default_graph().get_operations()[first:]
            check_operations(dict.fromkeys(made, frozenset(own_files.values())))
        computed = dict(zip(missing, found or (), strict=True)) | given
        operations = {name: each for name, each in computed.items() if isinstance(each, Operation)}
        get_default_graph().chosen_effects.extend(operations.values())
        return computed | dict.fromkeys(operations)

    def _inside(self, name: str) -> Tensor:
        """What stands for state of the model in the graph of a function."""
        state = self._state.get(name)
        if state is None:
            raise ValueError(
                f"'{name}' is state of the SavedModel that no collection of its graph lists: load the model "
                "in a tf.Graph."
            )
        if not isinstance(state, BaseResourceVariable):
            return state
        return state.handle if self._is_handle(name) else state.value()

    def _is_handle(self, name: str) -> bool:
        return self.graph.get_tensor_by_name(name).dtype is dtypes.resource

    def _check_placeholders(self, part: Part, given: Mapping[str, Tensor]) -> None:
        for node in part.graph_def.node:
            is_open = op_definition(self.graph, node.op).role == "placeholder" and not node.input
            if is_open and f"{node.name}:0" not in given:
                raise UnliftableError(
                    f"Unable to lift tensor '{node.name}:0', because it is a placeholder that no input feeds."
                )


def _outputs(signature: SignatureDef, computed: Mapping[str, Any]) -> dict[str, Any]:
    infos: Mapping[str, TensorInfo] = signature.outputs
    return {key: put_together(info, computed) for key, info in infos.items()}
