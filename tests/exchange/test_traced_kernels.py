"""The kernels that are traced for other systems compute what the ops' own ones do."""

import inspect

import numpy as np
import pytest
import torch

from tests.ops.cases import arrays, split_attrs
from tideflow.exchange.traced_kernels import KERNELS
from tideflow.runtime.values import to_torch


def samples():
    for op, kernel in KERNELS.items():
        for number, sample in enumerate(op.sample_cases):
            inputs, attrs = split_attrs(sample)
            if not any(isinstance(each, np.ndarray) and each.dtype == object for each in arrays(inputs)):
                yield pytest.param(op, kernel, inputs, attrs, id=f"{op.name}-{number}")


def called(op, kernel, inputs, attrs):
    defaults = {name: spec.default for name, spec in op.attrs.items()}
    wanted = inspect.getfullargspec(kernel).kwonlyargs
    given = {name: attrs.get(name, defaults[name]) for name in wanted}
    args = [
        np.asarray(value).tolist() if arg.name in op.host else to_torch(np.asarray(value))
        for arg, value in zip(op.inputs, arrays(inputs), strict=True)
    ]
    made = kernel(*args, **given)
    return made if isinstance(made, (list, tuple)) else [made]


@pytest.mark.parametrize(("op", "kernel", "inputs", "attrs"), list(samples()))
def test_a_sample(op, kernel, inputs, attrs):
    own = called(op, op.kernels[""], inputs, attrs)
    for found, wanted in zip(called(op, kernel, inputs, attrs), own, strict=True):
        assert found.dtype == wanted.dtype and found.shape == wanted.shape
        torch.testing.assert_close(found, wanted, equal_nan=True)
