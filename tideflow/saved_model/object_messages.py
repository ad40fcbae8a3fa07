"""The SavedObjectGraph message: the objects of a SavedModel, and the functions that they have."""

from __future__ import annotations

import inspect
from collections import namedtuple
from typing import Any

from tideflow.functions.concrete import ConcreteFunction
from tideflow.functions.def_function import Function
from tideflow.functions.structures import is_value_of_tensors
from tideflow.graph import nest
from tideflow.graph.operation import Tensor
from tideflow.graph.type_spec import TensorSpec
from tideflow.saved_model import revived_types
from tideflow.saved_model.export_view import ExportView, is_resource
from tideflow.saved_model.loading import (
    DICT,
    LIST,
    OPTIMIZER,
    SIGNATURE_MAP,
    RestoredResource,
    SignatureMap,
)
from tideflow.saved_model.structured_values import encoded
from tideflow.variables.assets import TrackableAsset
from tideflow.variables.resource import BaseResourceVariable

_GENERIC = "_generic_user_object"
_IDENTIFIERS = (
    (list, LIST),
    (dict, DICT),
    (SignatureMap, SIGNATURE_MAP),
)
# The parameters of a function, as Python 3's inspect has them.
FullArgSpec = namedtuple("FullArgSpec", "args varargs varkw defaults kwonlyargs kwonlydefaults annotations")


def describe_objects(graph: Any, view: ExportView, exported: Any) -> None:
    """Fills the message of a view, whose graph is exported."""
    for node in view.nodes:
        message = graph.nodes.add()
        if isinstance(node, (Function, ConcreteFunction)):
            continue
        for name, child in (*view.children(node), *view.functions(node).items()):
            message.children.add(node_id=view.numbers[id(child)], local_name=name)
    for optimizer, name, variable, slot in view.slots:
        graph.nodes[view.numbers[id(optimizer)]].slot_variables.add(
            original_variable_node_id=view.numbers[id(variable)],
            slot_name=name,
            slot_variable_node_id=view.numbers[id(slot)],
        )
    for operation in exported.constants:
        graph.nodes.add().constant.operation = operation
    for function in view.concrete_functions:
        _describe_trace(graph.concrete_functions[function.name.decode()], function, exported.captures)
    for node, message in zip(view.nodes, graph.nodes, strict=False):
        _describe_object(message, node, view, exported)


def _describe_object(message: Any, node: Any, view: ExportView, exported: Any) -> None:
    if isinstance(node, BaseResourceVariable):
        variable = message.variable
        variable.dtype = node.dtype.base_dtype.as_datatype_enum
        variable.shape.CopyFrom(node.shape.as_proto())
        variable.trainable = bool(node.trainable)
        variable.synchronization = getattr(node, "_synchronization", 0) and node._synchronization.value
        variable.aggregation = getattr(node, "_aggregation", 0) and node._aggregation.value
        variable.name = node._shared_name
    elif isinstance(node, TrackableAsset):
        message.asset.asset_file_def_index = exported.asset_numbers[id(node)]
        message.asset.SetInParent()
    elif isinstance(node, Function):
        _describe_function(message.function, node, view)
    elif isinstance(node, ConcreteFunction):
        bare = message.bare_concrete_function
        bare.concrete_function_name = node.name.decode()
        bare.argument_keywords.extend(node._arg_keywords or ())
        bare.allowed_positional_arguments = node._num_positional_args or 0
    elif is_resource(node):
        message.resource.SetInParent()
        message.resource.device = node._resource_device if isinstance(node, RestoredResource) else ""
    elif (revived := revived_types.serialize(node)) is not None:
        message.user_object.CopyFrom(revived)
    else:
        described = view.described(node)
        default = OPTIMIZER if hasattr(node, "get_slot_names") else _GENERIC
        identifier = next((text for kind, text in _IDENTIFIERS if isinstance(node, kind)), default)
        user_object = message.user_object
        user_object.identifier = identifier if described is None else described.identifier
        user_object.metadata = "" if described is None else described.metadata
        user_object.version.producer = user_object.version.min_consumer = 1


def _describe_function(message: Any, function: Function, view: ExportView) -> None:
    message.concrete_functions.extend(trace.name.decode() for trace in view.traces(function))
    spec = message.function_spec
    spec.fullargspec.CopyFrom(encoded(_parameters(function.function_spec.fullargspec)))
    spec.input_signature.CopyFrom(encoded(function.input_signature))


def _parameters(signature: inspect.Signature) -> FullArgSpec:
    """The parameters of a Python function, without their types."""
    kinds: dict[Any, list[inspect.Parameter]] = {}
    for parameter in signature.parameters.values():
        kinds.setdefault(parameter.kind, []).append(parameter)
    kind = inspect.Parameter
    positional = kinds.get(kind.POSITIONAL_ONLY, []) + kinds.get(kind.POSITIONAL_OR_KEYWORD, [])
    by_name = kinds.get(kind.KEYWORD_ONLY, [])
    defaults = tuple(p.default for p in positional if p.default is not p.empty)
    named_defaults = {p.name: p.default for p in by_name if p.default is not p.empty}
    return FullArgSpec(
        args=[p.name for p in positional],
        varargs=next((p.name for p in kinds.get(kind.VAR_POSITIONAL, [])), None),
        varkw=next((p.name for p in kinds.get(kind.VAR_KEYWORD, [])), None),
        defaults=defaults or None,
        kwonlyargs=[p.name for p in by_name],
        kwonlydefaults=named_defaults or None,
        annotations={},
    )


def _describe_trace(message: Any, function: ConcreteFunction, captures: dict[int, int]) -> None:
    for tensor in function.captured_inputs:
        if id(tensor) not in captures:
            raise KeyError(
                f"Failed to add concrete function {function.name!r} to object based saved model as it "
                f"captures tensor {tensor} which is unsupported or not reachable from root. One reason could "
                "be that a stateful object or a variable that the function depends on is not assigned to an "
                "attribute of the serialized trackable object (see "
                "SaveTest.test_captures_unreachable_variable)."
            )
        message.bound_inputs.append(captures[id(tensor)])
    message.canonicalized_input_signature.CopyFrom(encoded(function.structured_input_signature))
    message.output_signature.CopyFrom(encoded(_specs_of(function.graph.structured_outputs)))


def _specs_of(structure: Any) -> Any:
    """A structure with a spec in the place of each tensor, named by the keys that lead there."""

    def spec(path: tuple, leaf: Any) -> Any:
        if isinstance(leaf, Tensor):
            return TensorSpec(leaf.shape, leaf.dtype, "/".join(map(str, path)))
        return leaf._type_spec if is_value_of_tensors(leaf) else leaf

    specs = [spec(path, leaf) for path, leaf in nest.leaves_with_paths(structure)]
    return nest.pack_sequence_as(structure, specs) if nest.is_nested(structure) else specs[0]
