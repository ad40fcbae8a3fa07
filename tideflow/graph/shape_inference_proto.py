"""CppShapeInferenceResult: what is known of a tensor's shape, and of the variable behind a handle."""

from tideflow.graph.own_protos import make_messages

_messages = make_messages(
    "cpp_shape_inference",
    {
        "CppShapeInferenceResult": {
            "shape": "tensorboard.TensorShapeProto",
            "handle_data": "4 CppShapeInferenceResult.HandleData",
        },
        "CppShapeInferenceResult.HandleShapeAndType": {
            "shape": "tensorboard.TensorShapeProto",
            "dtype": "tensorboard.DataType",
        },
        "CppShapeInferenceResult.HandleData": {
            "is_set": "bool",
            "shape_and_type": "repeated CppShapeInferenceResult.HandleShapeAndType",
        },
        "CppShapeInferenceInputsNeeded": {
            "input_tensors_needed": "repeated int32",
            "input_tensors_as_shapes_needed": "repeated int32",
        },
    },
)
CppShapeInferenceResult = _messages["CppShapeInferenceResult"]
CppShapeInferenceInputsNeeded = _messages["CppShapeInferenceInputsNeeded"]
