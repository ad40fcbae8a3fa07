"""What clients are told of a model: its signatures as TensorFlow's messages, and back."""

from __future__ import annotations

from tensorboard.compat.proto.meta_graph_pb2 import SignatureDef, TensorInfo

from tideflow.graph.dtypes import DType
from tideflow.graph.shapes import TensorShape
from tideflow.serving.calls import Signature, TensorSpec


def signature_def(signature: Signature) -> SignatureDef:
    """The SignatureDef of a signature."""
    return SignatureDef(
        inputs={name: _tensor_info(spec) for name, spec in signature.inputs.items()},
        outputs={name: _tensor_info(spec) for name, spec in signature.outputs.items()},
        method_name=signature.method_name,
    )


def _tensor_info(spec: TensorSpec) -> TensorInfo:
    return TensorInfo(
        name=spec.tensor_name,
        dtype=spec.dtype.as_datatype_enum,
        tensor_shape=TensorShape(spec.shape).as_proto(),
    )


def signature_of(message: SignatureDef) -> Signature:
    """The signature that a SignatureDef describes."""
    return Signature(
        message.method_name,
        {name: _spec(info) for name, info in sorted(message.inputs.items())},
        {name: _spec(info) for name, info in sorted(message.outputs.items())},
    )


def _spec(info: TensorInfo) -> TensorSpec:
    shape = info.tensor_shape
    sizes = None if shape.unknown_rank else tuple(dim.size if dim.size >= 0 else None for dim in shape.dim)
    return TensorSpec(DType(info.dtype).base_dtype, sizes, info.name)
