# Written by `python -m tideflow.programs.stubs`.

from tideflow.ops.files.proto_messages import decode_proto as decode_proto
from tideflow.ops.files.proto_messages import encode_proto as encode_proto
