"""TensorInfo messages: how a signature names a tensor, dense, sparse or composite, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorboard.compat.proto.meta_graph_pb2 import TensorInfo
from tensorboard.compat.proto.struct_pb2 import TypeSpecProto
from tensorboard.compat.proto.types_pb2 import DT_INVALID

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.composite import IndexedSlices, SparseTensor, components
from tideflow.graph.graph import Graph
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import get_default_graph
from tideflow.graph.shapes import unknown_shape
from tideflow.ragged.tensor import RaggedTensor
from tideflow.saved_model.structured_values import encoded
from tideflow.variables.exported_names import prepend_name_scope

if TYPE_CHECKING:
    from tideflow.graph.typing import AnyTensor

# ----------------------------------------------------------------------------------------------- out


@export("saved_model.build_tensor_info", "saved_model.utils.build_tensor_info")
def build_tensor_info(tensor: AnyTensor | RaggedTensor) -> TensorInfo:
    """Describes a tensor: its name, type and static shape.

    Args:
      tensor: A tensor, or a sparse or ragged tensor.

    Returns:
      The TensorInfo message.
    """
    if isinstance(tensor, (IndexedSlices, RaggedTensor)):
        return _composite_info(tensor)
    dtype = dtypes.as_dtype(tensor.dtype)
    info = TensorInfo(dtype=dtype.as_datatype_enum, tensor_shape=tensor.get_shape().as_proto())
    if isinstance(tensor, SparseTensor):
        info.coo_sparse.values_tensor_name = tensor.values.name
        info.coo_sparse.indices_tensor_name = tensor.indices.name
        info.coo_sparse.dense_shape_tensor_name = tensor.dense_shape.name
    else:
        info.name = tensor.name
    return info


def op_info(op: Operation | Tensor) -> TensorInfo:
    """What names an operation where a tensor is expected."""
    return TensorInfo(dtype=DT_INVALID, tensor_shape=unknown_shape().as_proto(), name=op.name)


def _composite_info(value: Any) -> TensorInfo:
    info = TensorInfo()
    spec = info.composite_tensor.type_spec
    if isinstance(value, RaggedTensor):
        spec.type_spec_class, name = TypeSpecProto.RAGGED_TENSOR_SPEC, "RaggedTensorSpec"
        state = (value.shape, value.dtype, value.ragged_rank, value.row_splits.dtype)
        parts = [value.flat_values, *value.nested_row_splits]
    else:
        spec.type_spec_class, name = TypeSpecProto.INDEXED_SLICES_SPEC, "IndexedSlicesSpec"
        state = value._type_spec._serialize()
        parts = components(value)
    spec.type_spec_class_name = name
    spec.type_state.CopyFrom(encoded(state))
    info.composite_tensor.components.extend(build_tensor_info(part) for part in parts)
    return info


# ---------------------------------------------------------------------------------------------- back


@export("saved_model.get_tensor_from_tensor_info", "saved_model.utils.get_tensor_from_tensor_info")
def get_tensor_from_tensor_info(
    tensor_info: TensorInfo, graph: Graph | None = None, import_scope: str | None = None
) -> Any:
    """Finds the tensor that a TensorInfo message describes.

    Args:
      tensor_info: The message.
      graph: The graph; the default graph if None.
      import_scope: The name scope under which the graph was imported.

    Returns:
      The tensor, or a sparse tensor.

    Raises:
      KeyError: If the graph has no such tensor.
    """
    graph = graph or get_default_graph()

    def tensor(name: str) -> Tensor:
        return graph.get_tensor_by_name(prepend_name_scope(name, import_scope))

    encoding = tensor_info.WhichOneof("encoding")
    if encoding == "name":
        return tensor(tensor_info.name)
    if encoding == "coo_sparse":
        names = tensor_info.coo_sparse
        return SparseTensor(
            tensor(names.indices_tensor_name),
            tensor(names.values_tensor_name),
            tensor(names.dense_shape_tensor_name),
        )
    if encoding == "composite_tensor":
        parts = [tensor(part.name) for part in tensor_info.composite_tensor.components]
        return _composite(tensor_info.composite_tensor.type_spec, parts)
    raise ValueError(f"Invalid TensorInfo.encoding: {encoding}")


def _composite(spec: TypeSpecProto, parts: list[Tensor]) -> Any:
    if spec.type_spec_class == TypeSpecProto.RAGGED_TENSOR_SPEC and len(parts) > 1:
        values, *splits = parts
        return RaggedTensor.from_nested_row_splits(values, splits, validate=False)
    if spec.type_spec_class == TypeSpecProto.INDEXED_SLICES_SPEC and len(parts) in (2, 3):
        return IndexedSlices(*parts)
    kind = TypeSpecProto.TypeSpecClass.Name(spec.type_spec_class)
    raise ValueError(
        f"Invalid TensorInfo.composite_tensor: {kind} of {len(parts)} components; ragged tensors and "
        "IndexedSlices are known"
    )


def get_element_from_tensor_info(
    tensor_info: TensorInfo, graph: Graph | None = None, import_scope: str | None = None
) -> Operation | Tensor:
    """The operation or tensor of a graph that a message names."""
    graph = graph or get_default_graph()
    return graph.as_graph_element(prepend_name_scope(tensor_info.name, import_scope))
