"""The models that MLServer and Triton serve: those of `models.py` in NumPy, where that is no handicap.

Needs nothing but NumPy: it is imported by the Pythons of the peers too.
"""

import numpy as np

NAMES = ("noop", "linear", "mlp")


def load(folder, name):
    """A function of rows, with the weights that were written into the folder."""
    if name == "noop":
        return lambda x: x
    weights = np.load(f"{folder}/weights.npz")
    if name == "linear":
        kernel, bias = weights["linear/kernel"], weights["linear/bias"]
        return lambda x: x @ kernel + bias
    hidden, hidden_bias = weights["hidden/kernel"], weights["hidden/bias"]
    kernel, bias = weights["classes/kernel"], weights["classes/bias"]

    def mlp(x):
        scores = np.exp(np.maximum(x @ hidden + hidden_bias, 0) @ kernel + bias)
        return scores / scores.sum(1, keepdims=True)

    return mlp


def write_weights(folder):
    """Random weights of the sizes that the models have."""
    numbers = np.random.default_rng(0)
    sizes = {"linear": (784, 10), "hidden": (784, 128), "classes": (128, 10)}
    weights = {f"{name}/kernel": numbers.normal(0, 0.05, size) for name, size in sizes.items()}
    weights |= {f"{name}/bias": np.zeros(size[1]) for name, size in sizes.items()}
    np.savez(f"{folder}/weights.npz", **{name: array.astype(np.float32) for name, array in weights.items()})
