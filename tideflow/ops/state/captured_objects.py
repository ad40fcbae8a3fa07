"""Objects of eager mode in a graph beside it: tables, queues, iterators that a model uses."""

from __future__ import annotations

from tideflow.graph.op import Op
from tideflow.graph.schema import attr

KIND = "captured object"

captured_object_op = Op(
    "_CapturedObject",
    " -> handle: resource",
    stateful=True,
    handle=True,
    differentiable=False,
    shared_name=attr("string"),
)
captured_object_op.shape(lambda: [])


@captured_object_op.kernel
def _captured_object_kernel(*, shared_name, resources):
    return resources.find("", KIND, shared_name)


captured_object_op.samples(covered_by="tests/keras/test_eager_models.py")
