"""The description of a message and of all that it holds, by which two packages' messages can be compared."""

from google.protobuf import descriptor_pb2


def described(root):
    """By the path on which a message is first met: its fields by number, with what the wire and text need."""
    found, paths = {}, {root.full_name: ""}
    waiting = [root]
    while waiting:
        message = waiting.pop(0)
        path = paths[message.full_name]
        proto = descriptor_pb2.DescriptorProto()
        message.CopyToProto(proto)
        found[path] = {}
        for field, written in zip(message.fields, proto.field, strict=True):
            kind = field.message_type
            if kind is not None and kind.full_name not in paths:
                paths[kind.full_name] = f"{path}.{field.name}"
                waiting.append(kind)
            found[path][field.number] = _field(field, written, paths)
    return found


def _field(field, written, paths):
    repeated = written.label == descriptor_pb2.FieldDescriptorProto.LABEL_REPEATED
    return {
        "name": field.name,
        "type": field.type,
        "repeated": repeated,
        "presence": field.has_presence,
        "default": None if repeated or field.message_type else field.default_value,
        "oneof": field.containing_oneof and field.containing_oneof.name,
        "message": field.message_type and paths[field.message_type.full_name],
        "enum": field.enum_type and {value.name: value.number for value in field.enum_type.values},
    }
