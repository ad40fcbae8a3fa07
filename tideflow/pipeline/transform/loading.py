"""The graph of a transform's SavedModel, added to another graph: Tideflow's, and TFT's of both of its forms.

TFT under TensorFlow 1 writes a graph whose signature names features. Under TensorFlow 2 it writes a function
whose inputs are numbered in the order of the features' names; which they are, the function's signature says.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import tideflow as tf
from tideflow.pipeline.transform.trace import components
from tideflow.saved_model.constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY, INIT_OP_SIGNATURE_KEY, SERVING
from tideflow.saved_model.loader import SavedModelLoader, asset_paths
from tideflow.saved_model.restored_functions import referred_functions
from tideflow.saved_model.structured_values import decoded

TAG = "transform"
SIGNATURE = "transform_signature"


@dataclass(frozen=True)
class _Saved:
    """A SavedModel's graph.

    Args:
      graph_def: The graph.
      inputs: By feature, the names of its tensors, and their types and shapes.
      outputs: By feature, the names of its tensors.
      initializers: The names of the operations that fill tables.
      assets: The paths of files by the names of the tensors that say where they are.
    """

    graph_def: Any
    inputs: Mapping[str, list[Any]]
    outputs: Mapping[str, list[str]]
    initializers: list[str]
    assets: Mapping[str, str]


@dataclass(frozen=True)
class _Input:
    name: str
    dtype: Any
    shape: list[int | None]


def apply_saved_transform(
    folder: str, raw_features: Mapping[str, Any], drop_unused_features: bool = True
) -> dict[str, Any]:
    """Adds a transform's graph to the default graph; returns its outputs by name.

    Args:
      folder: The SavedModel.
      raw_features: Tensors by the names of features. Not all have to be given.
      drop_unused_features: Whether outputs that need a feature which is not given are left out.
    """
    saved = _read(folder)
    unknown = set(raw_features) - set(saved.inputs)
    if unknown:
        raise ValueError(f"Unexpected inputs to transform: {unknown}")
    graph = tf.get_default_graph()
    needed = _features_of_outputs(saved)
    given: dict[str, Any] = {}
    for name, value in raw_features.items():
        given.update(
            {each.name: part for each, part in zip(saved.inputs[name], components(value), strict=True)}
        )
    if raw_features and drop_unused_features:
        outputs = {name: parts for name, parts in saved.outputs.items() if needed[name] <= set(raw_features)}
        given.update(_empty_values(saved, raw_features))
    else:
        outputs = dict(saved.outputs)
    with tf.name_scope("transform_assets"):
        assets = {name: tf.constant(path) for name, path in saved.assets.items()}
    for tensor in assets.values():
        graph.add_to_collection(tf.GraphKeys.ASSET_FILEPATHS, tensor)
    found: list[Any] = (
        tf.import_graph_def(
            saved.graph_def,
            input_map=_used(saved.graph_def, {**given, **assets}),
            return_elements=[*saved.initializers, *(part for parts in outputs.values() for part in parts)],
            name="transform",
        )
        or []
    )
    count = len(saved.initializers)
    for initializer in found[:count]:
        graph.add_to_collection(tf.GraphKeys.TABLE_INITIALIZERS, initializer)
    tensors = iter(found[count:])
    results = {}
    for name, parts in outputs.items():
        own = [next(tensors) for _ in parts]
        results[name] = tf.SparseTensor(*own) if len(own) > 1 else own[0]
    return results


def _used(graph_def: Any, mapped: Mapping[str, Any]) -> dict[str, Any]:
    """Of replaced tensors those that a node takes."""
    taken = {_full(name) for node in graph_def.node for name in node.input}
    return {name: value for name, value in mapped.items() if name in taken}


def _full(name: str) -> str:
    return name if ":" in name or name.startswith("^") else f"{name}:0"


def _read(folder: str) -> _Saved:
    loader = SavedModelLoader(folder)
    tags = [set(message.meta_info_def.tags) for message in loader.saved_model.meta_graphs]
    message = loader.get_meta_graph_def_from_tags([TAG] if {TAG} in tags else [SERVING])
    assets = asset_paths(folder, message)
    if SIGNATURE in message.signature_def:
        signature = message.signature_def[SIGNATURE]
        inputs = {name: _inputs_of(info) for name, info in signature.inputs.items()}
        collection = message.collection_def[tf.GraphKeys.TABLE_INITIALIZERS]
        initializers = list(collection.node_list.value)
    else:
        signature = message.signature_def[DEFAULT_SERVING_SIGNATURE_DEF_KEY]
        inputs = _numbered_inputs(message, signature)
        outputs = message.signature_def[INIT_OP_SIGNATURE_KEY].outputs
        initializers = [info.name for info in outputs.values()]
    named = {name: [each.name for each in _inputs_of(info)] for name, info in signature.outputs.items()}
    return _Saved(message.graph_def, inputs, named, initializers, assets)


def _inputs_of(info: Any) -> list[_Input]:
    """The tensors of a signature's input or output."""
    dtype = tf.as_dtype(info.dtype)
    sizes = None if info.tensor_shape.unknown_rank else [dim.size for dim in info.tensor_shape.dim]
    shape = [] if sizes is None else [None if size < 0 else size for size in sizes]
    encoding = info.WhichOneof("encoding")
    if encoding == "name":
        return [_Input(info.name, dtype, shape)]
    if encoding != "coo_sparse":
        raise ValueError(f"A transform's features are dense or sparse, not {encoding}")
    names = info.coo_sparse
    rank = max(len(shape), 2)
    return [
        _Input(names.indices_tensor_name, tf.int64, [None, rank]),
        _Input(names.values_tensor_name, dtype, [None]),
        _Input(names.dense_shape_tensor_name, tf.int64, [rank]),
    ]


def _numbered_inputs(message: Any, signature: Any) -> dict[str, list[_Input]]:
    """The features of a function: their tensors are numbered, in the order of the features' names."""
    infos = {name: _inputs_of(info)[0] for name, info in signature.inputs.items()}
    ordered = sorted(infos, key=lambda name: int(name.rpartition("_")[2]) if "_" in name else 0)
    for function in message.object_graph_def.concrete_functions.values():
        positional, _ = decoded(function.canonicalized_input_signature)
        if len(positional) == 1 and isinstance(positional[0], dict):
            structure = positional[0]
            sizes = {name: 1 if isinstance(spec, tf.TensorSpec) else 3 for name, spec in structure.items()}
            if sum(sizes.values()) == len(ordered):
                names = iter(ordered)
                return {name: [infos[next(names)] for _ in range(sizes[name])] for name in sorted(structure)}
    raise ValueError("The SavedModel has no function of features by name: TFT did not write it")


def _empty_values(saved: _Saved, raw_features: Mapping[str, Any]) -> dict[str, Any]:
    """Values of features that are not given, for a function that takes all of them: zeros, or nothing."""
    some = next(iter(raw_features.values()))
    rows = some.dense_shape[0] if isinstance(some, tf.SparseTensor) else tf.shape(some, out_type=tf.int64)[0]
    values: dict[str, Any] = {}
    for name, parts in saved.inputs.items():
        if name in raw_features:
            continue
        if len(parts) == 1:
            sizes = [rows, *(tf.constant(size or 0, tf.int64) for size in parts[0].shape[1:])]
            values[parts[0].name] = tf.zeros(tf.stack(sizes), parts[0].dtype)
        else:
            indices, elements, shape = parts
            values[indices.name] = tf.zeros([0, indices.shape[1]], tf.int64)
            values[elements.name] = tf.zeros([0], elements.dtype)
            values[shape.name] = tf.stack([rows, *[tf.constant(0, tf.int64)] * (shape.shape[0] - 1)])
    return values


# ------------------------------------------------------------------------- which outputs need which inputs


def _features_of_outputs(saved: _Saved) -> dict[str, set[str]]:
    """The features that each output depends on."""
    functions = {function.signature.name: function for function in saved.graph_def.library.function}
    nodes = {node.name: node for node in saved.graph_def.node}
    feature_of = {part.name.partition(":")[0]: name for name, parts in saved.inputs.items() for part in parts}
    known: dict[str, list[set[int]]] = {}

    def of_tensor(name: str, seen: set[str]) -> set[str]:
        if name in seen:
            return set()
        seen.add(name)
        node_name, _, place = name.partition(":")
        if node_name in feature_of:
            return {feature_of[node_name]}
        node = nodes[node_name]
        inputs = _data_inputs(node)
        called = _called(node, functions)
        if called is not None:
            wanted = _inputs_of_outputs(called, functions, known)[int(place or 0)]
            inputs = [inputs[i] for i in sorted(wanted)]
        return set().union(*(of_tensor(each, seen) for each in inputs))

    return {
        name: set().union(*(of_tensor(part, set()) for part in parts))
        for name, parts in saved.outputs.items()
    }


def _data_inputs(node: Any) -> list[str]:
    """What a node's values are made of. What only has to run before it gets values that are made up."""
    return [name for name in node.input if not name.startswith("^")]


def _called(node: Any, functions: Mapping[str, Any]) -> Any:
    """The function that a node does nothing but call."""
    referred = [each.name for each in referred_functions(node)]
    calls = len(referred) == 1 and referred[0] in functions
    return functions[referred[0]] if calls and "f" in node.attr else None


def _inputs_of_outputs(
    function: Any, functions: Mapping[str, Any], known: dict[str, list[set[int]]]
) -> list[set[int]]:
    """For each output of a function, the numbers of the arguments that it depends on."""
    name = function.signature.name
    if name in known:
        return known[name]
    arguments = {arg.name: number for number, arg in enumerate(function.signature.input_arg)}
    nodes = {node.name: node for node in function.node_def}

    def of_tensor(tensor: str, seen: set[str]) -> set[int]:
        if tensor in seen:
            return set()
        seen.add(tensor)
        source, _, place = tensor.partition(":")
        if source in arguments and source not in nodes:
            return {arguments[source]}
        node = nodes[source]
        inputs = _data_inputs(node)
        called = _called(node, functions)
        if called is not None:
            wanted = _inputs_of_outputs(called, functions, known)[int(place.rpartition(":")[2] or 0)]
            inputs = [inputs[i] for i in sorted(wanted)]
        return set().union(*(of_tensor(each, seen) for each in inputs))

    found = [of_tensor(function.ret[arg.name], set()) for arg in function.signature.output_arg]
    known[name] = found
    return found
