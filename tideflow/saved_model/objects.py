"""`load_v2`: SavedModels as objects.

A model that was saved as an object becomes objects (`loading.py`). One that is a graph alone is added to the
default graph: its signatures are called like functions, and initializing its variables restores them. In
eager mode, its signatures are functions of eager tensors (`eager_graph_models.py`).
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tensorboard.compat.proto.meta_graph_pb2 import MetaGraphDef, SignatureDef, TensorInfo
from tensorboard.compat.proto.variable_pb2 import VariableDef

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.composite import components
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.graph_import import import_graph_def
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import GraphKeys, executing_eagerly, get_default_graph, init_scope, name_scope
from tideflow.graph.shapes import TensorShape
from tideflow.io import saved_models
from tideflow.io.local_files import local_path, make_folder
from tideflow.ops.arrays import constants as constant_ops
from tideflow.saved_model import constants, loader
from tideflow.saved_model.builder import check_signatures
from tideflow.saved_model.eager_graph_models import EagerGraphModel
from tideflow.saved_model.graph_parts import is_composite, needed_for, part_names, put_together, whole
from tideflow.saved_model.loading import load_objects
from tideflow.saved_model.signatures import build_signature_def
from tideflow.saved_model.tensor_info import build_tensor_info, op_info
from tideflow.train.meta_graph import import_meta_graph_with_return_elements
from tideflow.train.object_saver import ObjectSaver, session_or_default
from tideflow.variables.exported_names import prepend_name_scope
from tideflow.variables.meta_graph import export_meta_graph
from tideflow.variables.trackable import AutoTrackable

_SCOPE = "load"


class SignatureFunction:
    """A signature of a loaded model: called with tensors, it adds what computes the outputs."""

    def __init__(self, model: _Imported, key: str, signature: SignatureDef):
        self._model = model
        self._key = key
        self._signature = signature

    @property
    def inputs(self) -> dict[str, TensorInfo]:
        """What it takes, by name."""
        return dict(self._signature.inputs)

    @property
    def outputs(self) -> dict[str, TensorInfo]:
        """What it gives, by name."""
        return dict(self._signature.outputs)

    def __call__(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """The outputs for these inputs, which are given by name; one that is alone may be given so."""
        if args:
            if len(args) != 1 or len(self._signature.inputs) != 1 or kwargs:
                raise TypeError(f"The signature {self._key!r} takes its inputs by name: {self._names()}")
            kwargs = {next(iter(self._signature.inputs)): args[0]}
        if kwargs.keys() != self._signature.inputs.keys():
            raise TypeError(f"The signature {self._key!r} takes {self._names()}, not {sorted(kwargs)}")
        given = {}
        for name, info in self._signature.inputs.items():
            parts = components(kwargs[name]) if is_composite(info) else [_converted(kwargs[name], info)]
            given.update(zip(part_names(info), parts, strict=True))
        return self._model.applied(self._key, given, self._signature.outputs)

    def placeholder(self, name: str, op_name: str) -> Any:
        """A placeholder for an input."""
        info = self._signature.inputs[name]
        parts = {}
        for part in part_names(info):
            like = self._model.element(part)
            parts[part] = constant_ops.placeholder(like.dtype, like.shape, name=op_name)
        return put_together(info, parts)

    def _names(self) -> str:
        return ", ".join(sorted(self._signature.inputs)) or "none"

    def __repr__(self) -> str:
        return f"<signature {self._key!r} of {self._names()}>"


def _converted(value: Any, info: TensorInfo) -> Tensor:
    tensor = convert_to_tensor(value, dtype=dtypes.as_dtype(info.dtype))
    tensor.shape.assert_is_compatible_with(TensorShape(info.tensor_shape))
    return tensor


# -------------------------------------------------------------------------------------------- loading


@export("saved_model.load_v2")
def load_v2(
    export_dir: str, tags: str | Iterable[str] | None = None, *, trusted: bool = True
) -> AutoTrackable:
    """Makes the objects of a SavedModel.

    In eager mode variables have their values, and functions can be called at once. In a graph, running the
    variables' initializers restores them, and `tf.tables_initializer` fills the model's tables.

    Args:
      export_dir: The directory.
      tags: The tags of the graph; needed only if there are several.
      trusted: False for a model that somebody else made: operations of the model that reach files or Python
        functions of the process are refused, apart from reading its own variables and assets.

    Returns:
      An object with `signatures` and, if an object was saved, its attributes: variables, functions, tables
      and other objects. That of a graph has `variables`.

    Raises:
      ValueError: If the tags match no graph.
    """
    message = _meta_graph_of(export_dir, tags)
    if message.object_graph_def.nodes:
        return load_objects(export_dir, message, trusted)
    with init_scope():
        if executing_eagerly():
            return _versioned(EagerGraphModel(export_dir, message, trusted).root(), message)
    imported = _Imported(export_dir, message, trusted)
    root = AutoTrackable()
    root.signatures = {
        key: SignatureFunction(imported, key, signature)
        for key, signature in message.signature_def.items()
        if key not in (constants.INIT_OP_SIGNATURE_KEY, constants.TRAIN_OP_SIGNATURE_KEY)
    }
    root.variables = list(imported.variables.values())
    root.asset_paths = list(imported.assets.values())
    root.graph = imported.graph
    root._untracked = frozenset({"signatures", "variables", "asset_paths"})
    return _versioned(root, message)


def _versioned(root: AutoTrackable, message: MetaGraphDef) -> AutoTrackable:
    root.tensorflow_version = message.meta_info_def.tensorflow_version
    root.tensorflow_git_version = message.meta_info_def.tensorflow_git_version
    return root


def _meta_graph_of(export_dir: str, tags: str | Iterable[str] | None) -> MetaGraphDef:
    model = loader.SavedModelLoader(export_dir)
    graphs = model.saved_model.meta_graphs
    if tags is not None:
        tags = [tags] if isinstance(tags, str) else list(tags)
        if len(graphs) == 1 and graphs[0].HasField("object_graph_def"):
            known = graphs[0].meta_info_def.tags
            if set(tags) != set(known):
                raise ValueError(
                    f"The SavedModel at {export_dir} has one MetaGraph with tags {list(known)}, but got an "
                    f"incompatible argument tags={tags} to tf.saved_model.load. You may omit it, pass "
                    "'None', or pass matching tags."
                )
        return model.get_meta_graph_def_from_tags(tags)
    if len(graphs) != 1:
        tag_sets = [list(graph.meta_info_def.tags) for graph in graphs]
        raise ValueError(
            "Importing a SavedModel with tf.saved_model.load requires a 'tags=' argument if there is more "
            f"than one MetaGraph. Got 'tags=None', but there are {len(graphs)} MetaGraphs in the SavedModel "
            f"with tag sets {tag_sets}. Pass a 'tags=' argument to load this SavedModel."
        )
    return graphs[0]


class _Imported:
    """A model's graph as part of the default graph."""

    def __init__(self, export_dir: str, message: MetaGraphDef, trusted: bool):
        self.graph = get_default_graph()
        self._trusted = trusted
        self.scope = self.graph.unique_name(_SCOPE, mark_as_used=False)
        self.graph_def = message.graph_def
        self.assets = loader.asset_paths(export_dir, message)
        if not trusted:
            loader.check_own(export_dir, self.assets.values())
            loader.check_own_variables(export_dir)
        places = dict(self.assets)
        if message.HasField("saver_def"):
            places[message.saver_def.filename_tensor_name] = saved_models.variables_prefix(export_dir)
        used = {text if ":" in text else f"{text}:0" for node in self.graph_def.node for text in node.input}
        with name_scope(None):
            input_map = {
                name: constant_ops.constant(path, name="place")
                for name, path in places.items()
                if name in used
            }
        self._own_files = frozenset(input_map.values())
        with self._distrusting():
            import_meta_graph_with_return_elements(
                _with_its_own_state(message, self.scope), import_scope=_SCOPE, input_map=input_map
            )
        self.variables = {v.name: v for v in self.graph.get_collection("variables", f"{self.scope}/")}
        self._add_initializers(message)

    @contextlib.contextmanager
    def _distrusting(self) -> Iterator[None]:
        """What is made inside is not trusted, if the model is not."""
        first = len(self.graph._ops)
        try:
            yield
        finally:
            if not self._trusted:
                made = self.graph._ops[first:]
                self.graph._untrusted.update(dict.fromkeys(made, self._own_files))

    def _add_initializers(self, message: MetaGraphDef) -> None:
        if message.saver_def.restore_op_name:
            restore = self.element(message.saver_def.restore_op_name)
            self.graph.add_to_collection(GraphKeys.TABLE_INITIALIZERS, restore)
        start = loader.get_init_op(message, self.scope)
        if start is not None:
            self.graph.add_to_collection(GraphKeys.TABLE_INITIALIZERS, start)

    def element(self, name: str) -> Operation | Tensor:
        """What has this name in the model."""
        return self.graph.as_graph_element(prepend_name_scope(name, self.scope))

    def applied(self, name: str, given: Mapping[str, Tensor], outputs: Mapping[str, TensorInfo]) -> dict:
        """What computes the outputs once more, of these inputs and the state that is there."""
        if get_default_graph() is not self.graph:
            raise ValueError(
                f"The signature {name!r} belongs to another graph than the default one: load the model into "
                "the graph that uses it"
            )
        wanted = [part for info in outputs.values() for part in part_names(info)]
        needed, shared = needed_for(self.graph, self.graph_def, wanted, set(given))
        input_map = {text: given[whole(text)] for text in needed.inputs if whole(text) in given}
        input_map |= {text: self.element(whole(text)) for text in shared}
        with self._distrusting():
            made = import_graph_def(
                needed.graph_def,
                input_map=input_map,
                return_elements=[part for part in wanted if part not in given],
                name=name,
            )
        tensors = dict(zip([part for part in wanted if part not in given], made, strict=True)) | dict(given)
        return {key: put_together(info, tensors) for key, info in outputs.items()}


def _with_its_own_state(message: MetaGraphDef, scope: str) -> MetaGraphDef:
    """The model with initializers of its variables that restore them, and state that it shares with no other
    that was loaded.
    """
    result = MetaGraphDef()
    result.CopyFrom(message)
    for node in result.graph_def.node:
        if "shared_name" in node.attr and node.attr["shared_name"].s:
            node.attr["shared_name"].s += f"_{scope}".encode()
    restore = message.saver_def.restore_op_name
    for key in (GraphKeys.GLOBAL_VARIABLES, GraphKeys.TRAINABLE_VARIABLES):
        values = result.collection_def[key].bytes_list.value
        definitions = [VariableDef.FromString(value) for value in values]
        for definition in definitions:
            definition.initializer_name = restore or definition.initializer_name
        values[:] = [definition.SerializeToString() for definition in definitions]
        if not definitions:
            del result.collection_def[key]
    return result


# --------------------------------------------------------------------------------------------- saving


def save_graph_model(obj: Any, export_dir: str, signatures: Any) -> None:
    """Writes signatures of models that are part of the default graph, with the variables of an object."""
    functions = _checked_signatures(signatures)
    session = session_or_default(None)
    prefix = saved_models.variables_prefix(export_dir)
    for folder in (saved_models.VARIABLES_DIRECTORY, saved_models.ASSETS_DIRECTORY):
        make_folder(os.path.join(local_path(export_dir), folder))
    saver = ObjectSaver(obj)
    with session.graph.as_default():
        definitions = {key: _signature_of(key, function) for key, function in functions.items()}
        check_signatures(definitions)
        start = constant_ops.no_operation()
        message = export_meta_graph(
            saver_def=saver.prepare().saver_def, graph=session.graph, clear_devices=True
        )
    saver.save(prefix, session)
    definitions[constants.INIT_OP_SIGNATURE_KEY] = build_signature_def(
        outputs={constants.INIT_OP_SIGNATURE_KEY: op_info(start)}
    )
    message.collection_def[constants.MAIN_OP_KEY].node_list.value.append(start.name)
    message.meta_info_def.tags.append(constants.SERVING)
    for key, definition in definitions.items():
        message.signature_def[key].CopyFrom(definition)
    model = saved_models.SavedModel(saved_model_schema_version=saved_models.SAVED_MODEL_SCHEMA_VERSION)
    model.meta_graphs.append(message)
    saved_models.write_saved_model(model, export_dir, as_text=False)


def _checked_signatures(signatures: Any) -> dict[str, SignatureFunction]:
    if not isinstance(signatures, Mapping):
        signatures = {constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY: signatures}
    for function in signatures.values():
        if not isinstance(function, SignatureFunction):
            raise ValueError(
                f"Expected a TensorFlow function to generate a signature for, but got {function}. Beside a "
                "signature of a model that is part of the default graph, only others of such models can be "
                "used as a signature."
            )
    return dict(signatures)


def _signature_of(key: str, function: SignatureFunction) -> SignatureDef:
    """The signature of a function that is applied to new placeholders."""
    inputs = {name: function.placeholder(name, f"{key}_{name}") for name in function.inputs}
    takes, gives = (
        {name: build_tensor_info(tensor) for name, tensor in tensors.items()}
        for tensors in (inputs, function(**inputs))
    )
    return build_signature_def(takes, gives, constants.PREDICT_METHOD_NAME)
