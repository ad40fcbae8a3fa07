"""The models of `examples/models` in PyTorch, with the same layers and sizes."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from examples.models import dcgan, googlenet, gpt2, inception_v3, lstm, oxfordnet, resnet


class Flat(nn.Sequential):
    """Convolutions and dense layers in a row; the first dense layer finds its size from the image's."""

    def __init__(self, layers: list[nn.Module], size: int, hidden: tuple[int, ...]):
        with torch.no_grad():
            width = nn.Sequential(*layers)(torch.zeros(1, 3, size, size)).numel()
        dense: list[nn.Module] = [nn.Flatten()]
        for wanted in hidden:
            dense += [nn.Linear(width, wanted), nn.ReLU()]
            width = wanted
        super().__init__(*layers, *dense, nn.Linear(width, 1000))


def _conv(inputs: int, channels: int, size: int, stride: int = 1, padding: int | None = None) -> list:
    return [nn.Conv2d(inputs, channels, size, stride, size // 2 if padding is None else padding), nn.ReLU()]


def alexnet(size: int) -> nn.Module:
    layers = [*_conv(3, 64, 11, 4), nn.MaxPool2d(3, 2), *_conv(64, 192, 5), nn.MaxPool2d(3, 2)]
    layers += [*_conv(192, 384, 3), *_conv(384, 256, 3), *_conv(256, 256, 3), nn.MaxPool2d(3, 2)]
    return Flat(layers, size, (4096, 4096))


def overfeat(size: int) -> nn.Module:
    layers = [*_conv(3, 96, 11, 4, 0), nn.MaxPool2d(2), *_conv(96, 256, 5, 1, 0), nn.MaxPool2d(2)]
    layers += [*_conv(256, 512, 3), *_conv(512, 1024, 3), *_conv(1024, 1024, 3), nn.MaxPool2d(2)]
    return Flat(layers, size, (3072, 4096))


def oxfordnet_(size: int) -> nn.Module:
    layers: list[nn.Module] = []
    before = 3
    for channels, convolutions in oxfordnet._STAGES:
        for _ in range(convolutions):
            layers += _conv(before, channels, 3)
            before = channels
        layers.append(nn.MaxPool2d(2))
    return Flat(layers, size, (4096, 4096))


class Normalized(nn.Sequential):
    """A convolution without bias, then batch normalization."""

    def __init__(self, inputs: int, channels: int, size: int, stride: int = 1):
        super().__init__(
            nn.Conv2d(inputs, channels, size, stride, size // 2, bias=False),
            nn.BatchNorm2d(channels, eps=1e-3, momentum=0.01),
        )


class Residual(nn.Module):
    """A block of ResNet-50, whose result is four times wider than its inside, or of ResNet-18."""

    def __init__(self, inputs: int, channels: int, stride: int, wider: int):
        super().__init__()
        if wider > 1:
            sizes = [(inputs, channels, 1, 1), (channels, channels, 3, stride)]
            sizes.append((channels, wider * channels, 1, 1))
        else:
            sizes = [(inputs, channels, 3, stride), (channels, channels, 3, 1)]
        layers: list[nn.Module] = [layer for size in sizes for layer in (Normalized(*size), nn.ReLU())]
        self.inside = nn.Sequential(*layers[:-1])
        is_same = stride == 1 and inputs == wider * channels
        self.shortcut = nn.Identity() if is_same else Normalized(inputs, wider * channels, 1, stride)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return functional.relu(self.inside(x) + self.shortcut(x))


def _resnet(depth: int) -> nn.Module:
    layers: list[nn.Module] = [Normalized(3, 64, 7, 2), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    before, wider = 64, 4 if depth == 50 else 1
    for stage, (channels, blocks) in enumerate(zip(resnet.CHANNELS, resnet.BLOCKS[depth], strict=True)):
        for i in range(blocks):
            layers.append(Residual(before, channels, 2 if stage and not i else 1, wider))
            before = wider * channels
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(before, 1000))


class Inception(nn.Module):
    def __init__(self, inputs: int, single: int, three: tuple, five: tuple, pooled: int):
        super().__init__()

        def rectified(before: int, channels: int, size: int) -> nn.Module:
            return nn.Sequential(Normalized(before, channels, size), nn.ReLU())

        self.single = rectified(inputs, single, 1)
        self.three = nn.Sequential(rectified(inputs, three[0], 1), rectified(*three, 3))
        self.five = nn.Sequential(rectified(inputs, five[0], 1), rectified(*five, 5))
        self.pooled = nn.Sequential(nn.MaxPool2d(3, 1, 1), rectified(inputs, pooled, 1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cat([self.single(x), self.three(x), self.five(x), self.pooled(x)], 1)


def googlenet_(size: int) -> nn.Module:
    layers: list[nn.Module] = [Normalized(3, 64, 7, 2), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    layers += [Normalized(64, 64, 1), nn.ReLU(), Normalized(64, 192, 3), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    before = 192
    for sizes in googlenet._MODULES:
        if sizes is None:
            layers.append(nn.MaxPool2d(3, 2, 1))
        else:
            layers.append(Inception(before, *sizes))
            before = sizes[0] + sizes[1][1] + sizes[2][1] + sizes[3]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(before, 1000))


class Factored(nn.Module):
    """A row of layers of Inception-v3, as its table has them."""

    def __init__(self, before: int, layers: tuple):
        super().__init__()
        self.layers, self.forks = nn.ModuleList(), nn.ModuleList()
        for layer in layers:
            if isinstance(layer, list):
                rows = [Factored(before, (each,)) for each in layer]
                self.forks.extend(rows)
                before = sum(row.width for row in rows)
            elif layer == "shrink":
                self.layers.append(nn.MaxPool2d(3, 2))
            elif layer == "average":
                self.layers.append(nn.AvgPool2d(3, 1, 1, count_include_pad=False))
            else:
                channels, height, width, stride, padding = layer
                margin = (height // 2, width // 2) if padding == "same" else 0
                self.layers += [
                    nn.Conv2d(before, channels, (height, width), stride, margin, bias=False),
                    nn.BatchNorm2d(channels, eps=1e-3, momentum=0.01),
                    nn.ReLU(),
                ]
                before = channels
        self.width = before

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = layer(x)
        return torch.cat([fork(x) for fork in self.forks], 1) if self.forks else x


class Branches(nn.Module):
    def __init__(self, before: int, branches: tuple):
        super().__init__()
        self.rows = nn.ModuleList(Factored(before, layers) for layers in branches)
        self.width = sum(row.width for row in self.rows)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cat([row(x) for row in self.rows], 1)


def inception_v3_(size: int) -> nn.Module:
    layers: list[nn.Module] = [Factored(3, inception_v3.STEM)]
    for branches in inception_v3.MODULES:
        layers.append(Branches(layers[-1].width, branches))
    width = layers[-1].width
    return nn.Sequential(
        *layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(0.2), nn.Linear(width, 1000)
    )


class DCGAN(nn.Module):
    """Both networks; `forward` gives the sum of their losses, each of which the other's weights do not
    follow.
    """

    def __init__(self, size: int):
        super().__init__()
        depth = size // 8 * dcgan.CHANNELS
        maker: list[nn.Module] = [
            nn.Linear(dcgan.NOISE, 16 * depth, bias=False),
            nn.Unflatten(1, (depth, 4, 4)),
        ]
        maker += [nn.BatchNorm2d(depth), nn.ReLU()]
        while depth > dcgan.CHANNELS:
            maker += [_transposed(depth, depth // 2, bias=False), nn.BatchNorm2d(depth // 2), nn.ReLU()]
            depth //= 2
        self.generator = nn.Sequential(*maker, _transposed(depth, 3, bias=True), nn.Tanh())
        judge: list[nn.Module] = [nn.Conv2d(3, depth, 5, 2, 2), nn.LeakyReLU(0.2)]
        side = size // 2
        while side > 4:
            judge += [nn.Conv2d(depth, 2 * depth, 5, 2, 2, bias=False), nn.BatchNorm2d(2 * depth)]
            judge.append(nn.LeakyReLU(0.2))
            depth, side = 2 * depth, side // 2
        self.discriminator = nn.Sequential(*judge, nn.Flatten(), nn.Linear(16 * depth, 1))

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        made = self.generator(torch.randn(len(images), dcgan.NOISE, device=images.device))
        of_real, of_made = self.discriminator(images), self.discriminator(made.detach())
        fixed = {name: weight.detach() for name, weight in self.discriminator.named_parameters()}
        judged = torch.func.functional_call(self.discriminator, fixed, made)
        losses = (functional.softplus(-of_real), functional.softplus(of_made), functional.softplus(-judged))
        return torch.stack([loss.mean() for loss in losses]).sum()


def _transposed(inputs: int, channels: int, bias: bool) -> nn.Module:
    return nn.ConvTranspose2d(inputs, channels, 5, 2, 2, output_padding=1, bias=bias)


class LSTM(nn.Module):
    """The language model; `forward` gives the loss of a text, by the full or the sampled softmax."""

    def __init__(self, words: int, width: int, layers: int, samples: int | None = None):
        super().__init__()
        self.words, self.samples = words, samples
        self.embeddings, self.weights = nn.Embedding(words, width), nn.Embedding(words, width)
        for table in (self.embeddings, self.weights):
            nn.init.uniform_(table.weight, -0.05, 0.05)
        self.biases = nn.Parameter(torch.zeros(words))
        self.lstm = nn.LSTM(width, width, layers, batch_first=True) if layers else None

    def forward(self, text: torch.Tensor) -> torch.Tensor:
        x, labels = self.embeddings(text[:, :-1]), text[:, 1:].reshape(-1)
        states = (x if self.lstm is None else self.lstm(x)[0]).reshape(len(labels), -1)
        if self.samples is None:
            return functional.cross_entropy(states @ self.weights.weight.t() + self.biases, labels)
        # Words are drawn by Zipf's law, as TensorFlow does; those that are the right one do not count.
        drawn = torch.rand(self.samples, device=text.device).mul(np.log(self.words + 1)).exp().long() - 1
        drawn = drawn.clamp(0, self.words - 1)
        others = states @ self.weights(drawn).t() + self.biases[drawn] - self._log_count(drawn)
        others = others.masked_fill(labels[:, None] == drawn, -1e30)
        right = (states * self.weights(labels)).sum(1) + self.biases[labels] - self._log_count(labels)
        return (torch.logsumexp(torch.cat([right[:, None], others], 1), 1) - right).mean()

    def _log_count(self, words: torch.Tensor) -> torch.Tensor:
        """The logarithm of how often words are drawn in a step."""
        return ((words + 2.0) / (words + 1.0)).log().mul(self.samples / np.log(self.words + 1)).log()


class Block(nn.Module):
    """A transformer block. Attention is PyTorch's own fused function, as its users write it."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.before_attention, self.before_dense = nn.LayerNorm(width), nn.LayerNorm(width)
        self.project, self.combine = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.dense = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(approximate="tanh"), nn.Linear(4 * width, width)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, positions, width = x.shape
        parts = self.project(self.before_attention(x)).split(width, 2)
        query, key, value = (part.view(batch, positions, self.heads, -1).transpose(1, 2) for part in parts)
        seen = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + self.combine(seen.transpose(1, 2).reshape(batch, positions, width))
        return x + self.dense(self.before_dense(x))


class GPT2(nn.Module):
    def __init__(self, words: int, length: int, width: int, heads: int, layers: int):
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(length, width)
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(layers)), nn.LayerNorm(width))

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        places = torch.arange(tokens.shape[1], device=tokens.device)
        return self.blocks(self.words(tokens) + self.places(places)) @ self.words.weight.t()


def gpt2_(size: int) -> nn.Module:
    return GPT2(**gpt2.SMALL)


MODELS = {
    "alexnet": alexnet,
    "overfeat": overfeat,
    "oxfordnet": oxfordnet_,
    "googlenet": googlenet_,
    "inception_v3": inception_v3_,
    "resnet18": lambda size: _resnet(18),
    "resnet50": lambda size: _resnet(50),
    "dcgan": DCGAN,
    "lstm": lambda size: LSTM(**lstm.SIZES),
    "lstm_sampled": lambda size: LSTM(**lstm.SIZES, samples=512),
    "softmax": lambda size: LSTM(**{**lstm.SIZES, "layers": 0}),
    "softmax_sampled": lambda size: LSTM(**{**lstm.SIZES, "layers": 0}, samples=512),
    "gpt2": gpt2_,
}
