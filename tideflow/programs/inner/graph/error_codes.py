"""`tensorflow.core.lib.core.error_codes_pb2`: the codes of errors, as an enumeration of messages."""

from __future__ import annotations

from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.internal.enum_type_wrapper import EnumTypeWrapper

from tideflow.graph import errors

_CODES = {name: value for name, value in vars(errors).items() if name.isupper() and type(value) is int}


def _enumeration() -> EnumTypeWrapper:
    file = FileDescriptorProto(name="tensorflow/core/lib/core/error_codes.proto", package="tensorflow.error")
    kind = file.enum_type.add(name="Code")
    for name, value in _CODES.items():
        kind.value.add(name=name, number=value)
    pool = DescriptorPool()  # of its own, beside whatever else in the process has such a file
    pool.Add(file)
    return EnumTypeWrapper(pool.FindEnumTypeByName("tensorflow.error.Code"))


Code = _enumeration()
