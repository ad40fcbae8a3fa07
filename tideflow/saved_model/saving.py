"""Objects into a SavedModel: their functions, with signatures for those who only run graphs, and a checkpoint
of their values.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Mapping, Sequence
from typing import Any

from tensorboard.compat.proto.function_pb2 import FunctionDef
from tensorboard.compat.proto.meta_graph_pb2 import MetaGraphDef, SignatureDef

from tideflow.autodiff.functions import call
from tideflow.export import export
from tideflow.functions.concrete import ConcreteFunction
from tideflow.functions.def_function import Function
from tideflow.functions.structures import packer
from tideflow.functions.tracing import Tracer
from tideflow.graph import dtypes, nest
from tideflow.graph.composite import is_composite
from tideflow.graph.graph import Graph
from tideflow.graph.graph_def import attr_proto
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.partial import constant_value
from tideflow.graph.scopes import control_dependencies, executing_eagerly, get_default_graph, name_scope
from tideflow.graph.type_spec import TensorSpec
from tideflow.io import saved_models
from tideflow.io.local_files import local_path, make_folder
from tideflow.io.object_graph import GRAPH_KEY
from tideflow.ops.arrays import constants as constant_ops
from tideflow.ops.state import resource_variables
from tideflow.saved_model import constants
from tideflow.saved_model.builder import copy_assets, name_in_model
from tideflow.saved_model.export_view import ExportView, is_resource
from tideflow.saved_model.loading import SIGNATURES, SignatureMap
from tideflow.saved_model.object_messages import describe_objects
from tideflow.saved_model.objects import SignatureFunction, save_graph_model
from tideflow.saved_model.signatures import build_signature_def
from tideflow.saved_model.tensor_info import build_tensor_info, op_info
from tideflow.train.object_saver import (
    ObjectSaver,
    StringSaveable,
    described,
    saveables_under,
    session_or_default,
    values_of,
)
from tideflow.train.saver_graph import SaverBuilder
from tideflow.variables.assets import TrackableAsset
from tideflow.variables.base import Variable
from tideflow.variables.meta_graph import export_meta_graph
from tideflow.variables.resource import BaseResourceVariable, ResourceVariable
from tideflow.variables.trackable import Trackable, children_of

_DEFAULT = "_default_save_signature"  # the function of an object that is its signature, if none is given
_HIDDEN = (dtypes.resource, dtypes.variant)


@export("saved_model.save", "saved_model.experimental.save")
def save(obj: Any, export_dir: str, signatures: Any = None) -> None:
    """Writes an object as a SavedModel: its variables, functions, tables and files, and those of all objects
    that are attributes of it.

    `tf.saved_model.load_v2` makes the object again, with functions that can be called and differentiated. The
    signatures can also be run by what only knows graphs, such as `tf.saved_model.load` and servers.

    Args:
      obj: The object, such as a `tf.Module`.
      export_dir: The directory.
      signatures: A `tf.function` with an input signature, a concrete function, or a dictionary of such. If it
        is left out and one function of the object can be a signature, that one is.

    Raises:
      ValueError: If the object is not trackable, or a signature is no function of tensors.
      AssertionError: If a function uses a variable that is no attribute of an object that is saved.
    """
    if get_default_graph().building_function:
        raise AssertionError(
            "tf.saved_model.save is not supported inside a traced @tf.function. Move the call to the outer "
            "eagerly-executed context."
        )
    if not isinstance(obj, Trackable):
        raise ValueError(f"Expected a Trackable object for export, got {obj}.")
    if _are_of_a_graph(signatures):
        save_graph_model(obj, export_dir, signatures)
        return
    session = None if executing_eagerly() else session_or_default(None)
    view = ExportView(obj)
    functions = canonical_signatures(_default_signature(view) if signatures is None else signatures)
    _check_reserved_name(obj)
    view.signatures = SignatureMap(functions)
    view.refresh()
    view.refresh()  # what the first traces have made is there now
    exported = _Exported(view)
    message = exported.meta_graph(functions)
    for folder in (saved_models.VARIABLES_DIRECTORY, saved_models.ASSETS_DIRECTORY):
        make_folder(os.path.join(local_path(export_dir), folder))
    ObjectSaver(obj, view.children).save(saved_models.variables_prefix(export_dir), session)
    copy_assets(export_dir, exported.assets)
    describe_objects(message.object_graph_def, view, exported)
    model = saved_models.SavedModel(saved_model_schema_version=saved_models.SAVED_MODEL_SCHEMA_VERSION)
    model.meta_graphs.append(message)
    saved_models.write_saved_model(model, export_dir, as_text=False)


# ------------------------------------------------------------------------------------------------ signatures


def _are_of_a_graph(signatures: Any) -> bool:
    """Whether the signatures are those of a model without objects, loaded into the default graph."""
    given = signatures.values() if isinstance(signatures, Mapping) else [signatures]
    return any(isinstance(signature, SignatureFunction) for signature in given)


def _check_reserved_name(root: Any) -> None:
    kept = dict(children_of(root)).get(SIGNATURES)
    if kept is not None and not isinstance(kept, SignatureMap):
        raise ValueError(
            f"Exporting an object {root} which has an attribute named '{SIGNATURES}'. This is a reserved "
            "attribute used to store SavedModel signatures in objects which come from `tf.saved_model.load`. "
            f"Delete this attribute (e.g. 'del obj.{SIGNATURES}') before saving if this shadowing is "
            "acceptable."
        )


def _concrete(function: Any) -> ConcreteFunction | None:
    if isinstance(function, (Function, Tracer)) and function.input_signature is not None:
        function = function.get_concrete_function()
    return function if isinstance(function, ConcreteFunction) else None


def _default_signature(view: ExportView) -> Any:
    """The function of the root that is its signature where none is given; None if there is no such one."""
    functions = view.functions(view.root)
    if _DEFAULT in functions:
        return functions[_DEFAULT]
    found = [concrete for concrete in map(_concrete, functions.values()) if _can_be_signature(concrete)]
    return found[0] if len(found) == 1 else None


def _can_be_signature(concrete: ConcreteFunction | None) -> bool:
    if concrete is None or not concrete.outputs:
        return False
    try:
        _outputs_by_name(concrete.graph.structured_outputs, "unused", "unused")
    except ValueError:
        return False
    return True


def canonical_signatures(signatures: Any) -> dict[str, ConcreteFunction]:
    """Functions of tensors by name, which return tensors by name."""
    if signatures is None:
        return {}
    if not isinstance(signatures, Mapping):
        signatures = {constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY: signatures}
    found = {}
    for key, function in signatures.items():
        concrete = _concrete(function)
        if concrete is None or concrete._arg_keywords is None:
            raise ValueError(
                f"Expected a TensorFlow function to generate a signature for, but got {function}. Only "
                "`tf.functions` with an input signature or concrete functions can be used as a signature."
            )
        found[key] = _signature(key, concrete)
    return found


def _signature(key: str, concrete: ConcreteFunction) -> ConcreteFunction:
    def signature_wrapper(**kwargs: Tensor) -> dict[str, Tensor]:
        return _outputs_by_name(concrete(**kwargs), concrete.name.decode(), key)

    names = concrete._arg_keywords or []
    specs = {
        name: TensorSpec(tensor.shape, tensor.dtype, name)
        for name, tensor in zip(names, concrete.inputs, strict=False)
    }
    wrapper = Function(signature_wrapper, "signature_wrapper", autograph=False)
    made = wrapper.get_concrete_function(**specs)
    made._num_positional_args = 1 if len(specs) == 1 else 0
    return made


def _outputs_by_name(outputs: Any, function_name: str, key: str) -> dict[str, Any]:
    if isinstance(outputs, Mapping):
        for name, value in outputs.items():
            if not isinstance(value, Tensor):
                raise ValueError(
                    f"Got a dictionary containing non-Tensor value {value} for key {name} in the output of "
                    f"the function {function_name} used to generate a SavedModel signature. Dictionaries "
                    "outputs for functions used as signatures should have one Tensor output per string key."
                )
        return dict(outputs)
    given = list(outputs) if isinstance(outputs, Sequence) else [outputs]
    if any(nest.is_nested(value) or is_composite(value) for value in given):
        raise ValueError(
            f"Got non-flat outputs '{outputs}' from '{function_name}' for SavedModel signature '{key}'. "
            "Signatures have one Tensor per output, so to have predictable names Python functions used to "
            "generate these signatures should avoid outputting Tensors in nested structures."
        )
    return {f"output_{i}": value for i, value in enumerate(given)}


# ------------------------------------------------------------------------------------------------ the graph


class _ExportedVariable(BaseResourceVariable):
    """A variable in the graph of a SavedModel, which has no value there."""

    def __init__(self, variable: Any) -> None:
        with name_scope(variable._shared_name) as scope:
            self._handle = resource_variables.var_handle_op(
                dtype=variable.dtype.base_dtype, shape=variable.shape, shared_name=scope[:-1], name=scope
            )
            self._dtype = variable.dtype.base_dtype
            with name_scope("Read"):
                self._graph_element = self._read_variable_op()


class _Exported:
    """The graph of a SavedModel, in which objects of the view have counterparts."""

    def __init__(self, view: ExportView) -> None:
        self._view = view
        self.graph = Graph()
        self.assets: dict[str, str] = {}  # their names in the model, and where they lie
        self.asset_numbers: dict[int, int] = {}
        self.constants: list[str] = []  # the operations of the tensors that functions capture
        self.captures: dict[int, int] = {}  # the numbers of objects by what functions capture of them
        self._owners: dict[int, Any] = {}  # counterparts of objects that have values
        self._tensors: dict[int, Any] = {}  # counterparts of what functions capture
        self._asset_files: list[tuple[str, Tensor]] = []
        self._started: list[Any] = []  # initializers of the variables that name assets

    def meta_graph(self, functions: Mapping[str, ConcreteFunction]) -> MetaGraphDef:
        """The message without the objects."""
        initializers = self._initializers()
        with self.graph.as_default():
            for number, node in enumerate(self._view.nodes):
                self._add_counterpart(number, node)
            for function in (*self._view.concrete_functions, *initializers):
                self._add_constants(function)
            init_op = self._start(initializers)
            saver_def = self._saver()
            signatures = {key: self._signature(key, f) for key, f in sorted(functions.items())}
            for function in self._view.concrete_functions:
                function.add_to_graph(self.graph)
                _tell_arguments(self.graph._functions[function.name.decode()], function)
        message = export_meta_graph(
            graph=self.graph, saver_def=saver_def, collection_list=[], strip_default_attrs=True
        )
        message.collection_def[constants.MAIN_OP_KEY].node_list.value.append(init_op.name)
        signatures[constants.INIT_OP_SIGNATURE_KEY] = build_signature_def(
            outputs={constants.INIT_OP_SIGNATURE_KEY: op_info(init_op)}
        )
        for key, signature in signatures.items():
            message.signature_def[key].CopyFrom(signature)
        for name, path in self._asset_files:
            message.asset_file_def.add(filename=name).tensor_info.name = path.name
        message.meta_info_def.tags.append(constants.SERVING)
        return message

    def _initializers(self) -> list[ConcreteFunction]:
        """Functions that fill the tables."""
        functions = [self._view.functions(node) for node in self._view.nodes if is_resource(node)]
        return [
            self._view.traces(found["_initialize"])[0]
            for found in functions
            if found.get("_initialize") is not None
        ]

    def _add_counterpart(self, number: int, node: Any) -> None:
        if isinstance(node, BaseResourceVariable):
            made = self._owners[id(node)] = _ExportedVariable(node)
            self._stands_for(node.handle, made.handle, number)
        elif isinstance(node, TrackableAsset):
            self._add_asset(number, node)
        elif is_resource(node):
            self._add_resource(number, node)

    def _stands_for(self, outside: Any, inside: Any, number: int) -> None:
        self._tensors[id(outside)] = inside
        self.captures[id(outside)] = number

    def _add_resource(self, number: int, node: Any) -> None:
        creator = self._view.traces(self._view.functions(node)["_create_resource"])[0]
        for tensor in creator.captured_inputs:
            self._add_constant(creator, tensor)
        (handle,) = self._called(creator, [])
        self._stands_for(node.resource_handle, handle, number)
        if values_of(node):
            made = self._owners[id(node)] = copy.copy(node)
            made._resource_handle = handle

    def _add_asset(self, number: int, asset: TrackableAsset) -> None:
        source = constant_value(asset.asset_path)
        if source is None:
            raise ValueError(f"The path of an asset is not known before a step runs: {asset.asset_path}")
        source = source.item() if hasattr(source, "item") else source
        source = source.decode() if isinstance(source, bytes) else source
        name = name_in_model(source, self.assets)
        self.assets[name] = source
        self.asset_numbers[id(asset)] = len(self._asset_files)
        path = constant_ops.placeholder(dtypes.string, [], name="asset_path_initializer")
        variable = ResourceVariable(path, trainable=False, collections=[])
        self._started.append(variable.initializer)
        self._asset_files.append((name, path))
        self._stands_for(asset.asset_path, variable, number)

    def _add_constants(self, function: ConcreteFunction) -> None:
        for tensor in function.captured_inputs:
            if tensor.dtype not in _HIDDEN:
                self._add_constant(function, tensor)

    def _add_constant(self, function: ConcreteFunction, tensor: Tensor) -> None:
        if id(tensor) in self._tensors:
            return
        value = constant_value(tensor)
        if value is None:
            raise ValueError(
                f"Attempted to save a function {function.name!r} which references a symbolic Tensor {tensor} "
                "that is not a simple constant. This is not supported."
            )
        made = constant_ops.constant(value, dtype=tensor.dtype)
        self._stands_for(tensor, made, len(self._view.nodes) + len(self.constants))
        self.constants.append(made.op.name)

    # ------------------------------------------------------------------------------------------ calls

    def _called(self, function: ConcreteFunction, args: Sequence[Tensor]) -> list[Tensor]:
        """The outputs of a call in this graph."""
        inputs = list(args)
        for tensor in function.captured_inputs:
            if id(tensor) not in self._tensors:
                raise AssertionError(
                    "Tried to export a function which references untracked object "
                    f"{function.graph.captured[tensor]}.TensorFlow objects (e.g. tf.Variable) captured by "
                    "functions must be tracked by assigning them to an attribute of a tracked object or "
                    "assigned to an attribute of the main object directly."
                )
            inside = self._tensors[id(tensor)]
            inputs.append(inside.value() if isinstance(inside, Variable) else inside)
        return call(function.name.decode(), function._body, inputs)

    def _start(self, initializers: Sequence[ConcreteFunction]) -> Operation:
        """What runs when the model is loaded."""
        with control_dependencies(self._started):
            filled = [tensor for function in initializers for tensor in self._called(function, [])]
        with control_dependencies([*filled, *self._started]):
            return constant_ops.no_operation()

    def _signature(self, key: str, function: ConcreteFunction) -> SignatureDef:
        names = function._arg_keywords or []
        given = {
            name: constant_ops.placeholder(tensor.dtype, tensor.shape, name=f"{key}_{name}")
            for name, tensor in zip(names, function.inputs, strict=False)
        }
        outputs = packer(function.graph.structured_outputs)(self._called(function, list(given.values())))
        takes, gives = (
            {name: build_tensor_info(tensor) for name, tensor in tensors.items()}
            for tensors in (given, outputs)
        )
        return build_signature_def(takes, gives, constants.PREDICT_METHOD_NAME)

    def _saver(self) -> Any:
        """The nodes that save and restore the values, by the keys of the checkpoint."""
        description, values = described(self._view.root, self._view.children)
        saveables = []
        for key, (owner, value) in values.items():
            if id(owner) in self._owners:
                counterpart = self._owners[id(owner)]
                name = key.rpartition("/")[2]
                value = counterpart if isinstance(counterpart, Variable) else values_of(counterpart)[name]
            for part in saveables_under(value, key):
                text = isinstance(part, StringSaveable)
                saveables.append(StringSaveable(part.name, unfed=part.owner.serialize()) if text else part)
        saveables.append(StringSaveable(GRAPH_KEY, unfed=description.SerializeToString()))
        return SaverBuilder().build(saveables, sharded=True, max_to_keep=None)


def _tell_arguments(message: FunctionDef, function: ConcreteFunction) -> None:
    """Writes the shapes and names of a function's arguments beside them, for readers that make graphs."""
    shapes = [tensor.shape for tensor in function.inputs]
    message.attr["_input_shapes"].CopyFrom(attr_proto(shapes, "list(shape)"))
    for i, tensor in enumerate(function.inputs):
        attrs = message.arg_attr[i].attr
        attrs["_output_shapes"].CopyFrom(attr_proto([tensor.shape], "list(shape)"))
        if "_user_specified_name" in tensor.op.attrs:
            attrs["_user_specified_name"].s = tensor.op.attrs["_user_specified_name"].encode()
