"""The models of `examples/models` in PyTorch, with the same layers and sizes."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

from examples.models import googlenet, gpt2, oxfordnet, resnet


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


class Bottleneck(nn.Module):
    def __init__(self, inputs: int, channels: int, stride: int):
        super().__init__()
        self.first, self.second = Normalized(inputs, channels, 1), Normalized(channels, channels, 3, stride)
        self.third = Normalized(channels, 4 * channels, 1)
        is_same = stride == 1 and inputs == 4 * channels
        self.shortcut = nn.Identity() if is_same else Normalized(inputs, 4 * channels, 1, stride)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = functional.relu(self.second(functional.relu(self.first(x))))
        return functional.relu(self.third(y) + self.shortcut(x))


def resnet_(size: int) -> nn.Module:
    layers: list[nn.Module] = [Normalized(3, 64, 7, 2), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    before = 64
    for stage, (channels, blocks) in enumerate(resnet._STAGES):
        for i in range(blocks):
            layers.append(Bottleneck(before, channels, 2 if stage and not i else 1))
            before = 4 * channels
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
    "resnet": resnet_,
    "gpt2": gpt2_,
}
