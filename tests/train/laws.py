"""The optimizers' laws in NumPy, written from their papers: what tf.train must compute.

A law is a function of (state, gradient, step); `state` has the variable under "var" and up to three arrays
beside it. It works on whole arrays or, for the rows of a sparse gradient, on those rows.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Law = Callable[[dict, np.ndarray, int], None]


def gradient_descent(rate=0.1) -> Law:
    def law(s, g, t):
        s["var"] -= rate * g

    return law


def momentum(rate=0.1, keep=0.9, nesterov=False) -> Law:
    def law(s, g, t):
        s["a"] = keep * s["a"] + g
        s["var"] -= rate * (g + keep * s["a"] if nesterov else s["a"])

    return law


def adagrad(rate=0.5) -> Law:
    def law(s, g, t):
        s["a"] += g * g
        s["var"] -= rate * g / np.sqrt(s["a"])

    return law


def adadelta(rate=1.0, rho=0.9, epsilon=1e-4) -> Law:
    def law(s, g, t):
        s["a"] = rho * s["a"] + (1 - rho) * g * g
        update = np.sqrt(s["b"] + epsilon) / np.sqrt(s["a"] + epsilon) * g
        s["b"] = rho * s["b"] + (1 - rho) * update * update
        s["var"] -= rate * update

    return law


def adam(rate=0.1, beta1=0.9, beta2=0.999, epsilon=1e-8) -> Law:
    def law(s, g, t):
        s["a"] = beta1 * s["a"] + (1 - beta1) * g
        s["b"] = beta2 * s["b"] + (1 - beta2) * g * g
        step = rate * np.sqrt(1 - beta2**t) / (1 - beta1**t)
        s["var"] -= step * s["a"] / (np.sqrt(s["b"]) + epsilon)

    return law


def rms_prop(rate=0.05, decay=0.8, keep=0.5, epsilon=1e-3, centered=False) -> Law:
    def law(s, g, t):
        s["a"] = decay * s["a"] + (1 - decay) * g * g
        spread = s["a"]
        if centered:
            s["c"] = decay * s["c"] + (1 - decay) * g
            spread = s["a"] - s["c"] * s["c"]
        s["b"] = keep * s["b"] + rate * g / np.sqrt(spread + epsilon)
        s["var"] -= s["b"]

    return law


def ftrl(rate=0.5, power=-0.5, l1=0.0, l2=0.0, shrinkage=0.0) -> Law:
    def law(s, g, t):
        grown = s["a"] + g * g
        pull = (grown**-power - s["a"] ** -power) / rate
        s["b"] += g + 2 * shrinkage * s["var"] - pull * s["var"]
        s["a"] = grown
        quadratic = grown**-power / rate + 2 * l2
        over = np.sign(s["b"]) * l1 - s["b"]
        s["var"][...] = np.where(np.abs(s["b"]) > l1, over / quadratic, 0.0)

    return law


def proximal(var, rate, l1, l2):
    shrunk = np.sign(var) * np.maximum(np.abs(var) - rate * l1, 0) if l1 > 0 else var
    return shrunk / (1 + rate * l2)


def proximal_gradient_descent(rate=0.1, l1=0.02, l2=0.05) -> Law:
    def law(s, g, t):
        s["var"][...] = proximal(s["var"] - rate * g, rate, l1, l2)

    return law


def proximal_adagrad(rate=0.5, l1=0.02, l2=0.05) -> Law:
    def law(s, g, t):
        s["a"] += g * g
        each = rate / np.sqrt(s["a"])
        s["var"][...] = proximal(s["var"] - each * g, each, l1, l2)

    return law


def adagrad_da(rate=0.5, l1=0.01, l2=0.02) -> Law:
    def law(s, g, t):
        s["b"] += g
        s["a"] += g * g
        total = np.sign(s["b"]) * np.maximum(np.abs(s["b"]) - l1 * t, 0)
        s["var"][...] = -rate * total / (l2 * t * rate + np.sqrt(s["a"]))

    return law
