"""Weights of recurrent layers, from cuDNN's layout and into it."""

from __future__ import annotations

from typing import Any

import numpy as np

_GATES = {"LSTM": 4, "CuDNNLSTM": 4, "GRU": 3, "CuDNNGRU": 3}


def fitting(layer: Any, values: list[np.ndarray]) -> list[np.ndarray]:
    """The values in the layout of the layer."""
    kind = type(layer).__name__
    if kind == "Bidirectional":
        half = len(values) // 2
        return fitting(layer.forward_layer, values[:half]) + fitting(layer.backward_layer, values[half:])
    if kind == "TimeDistributed":
        return fitting(layer.layer, values)
    if kind not in _GATES or len(values) != 3:
        return values
    kernel, recurrent, bias = values
    gates = _GATES[kind]
    size = recurrent.shape[0] * gates
    if kind.endswith("LSTM"):
        source = "CuDNNLSTM" if bias.shape == (2 * size,) else "LSTM"
        target = kind
    else:
        by_shape = {(2 * size,): "CuDNNGRU", (2, size): "GRU(reset_after=True)"}
        source = by_shape.get(bias.shape, "GRU(reset_after=False)")
        target = f"GRU(reset_after={layer.reset_after})" if kind == "GRU" else kind
        if source != target and "GRU(reset_after=False)" in (source, target):
            raise ValueError(f"{source} is not compatible with {target}")
    if source == target:
        return values
    to_cudnn = target.startswith("CuDNN")

    def by_gate(matrix: np.ndarray) -> np.ndarray:
        """cuDNN has each gate's matrix the other way round, in the same memory."""
        parts = np.split(matrix, gates, axis=1)
        if to_cudnn:
            turned = [part.T.reshape(part.shape) for part in parts]
        else:
            turned = [part.reshape(part.shape[::-1]).T for part in parts]
        return np.concatenate(turned, axis=1)

    if kind.endswith("LSTM"):
        bias = np.tile(0.5 * bias, 2) if to_cudnn else np.sum(np.split(bias, 2), axis=0)
    else:
        bias = bias.reshape(-1) if to_cudnn else bias.reshape(2, -1)
    return [by_gate(kernel), by_gate(recurrent), bias]
