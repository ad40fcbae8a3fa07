"""Models for the tests of front ends: they answer at once, or when they are told to."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from tideflow.graph import dtypes, errors
from tideflow.serving.calls import CLASSIFY, DEFAULT_SIGNATURE, PREDICT, REGRESS, Call, Signature, TensorSpec
from tideflow.serving.messages import STATES


def rows_of(dtype, *shape, name="t:0"):
    return TensorSpec(dtype, (None, *shape), name)


EXAMPLES = {"inputs": TensorSpec(dtypes.string, (None,), "examples:0")}
SIGNATURES = {
    DEFAULT_SIGNATURE: Signature(
        PREDICT, {"x": rows_of(dtypes.float32, 2)}, {"y": rows_of(dtypes.float32, 2, name="y:0")}
    ),
    "two": Signature(
        PREDICT,
        {"a": rows_of(dtypes.int32), "s": rows_of(dtypes.string)},
        {"sum": rows_of(dtypes.int32), "s_bytes": rows_of(dtypes.string)},
    ),
    "classify": Signature(
        CLASSIFY, EXAMPLES, {"classes": rows_of(dtypes.string, 2), "scores": rows_of(dtypes.float32, 2)}
    ),
    "regress": Signature(REGRESS, EXAMPLES, {"outputs": rows_of(dtypes.float32, 1)}),
    "any": Signature(PREDICT, {"x": TensorSpec(dtypes.float32, None, "x:0")}, {"y": rows_of(dtypes.float32)}),
}


def compute(call: Call):
    """Halves and adds two; sums; says how long Examples are."""
    inputs = call.inputs
    if call.signature == "":
        return {name: inputs["x:0"] / 2 + 2 for name in call.outputs}
    if call.signature in (DEFAULT_SIGNATURE, "any"):
        return {"y": inputs["x"] / 2 + 2}
    if call.signature == "two":
        outputs = {"sum": inputs["a"] * 2, "s_bytes": inputs["s"]}
        return {name: outputs[name] for name in call.outputs}
    sizes = [len(example) for example in inputs["inputs"]]
    if call.signature == "regress":
        return {"outputs": np.array([[size] for size in sizes], np.float32)}
    return {
        "classes": np.array([[b"long", b"short"]] * len(sizes), object),
        "scores": np.array([[size, -size] for size in sizes], np.float32),
    }


@dataclass
class FakeServable:
    """Answers at once, unless it holds calls back."""

    name: str = "half"
    version: int = 3
    signatures: dict = field(default_factory=lambda: dict(SIGNATURES))
    is_holding: bool = False
    held: list[Call] = field(default_factory=list)

    def submit(self, call):
        if self.is_holding:
            self.held.append(call)
        else:
            call.done(compute(call))

    def release(self):
        """Answers the calls that were held back, the latest first."""
        while self.held:
            call = self.held.pop()
            call.done(compute(call))


@dataclass
class Status:
    version: int
    state: int
    error: errors.OpError | None = None


@dataclass
class FakeModels:
    """A server's models: one, with one version and a label."""

    servable: FakeServable = field(default_factory=FakeServable)
    config: object = None

    def find(self, name, version=None, label=None):
        if name != self.servable.name or version not in (None, self.servable.version):
            wanted = f"Latest({name})" if version is None else f"Specific({name}, {version})"
            raise errors.not_found(f"Servable not found for request: {wanted}")
        if label not in (None, "stable"):
            raise errors.invalid_argument(f"Unrecognized servable version label: {label}")
        return self.servable

    def statuses(self, name, version=None, label=None):
        if name != self.servable.name:
            raise errors.not_found(f"Could not find any versions of model {name}")
        return [Status(self.servable.version, STATES["AVAILABLE"])]

    def reload(self, config, done):
        self.config = config
        done(None)

    def names(self):
        return [self.servable.name]

    def is_ready(self):
        return True
