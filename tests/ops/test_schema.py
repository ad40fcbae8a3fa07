"""Every op type is TensorFlow's: inputs, outputs, attributes and flags as its list of op types has them."""

import json
import re
from importlib import resources
from pathlib import Path

import numpy as np

import tideflow as tf  # noqa: F401 - registers the vocabulary
from tideflow.graph import dtypes
from tideflow.graph.op import Op, check_complete, definitions
from tideflow.graph.schema import REQUIRED, Arg, Attr

SPECIFIED = json.loads(resources.files("tideflow.graph").joinpath("data/op_defs.json").read_text())
# Op types of tf.contrib are not in the list, which has those of the core.
SPECIFIED["GatherTree"] = {
    "inputs": ["step_ids: T", "parent_ids: T", "max_sequence_lengths: int32", "end_token: T"],
    "outputs": ["beams: T"],
    "attrs": {"T": {"type": "type", "allowed": ["int32"]}},
}
SPECIFIED |= json.loads(Path(__file__).with_name("ops_of_contrib.json").read_text())
# What later versions added is in a list of its own.
SPECIFIED |= json.loads(Path(__file__).with_name("ops_after_1_15.json").read_text())
OPS = {name: op for name, op in sorted(definitions().items()) if not name.startswith("_")}


def test_schemas():
    assert not set(OPS).difference(SPECIFIED), "TensorFlow has no such op types"
    for name, op in OPS.items():
        assert described(op) == specified(SPECIFIED[name]), name


def test_definitions_are_complete():
    check_complete(list(OPS.values()))


# ---------------------------------------------------------------------------------- one form for both


def described(op: Op) -> dict:
    """A registered op in comparable form."""
    return {
        "inputs": [argument(arg) for arg in op.inputs],
        "outputs": [argument(arg) for arg in op.outputs],
        "attrs": {key: attribute(spec) for key, spec in op.attrs.items()},
        "stateful": op.stateful and not takes_reference(op),
        "commutative": op.commutative,
    }


def takes_reference(op: Op) -> bool:
    """TensorFlow calls ops on reference variables stateless; their effects show in their types."""
    return any(arg.is_ref for arg in op.inputs)


def specified(entry: dict) -> dict:
    """An entry of the list in the same form."""
    return {
        "inputs": [canonical_types(text) for text in entry["inputs"]],
        "outputs": [canonical_types(text) for text in entry["outputs"]],
        "attrs": {key: attribute(from_entry(spec)) for key, spec in entry["attrs"].items()},
        "stateful": entry.get("stateful", False),
        "commutative": entry.get("commutative", False),
    }


def argument(arg: Arg) -> str:
    kind = arg.type_attr or arg.type_list_attr or arg.dtype.name
    kind = f"Ref({kind})" if arg.is_ref else kind
    return f"{arg.name}: {arg.number_attr} * {kind}" if arg.number_attr else f"{arg.name}: {kind}"


def canonical_types(text: str) -> str:
    """`x: float` as `x: float32`; what is no dtype is an attribute's name."""
    return re.sub(r"(?<=[ (])(float|double|half)\b", lambda word: dtypes.as_dtype(word[0]).name, text)


def from_entry(spec: dict) -> Attr:
    return Attr(spec["type"], spec.get("default", REQUIRED), spec.get("allowed"), spec.get("minimum"))


def attribute(spec: Attr) -> dict:
    shape = {"kind": spec.kind}
    if spec.default is not REQUIRED:
        shape["default"] = value(spec.kind, spec.default)
    if spec.allowed is not None:
        shape["allowed"] = sorted(
            value(spec.kind.removeprefix("list(").rstrip(")"), item) for item in spec.allowed
        )
    if spec.minimum is not None and not (spec.kind.startswith("list(") and spec.minimum <= 0):
        shape["minimum"] = spec.minimum
    return shape


def value(kind: str, item):
    """A default or allowed value: types by name, floats in the float32 that the list keeps them in."""
    if kind.startswith("list("):
        return [value(kind[5:-1], part) for part in item]
    if kind == "type":
        return dtypes.as_dtype(item).name
    if kind == "float":
        return float(np.float32(item))
    if kind == "shape":
        sizes = getattr(item, "tuple", item)
        return None if sizes is None else list(sizes)
    return "<tensor>" if kind == "tensor" else item
