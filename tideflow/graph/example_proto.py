"""Example and SequenceExample: the messages that hold training data, on TensorFlow's wire format."""

from __future__ import annotations

from google.protobuf import text_format

from tideflow.export import expose
from tideflow.graph.own_protos import make_messages

# By message, its fields in the order of their numbers.
_SCHEMA = {
    "BytesList": {"value": "repeated bytes"},
    "FloatList": {"value": "repeated float"},
    "Int64List": {"value": "repeated int64"},
    "Feature": {
        "bytes_list": "oneof kind BytesList",
        "float_list": "oneof kind FloatList",
        "int64_list": "oneof kind Int64List",
    },
    "Features": {"feature": "map Feature"},
    "FeatureList": {"feature": "repeated Feature"},
    "FeatureLists": {"feature_list": "map FeatureList"},
    "Example": {"features": "Features"},
    "SequenceExample": {"context": "Features", "feature_lists": "FeatureLists"},
}

_classes = make_messages("example", _SCHEMA)
for _name, _class in _classes.items():
    _class.__module__ = __name__  # for pickle
    _class.__str__ = _class.__repr__ = text_format.MessageToString  # features in the order of their names
    expose(_class, f"train.{_name}")

BytesList = _classes["BytesList"]
FloatList = _classes["FloatList"]
Int64List = _classes["Int64List"]
Feature = _classes["Feature"]
Features = _classes["Features"]
FeatureList = _classes["FeatureList"]
FeatureLists = _classes["FeatureLists"]
Example = _classes["Example"]
SequenceExample = _classes["SequenceExample"]
