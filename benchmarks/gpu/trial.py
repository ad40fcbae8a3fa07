"""One model, trained by one library in a process of its own: `python -m benchmarks.gpu.trial MODEL LIBRARY`.

Prints a line of JSON: seconds a step, seconds of the first step, seconds until the step was at full speed,
and the most memory that tensors took.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

BATCHES = {"alexnet": 128, "overfeat": 128, "oxfordnet": 64, "googlenet": 128, "resnet": 64, "gpt2": 4}
POSITIONS = 512  # of a text for GPT-2
STEPS = 30
ROUNDS = 5
LIBRARIES = ("tideflow", "eager", "compiled")


def main() -> None:
    model, library = sys.argv[1:]
    began = time.perf_counter()
    step, ready = (_tideflow_step if library == "tideflow" else _torch_step)(model, library == "compiled")
    first = _seconds(step, 1)
    ready()
    at_full_speed = time.perf_counter() - began
    rounds = [_seconds(step, STEPS) / STEPS for _ in range(ROUNDS)]
    facts = {
        "seconds": float(np.median(rounds)),
        "first": first,
        "ready": at_full_speed,
        "memory": torch.cuda.max_memory_allocated() if torch.cuda.is_available() else 0,
        "loss": float(step()),
    }
    print(json.dumps(facts), flush=True)


def _seconds(step: Callable[[], Any], count: int) -> float:
    began = time.perf_counter()
    for _ in range(count):
        float(step())  # waits for the device
    return time.perf_counter() - began


def _tideflow_step(model: str, is_compiled: bool) -> tuple[Callable[[], Any], Callable[[], None]]:
    """A step as a user gets it after a while: compiled and recorded."""
    import tideflow as tf
    from examples.models import __main__ as models
    from tideflow.compile import hot

    tf.set_random_seed(0)
    network = models.importlib.import_module(f"examples.models.{model}")
    if model == "gpt2":
        loss = models.loss_of_text(network, BATCHES[model], POSITIONS, network.SMALL["words"], {})
        update = tf.train.AdamOptimizer(1e-4).minimize(loss)
    else:
        loss = models.loss_of_images(network, BATCHES[model], None, 1000, {})
        with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
            update = tf.train.GradientDescentOptimizer(0.001).minimize(loss)
    options = tf.OptimizerOptions(global_jit_level=tf.OptimizerOptions.ON_1)
    session = tf.Session(config=tf.ConfigProto(graph_options=tf.GraphOptions(optimizer_options=options)))
    session.run(tf.global_variables_initializer())
    step = session.make_callable([loss, update])

    def ready() -> None:
        for _ in range(20):
            step()
        hot.wait_until_compiled(600)
        for _ in range(20):
            step()

    return lambda: step()[0], ready


def _torch_step(model: str, is_compiled: bool) -> tuple[Callable[[], Any], Callable[[], None]]:
    """A step as PyTorch's guides advise: TF32, channels last, fused optimizers."""
    from benchmarks.gpu import torch_models
    from examples.models import gpt2

    torch.manual_seed(0)
    torch.set_float32_matmul_precision("high")
    torch.backends.cudnn.allow_tf32 = torch.backends.cudnn.benchmark = True
    device = "cuda" if torch.cuda.is_available() else "cpu"
    batch = BATCHES[model]
    chance = np.random.RandomState(0)
    if model == "gpt2":
        text = torch.tensor(chance.randint(0, gpt2.SMALL["words"], [batch, POSITIONS + 1]), device=device)
        inputs, labels = text[:, :-1].contiguous(), text[:, 1:].reshape(-1)
        network = torch_models.MODELS[model](0).to(device)
        optimizer: Any = torch.optim.Adam(network.parameters(), 1e-4, fused=device == "cuda")
    else:
        from examples.models import __main__ as models

        size = models.importlib.import_module(f"examples.models.{model}").IMAGE_SIZE
        images = torch.tensor(chance.randn(batch, 3, size, size).astype(np.float32), device=device)
        inputs = images.to(memory_format=torch.channels_last)
        labels = torch.tensor(chance.randint(0, 1000, batch), device=device)
        network = torch_models.MODELS[model](size).to(device, memory_format=torch.channels_last)
        optimizer = torch.optim.SGD(network.parameters(), 0.001, foreach=True)

    def loss_of(inputs: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        scores = network(inputs)
        return torch.nn.functional.cross_entropy(scores.reshape(-1, scores.shape[-1]), labels)

    loss_function = torch.compile(loss_of) if is_compiled else loss_of

    def step() -> torch.Tensor:
        optimizer.zero_grad(set_to_none=True)
        loss = loss_function(inputs, labels)
        loss.backward()
        optimizer.step()
        return loss.detach()

    def ready() -> None:
        for _ in range(20):
            step()

    return step, ready


if __name__ == "__main__":
    main()
