"""The models of `examples/models` in JAX, with the same layers and sizes: each a function of a `Weights` and
a batch that gives the loss. It is only loaded where JAX can be imported.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from examples.models import dcgan, googlenet, gpt2, inception_v3, lstm, oxfordnet, resnet

CLASSES = 1000


class Weights:
    """The weights of a network, in the order in which it asks for them. The first run makes them; later runs
    are given them. Moving averages are kept likewise.
    """

    def __init__(self, values: Sequence[Any] = (), averages: Sequence[Any] = (), key: Any = None):
        self.values, self.averages, self.key = list(values), list(averages), key
        self.is_new = not values
        self.place = (0, 0)  # of the next weight and the next average
        self._chance = np.random.RandomState(0)

    def __call__(self, *shape: int, scale: float | None = None, value: float | None = None) -> Any:
        place, averages = self.place
        if place == len(self.values):
            deviation = scale or (2 / math.prod(shape[:-1])) ** 0.5
            made = self._chance.randn(*shape) * deviation if value is None else np.full(shape, value)
            self.values.append(made.astype(np.float32))
        self.place = place + 1, averages
        return jnp.asarray(self.values[place])

    def follow(self, statistic: Any, first: float) -> None:
        """Moves an average towards a statistic of this batch."""
        weights, place = self.place
        if place == len(self.averages):
            self.averages.append(np.full(statistic.shape, first, np.float32))
        elif not self.is_new:
            self.averages[place] = 0.99 * self.averages[place] + 0.01 * lax.stop_gradient(statistic)
        self.place = weights, place + 1

    def chance(self) -> Any:
        """A new key for random numbers."""
        self.key, key = jax.random.split(self.key)
        return key


def _conv(w: Weights, x: Any, channels: int, size: Any, stride: int = 1, padding: str = "SAME") -> Any:
    height, width = (size, size) if isinstance(size, int) else size
    kernel = w(height, width, x.shape[3], channels)
    numbers = ("NHWC", "HWIO", "NHWC")
    return lax.conv_general_dilated(x, kernel, (stride, stride), padding.upper(), dimension_numbers=numbers)


def _biased(w: Weights, x: Any, *sizes: Any) -> Any:
    x = _conv(w, x, *sizes)
    return jax.nn.relu(x + w(x.shape[3], value=0.0))


def _normalized(w: Weights, x: Any) -> Any:
    """Batch normalization."""
    gain, bias = w(x.shape[3], value=1.0), w(x.shape[3], value=0.0)
    mean, square = x.mean((0, 1, 2)), (x * x).mean((0, 1, 2))
    variance = square - mean * mean
    w.follow(mean, 0.0)
    w.follow(variance, 1.0)
    return (x - mean) * (gain * lax.rsqrt(variance + 1e-3)) + bias


def _pool(x: Any, size: int, stride: int, padding: str = "VALID") -> Any:
    window, strides = (1, size, size, 1), (1, stride, stride, 1)
    return lax.reduce_window(x, -jnp.inf, lax.max, window, strides, padding)


def _average(x: Any) -> Any:
    def summed(x: Any) -> Any:
        return lax.reduce_window(x, 0.0, lax.add, (1, 3, 3, 1), (1, 1, 1, 1), "SAME")

    return summed(x) / summed(jnp.ones_like(x))


def _dense(w: Weights, x: Any, size: int) -> Any:
    return x @ w(x.shape[-1], size) + w(size, value=0.0)


def _flat(w: Weights, x: Any, hidden: Sequence[int]) -> Any:
    x = x.reshape(len(x), -1)
    for size in hidden:
        x = jax.nn.relu(_dense(w, x, size))
    return _dense(w, x, CLASSES)


def alexnet(w: Weights, x: Any) -> Any:
    x = _pool(_biased(w, x, 64, 11, 4), 3, 2)
    x = _pool(_biased(w, x, 192, 5), 3, 2)
    for channels in (384, 256, 256):
        x = _biased(w, x, channels, 3)
    return _flat(w, _pool(x, 3, 2), (4096, 4096))


def overfeat(w: Weights, x: Any) -> Any:
    x = _pool(_biased(w, x, 96, 11, 4, "VALID"), 2, 2)
    x = _pool(_biased(w, x, 256, 5, 1, "VALID"), 2, 2)
    for channels in (512, 1024, 1024):
        x = _biased(w, x, channels, 3)
    return _flat(w, _pool(x, 2, 2), (3072, 4096))


def oxfordnet_(w: Weights, x: Any) -> Any:
    for channels, convolutions in oxfordnet._STAGES:
        for _ in range(convolutions):
            x = _biased(w, x, channels, 3)
        x = _pool(x, 2, 2)
    return _flat(w, x, (4096, 4096))


def googlenet_(w: Weights, x: Any) -> Any:
    def conv(x: Any, channels: int, size: int, stride: int = 1) -> Any:
        return jax.nn.relu(_normalized(w, _conv(w, x, channels, size, stride)))

    x = _pool(conv(x, 64, 7, 2), 3, 2, "SAME")
    x = _pool(conv(conv(x, 64, 1), 192, 3), 3, 2, "SAME")
    for sizes in googlenet._MODULES:
        if sizes is None:
            x = _pool(x, 3, 2, "SAME")
        else:
            single, three, five, pooled = sizes
            threes, fives = conv(conv(x, three[0], 1), three[1], 3), conv(conv(x, five[0], 1), five[1], 5)
            pools = conv(_pool(x, 3, 1, "SAME"), pooled, 1)
            x = jnp.concatenate([conv(x, single, 1), threes, fives, pools], 3)
    return _dense(w, x.mean((1, 2)), CLASSES)


def inception_v3_(w: Weights, x: Any) -> Any:
    def run(x: Any, layer: Any) -> Any:
        if layer == "shrink":
            return _pool(x, 3, 2)
        if layer == "average":
            return _average(x)
        if isinstance(layer, list):
            return jnp.concatenate([run(x, each) for each in layer], 3)
        channels, height, width, stride, padding = layer
        x = _conv(w, x, channels, (height, width), stride, padding)
        return jax.nn.relu(_normalized(w, x))

    def row(x: Any, layers: Any) -> Any:
        for layer in layers:
            x = run(x, layer)
        return x

    x = row(x, inception_v3.STEM)
    for branches in inception_v3.MODULES:
        x = jnp.concatenate([row(x, branch) for branch in branches], 3)
    x = x.mean((1, 2))
    return _dense(w, jnp.where(jax.random.bernoulli(w.chance(), 0.8, x.shape), x / 0.8, 0), CLASSES)


def _resnet(depth: int) -> Callable[[Weights, Any], Any]:
    wider = 4 if depth == 50 else 1

    def network(w: Weights, x: Any) -> Any:
        def conv(x: Any, channels: int, size: int, stride: int = 1) -> Any:
            return _normalized(w, _conv(w, x, channels, size, stride))

        def block(x: Any, channels: int, stride: int) -> Any:
            same = stride == 1 and x.shape[3] == wider * channels
            shortcut = x if same else conv(x, wider * channels, 1, stride)
            if wider > 1:
                x = jax.nn.relu(conv(jax.nn.relu(conv(x, channels, 1)), channels, 3, stride))
                return jax.nn.relu(conv(x, wider * channels, 1) + shortcut)
            return jax.nn.relu(conv(jax.nn.relu(conv(x, channels, 3, stride)), channels, 3) + shortcut)

        x = _pool(jax.nn.relu(conv(x, 64, 7, 2)), 3, 2, "SAME")
        for stage, (channels, blocks) in enumerate(zip(resnet.CHANNELS, resnet.BLOCKS[depth], strict=True)):
            for i in range(blocks):
                x = block(x, channels, 2 if stage and not i else 1)
        return _dense(w, x.mean((1, 2)), CLASSES)

    return network


def _transposed(w: Weights, x: Any, channels: int) -> Any:
    kernel = w(5, 5, x.shape[3], channels, scale=0.02)
    return lax.conv_transpose(x, kernel, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def _generated(w: Weights, batch: int, size: int) -> Any:
    depth = size // 8 * dcgan.CHANNELS
    x = jax.random.normal(w.chance(), (batch, dcgan.NOISE)) @ w(dcgan.NOISE, 16 * depth, scale=0.02)
    x = jax.nn.relu(_normalized(w, x.reshape(-1, 4, 4, depth)))
    while depth > dcgan.CHANNELS:
        depth //= 2
        x = jax.nn.relu(_normalized(w, _transposed(w, x, depth)))
    return jnp.tanh(_transposed(w, x, 3) + w(3, value=0.0))


def _scores(w: Weights, x: Any) -> Any:
    channels = dcgan.CHANNELS
    x = jax.nn.leaky_relu(_conv(w, x, channels, 5, 2) + w(channels, value=0.0), 0.2)
    while x.shape[1] > 4:
        channels *= 2
        x = jax.nn.leaky_relu(_normalized(w, _conv(w, x, channels, 5, 2)), 0.2)
    return _dense(w, x.reshape(len(x), -1), 1)


def dcgan_loss(w: Weights, images: Any) -> Any:
    """The sum of both losses, each of which the other network's weights do not follow."""
    made = _generated(w, len(images), images.shape[1])
    judge = w.place
    of_real = _scores(w, images)
    w.place = judge
    of_made = _scores(w, lax.stop_gradient(made))
    fixed = Weights([lax.stop_gradient(value) for value in w.values], w.averages)
    fixed.place = judge
    losses = jax.nn.softplus(-of_real), jax.nn.softplus(of_made), jax.nn.softplus(-_scores(fixed, made))
    return sum(loss.mean() for loss in losses)


def _lstm(w: Weights, x: Any) -> Any:
    """A layer of LSTM cells over texts [batch, positions, width]."""
    width = x.shape[2]
    kernel, bias = w(2 * width, 4 * width, scale=0.05), w(4 * width, value=0.0)

    def cell(before: Any, x: Any) -> Any:
        memory, state = before
        parts = jnp.concatenate([x, state], 1) @ kernel + bias
        entering, new, forgetting, leaving = jnp.split(parts, 4, 1)
        memory = jax.nn.sigmoid(forgetting + 1) * memory + jax.nn.sigmoid(entering) * jnp.tanh(new)
        state = jax.nn.sigmoid(leaving) * jnp.tanh(memory)
        return (memory, state), state

    none = jnp.zeros((len(x), width))
    return lax.scan(cell, (none, none), x.swapaxes(0, 1))[1].swapaxes(0, 1)


def _language_model(layers: int, samples: int | None = None) -> Callable[[Weights, Any], Any]:
    words, width = lstm.SIZES["words"], lstm.SIZES["width"]

    def log_count(ids: Any) -> Any:
        """The logarithm of how often words are drawn in a step."""
        return jnp.log(samples * jnp.log((ids + 2.0) / (ids + 1.0)) / math.log(words + 1))

    def loss(w: Weights, text: Any) -> Any:
        x, labels = w(words, width, scale=0.1)[text[:, :-1]], text[:, 1:].reshape(-1)
        for _ in range(layers):
            x = _lstm(w, x)
        weights, biases = w(words, width, scale=0.05), w(words, value=0.0)
        states = x.reshape(-1, width)
        if samples is None:
            scores = states @ weights.T + biases
            right = jnp.take_along_axis(scores, labels[:, None], 1)[:, 0]
            return (jax.nn.logsumexp(scores, 1) - right).mean()
        drawn = (
            jnp.exp(jax.random.uniform(w.chance(), (samples,)) * math.log(words + 1)).astype(jnp.int32) - 1
        )
        drawn = jnp.clip(drawn, 0, words - 1)
        others = states @ weights[drawn].T + biases[drawn] - log_count(drawn)
        others = jnp.where(labels[:, None] == drawn, -1e30, others)
        right = (states * weights[labels]).sum(1) + biases[labels] - log_count(labels)
        return (jax.nn.logsumexp(jnp.concatenate([right[:, None], others], 1), 1) - right).mean()

    return loss


def gpt2_loss(w: Weights, text: Any) -> Any:
    width, heads = gpt2.SMALL["width"], gpt2.SMALL["heads"]

    def dense(x: Any, size: int) -> Any:
        return x @ w(x.shape[-1], size, scale=0.02) + w(size, value=0.0)

    def normalized(x: Any) -> Any:
        gain, bias = w(width, value=1.0), w(width, value=0.0)
        mean = x.mean(-1, keepdims=True)
        return (x - mean) * lax.rsqrt(((x - mean) ** 2).mean(-1, keepdims=True) + 1e-5) * gain + bias

    def attention(x: Any) -> Any:
        parts = jnp.split(dense(x, 3 * width), 3, 2)
        query, key, value = (part.reshape(*x.shape[:2], heads, -1) for part in parts)
        seen = jax.nn.dot_product_attention(query, key, value, is_causal=True)
        return dense(seen.reshape(x.shape), width)

    tokens, labels = text[:, :-1], text[:, 1:, None]
    embeddings = w(gpt2.SMALL["words"], width, scale=0.02)
    x = embeddings[tokens] + w(gpt2.SMALL["length"], width, scale=0.01)[: tokens.shape[1]]
    for _ in range(gpt2.SMALL["layers"]):
        x += attention(normalized(x))
        x += dense(jax.nn.gelu(dense(normalized(x), 4 * width), approximate=True), width)
    scores = normalized(x) @ embeddings.T
    return (jax.nn.logsumexp(scores, 2) - jnp.take_along_axis(scores, labels, 2)[..., 0]).mean()


def _classifier(network: Callable[[Weights, Any], Any]) -> Callable[[Weights, Any], Any]:
    def loss(w: Weights, batch: Any) -> Any:
        images, labels = batch
        scores = jax.nn.log_softmax(network(w, images))
        return -jnp.take_along_axis(scores, labels[:, None], 1).mean()

    return loss


MODELS = {
    "alexnet": _classifier(alexnet),
    "overfeat": _classifier(overfeat),
    "oxfordnet": _classifier(oxfordnet_),
    "googlenet": _classifier(googlenet_),
    "inception_v3": _classifier(inception_v3_),
    "resnet18": _classifier(_resnet(18)),
    "resnet50": _classifier(_resnet(50)),
    "dcgan": dcgan_loss,
    "lstm": _language_model(2),
    "lstm_sampled": _language_model(2, 512),
    "softmax": _language_model(0),
    "softmax_sampled": _language_model(0, 512),
    "gpt2": gpt2_loss,
}
