"""serving/tensors_proto.py: the bytes written by hand are what messages mean."""

import numpy as np
import pytest
from tensorboard.compat.proto.tensor_pb2 import TensorProto

from tests.serving.fake_models import rows_of
from tideflow.graph import dtypes, errors
from tideflow.graph.tensor_proto import make_ndarray
from tideflow.serving import messages, tensors_proto

TYPES = [
    dtypes.float32,
    dtypes.float64,
    dtypes.half,
    dtypes.bfloat16,
    dtypes.int8,
    dtypes.int32,
    dtypes.int64,
    dtypes.uint32,
    dtypes.uint64,
    dtypes.bool,
    dtypes.complex64,
    dtypes.complex128,
    dtypes.string,
]


@pytest.mark.parametrize("dtype", TYPES, ids=lambda dtype: dtype.name)
@pytest.mark.parametrize("as_content", [False, True])
def test_tensors_are_read_as_they_were_written(dtype, as_content):
    for shape in ((), (0,), (3,), (2, 100)):
        array = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype.numpy)
        if dtype is dtypes.string:
            array = np.array([b"\xff" * 3, b""], object)
        proto = TensorProto.FromString(tensors_proto.write_tensor(array, dtype, as_content))
        assert proto.dtype == dtype.as_datatype_enum
        assert (proto.tensor_content != b"") == (as_content and array.size > 0 and dtype is not dtypes.string)
        for read in (make_ndarray(proto), tensors_proto.read_tensor(proto, "x")):
            assert read.dtype == array.dtype
            assert read.shape == array.shape
            assert np.array_equal(read, array)


def test_a_response_holds_every_output_and_the_version_that_answered():
    outputs = {"y": np.float32([[1, 2]]), "long" * 50: np.arange(300)}
    types = {"y": rows_of(dtypes.float32), "long" * 50: rows_of(dtypes.int64)}
    spec = tensors_proto.model_spec("m", 7, "serving_default")
    response = messages.PredictResponse.FromString(
        tensors_proto.predict_response(outputs, types, spec, False)
    )
    assert response.outputs["y"].float_val == [1, 2]
    assert response.outputs["long" * 50].int64_val == list(range(300))
    assert (response.model_spec.name, response.model_spec.version.value) == ("m", 7)
    assert response.model_spec.signature_name == "serving_default"


def test_hostile_tensors_are_refused():
    short = TensorProto(dtype=1, tensor_content=b"123")
    short.tensor_shape.dim.add(size=1)
    with pytest.raises(errors.InvalidArgumentError, match="tensor parsing error: x"):
        tensors_proto.read_tensor(short, "x")
    huge = TensorProto(dtype=1, float_val=[1])
    huge.tensor_shape.dim.add(size=1 << 40)
    with pytest.raises(errors.ResourceExhaustedError, match="repeats one value"):
        tensors_proto.read_tensor(huge, "x")
    with pytest.raises(errors.InvalidArgumentError, match="tensor parsing error: x"):
        tensors_proto.read_tensor(TensorProto(dtype=20), "x")  # a resource
    with pytest.raises(errors.InvalidArgumentError, match="tensor parsing error: x"):
        tensors_proto.read_tensor(TensorProto(dtype=77), "x")
    deep = TensorProto(dtype=1, tensor_content=b"1234")
    for _ in range(65):
        deep.tensor_shape.dim.add(size=1)
    with pytest.raises(errors.InvalidArgumentError, match="tensor parsing error: x"):
        tensors_proto.read_tensor(deep, "x")
