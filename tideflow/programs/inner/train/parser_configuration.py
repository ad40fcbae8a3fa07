"""`tensorflow.python.util.example_parser_configuration`: what an operation that parses examples expects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tideflow as tf
from tideflow.graph.own_protos import make_messages

_MESSAGES = make_messages(
    "example_parser_configuration",
    {
        "VarLenFeatureProto": {
            "dtype": "tensorboard.DataType",
            "values_output_tensor_name": "string",
            "indices_output_tensor_name": "string",
            "shapes_output_tensor_name": "string",
        },
        "FixedLenFeatureProto": {
            "dtype": "tensorboard.DataType",
            "shape": "tensorboard.TensorShapeProto",
            "default_value": "tensorboard.TensorProto",
            "values_output_tensor_name": "string",
        },
        "FeatureConfiguration": {
            "fixed_len_feature": "oneof config FixedLenFeatureProto",
            "var_len_feature": "oneof config VarLenFeatureProto",
        },
        "ExampleParserConfiguration": {"feature_map": "map FeatureConfiguration"},
    },
)
VarLenFeatureProto = _MESSAGES["VarLenFeatureProto"]
FixedLenFeatureProto = _MESSAGES["FixedLenFeatureProto"]
FeatureConfiguration = _MESSAGES["FeatureConfiguration"]
ExampleParserConfiguration = _MESSAGES["ExampleParserConfiguration"]


def extract_example_parser_configuration(parse_example_op: tf.Operation, sess: tf.Session) -> Any:
    """The features that a ParseExample operation reads, with the names of the tensors that it gives.

    Args:
      parse_example_op: The operation.
      sess: The session in which the names and the defaults of the features are worked out.

    Returns:
      The ExampleParserConfiguration.
    """
    sparse_types = parse_example_op.get_attr("sparse_types")
    dense_types = parse_example_op.get_attr("Tdense")
    dense_shapes = parse_example_op.get_attr("dense_shapes")
    sparse, dense = len(sparse_types), len(dense_types)
    fetched = sess.run(list(parse_example_op.inputs)[2:])  # behind the examples and their names
    keys, defaults = fetched[: sparse + dense], fetched[sparse + dense :]
    names = [output.name for output in parse_example_op.outputs]

    config = ExampleParserConfiguration()
    described = zip(keys[sparse:], dense_types, dense_shapes, defaults, names[3 * sparse :], strict=True)
    for key, dtype, shape, default, values in described:
        fixed = config.feature_map[_text(key)].fixed_len_feature
        fixed.dtype = dtype.as_datatype_enum
        fixed.shape.CopyFrom(tf.TensorShape(shape).as_proto())
        fixed.default_value.CopyFrom(tf.make_tensor_proto(default))
        fixed.values_output_tensor_name = values
    for number, (key, dtype) in enumerate(zip(keys[:sparse], sparse_types, strict=True)):
        indices, values, shapes = _components(names, number, sparse)
        variable = config.feature_map[_text(key)].var_len_feature
        variable.dtype = dtype.as_datatype_enum
        variable.indices_output_tensor_name = indices
        variable.values_output_tensor_name = values
        variable.shapes_output_tensor_name = shapes
    return config


def _text(key: Any) -> str:
    return tf.compat.as_text(bytes(key))


def _components(names: Sequence[str], number: int, count: int) -> Sequence[str]:
    """Of outputs that are the indices, the values and the shapes of `count` tensors: those of one."""
    return names[number : 3 * count : count]
