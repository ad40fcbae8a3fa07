"""tf.contrib.proto: messages in tensors, by their first names."""

from __future__ import annotations

from tideflow.export import expose
from tideflow.ops.files.proto_messages import decode_proto, encode_proto

expose(decode_proto, "contrib.proto.decode_proto")
expose(encode_proto, "contrib.proto.encode_proto")
