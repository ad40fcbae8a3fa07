"""One model, trained by one library in a process of its own: `python -m benchmarks.gpu.trial MODEL LIBRARY`.

Prints a line of JSON: seconds a step, seconds of the first step, seconds until the step was at full speed,
the most memory that tensors took, and the loss at the end.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from examples.models import __main__ as models
from examples.models import gpt2, lstm

MODELS = {
    **models.MODELS,
    # The language model without its LSTM: what the sampled softmax saves shows best there.
    "softmax": ("lstm", {"layers": 0}),
    "softmax_sampled": ("lstm", {"layers": 0, "samples": 512}),
}
BATCHES = {
    "alexnet": 128,
    "overfeat": 128,
    "oxfordnet": 64,
    "googlenet": 128,
    "inception_v3": 64,
    "resnet18": 128,
    "resnet50": 64,
    "dcgan": 128,
    "lstm": 128,
    "lstm_sampled": 128,
    "softmax": 128,
    "softmax_sampled": 128,
    "gpt2": 4,
}
POSITIONS = {"gpt2": 512, "lstm": 50, "lstm_sampled": 50, "softmax": 50, "softmax_sampled": 50}
ADAM = {"gpt2": 1e-4, "dcgan": 2e-4}  # models that train with Adam, and at which rate
STEPS = 30
ROUNDS = 5
LIBRARIES = ("tideflow", "tideflow_half", "eager", "compiled", "compiled_half", "jax")
Step = Callable[[], Any]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu.trial", description=__doc__)
    parser.add_argument("model", choices=BATCHES)
    parser.add_argument("library", choices=LIBRARIES)
    parser.add_argument("--batch", type=int, help="images or texts a step")
    parser.add_argument("--steps", type=int, default=STEPS, help="of a round (%(default)s)")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="(%(default)s)")
    parser.add_argument("--warmup", type=int, default=20, help="steps before the first round (%(default)s)")
    parser.add_argument("--wait", action="store_true", help="say `ready` and read a line before the rounds")
    options = parser.parse_args()
    kind, _, precision = options.library.partition("_")
    if kind == "jax" and importlib.util.find_spec("jax") is None:
        raise SystemExit("JAX is not installed")
    make = {"tideflow": _tideflow_step, "eager": _torch_step, "compiled": _torch_step, "jax": _jax_step}[kind]
    began = time.perf_counter()
    batch = options.batch or BATCHES[options.model]
    step, settle, memory = make(options.model, batch, precision == "half", kind == "compiled")
    first = _seconds(step, 1)
    _seconds(step, options.warmup)
    settle()
    at_full_speed = time.perf_counter() - began
    if options.wait:
        print("ready", flush=True)
        sys.stdin.readline()
    rounds = [_seconds(step, options.steps) / options.steps for _ in range(options.rounds)]
    facts = {
        "batch": batch,
        "seconds": float(np.median(rounds)),
        "first": first,
        "ready": at_full_speed,
        "memory": memory(),
        "loss": float(step()),
    }
    print(json.dumps(facts), flush=True)


def _seconds(step: Step, count: int) -> float:
    began = time.perf_counter()
    for _ in range(count):
        float(step())  # waits for the device
    return time.perf_counter() - began


def _cuda_memory() -> int:
    return torch.cuda.max_memory_allocated() if torch.cuda.is_available() else 0


def _words(model: str) -> int:
    """The number of words that a language model knows."""
    return int(gpt2.SMALL["words"] if model == "gpt2" else lstm.SIZES["words"])


def _text(model: str, batch: int) -> np.ndarray:
    return np.random.RandomState(0).randint(0, _words(model), [batch, POSITIONS[model] + 1])


def _images(model: str, batch: int) -> tuple[np.ndarray, np.ndarray]:
    """Images with their channels last, and labels."""
    network = importlib.import_module(f"examples.models.{MODELS[model][0]}")
    size, chance = network.IMAGE_SIZE, np.random.RandomState(0)
    return chance.randn(batch, size, size, 3).astype(np.float32), chance.randint(0, 1000, batch)


def _tideflow_step(model: str, batch: int, is_half: bool, is_compiled: bool) -> tuple[Step, Step, Step]:
    """A step as a user gets it after a while: compiled and recorded."""
    import tideflow as tf
    from tideflow.compile import hot

    tf.set_random_seed(0)
    module, sizes = MODELS[model]
    optimizer: Any = tf.train.GradientDescentOptimizer(0.001)
    if model == "gpt2":
        optimizer = tf.train.AdamOptimizer(ADAM[model])
    if is_half:
        optimizer = tf.train.experimental.enable_mixed_precision_graph_rewrite(optimizer)
    classes = _words(model) if model in POSITIONS else 1000
    loss, update = models.training_step(module, batch, POSITIONS.get(model), classes, optimizer, **sizes)
    options = tf.OptimizerOptions(global_jit_level=tf.OptimizerOptions.ON_1)
    session = tf.Session(config=tf.ConfigProto(graph_options=tf.GraphOptions(optimizer_options=options)))
    session.run(tf.global_variables_initializer())
    step = session.make_callable([loss, update])

    def settle() -> None:
        hot.wait_until_compiled(600)
        for _ in range(10):  # recorded, or run both ways, before the rounds
            step()

    return lambda: step()[0], settle, _cuda_memory


def _torch_step(model: str, batch: int, is_half: bool, is_compiled: bool) -> tuple[Step, Step, Step]:
    """A step as PyTorch's guides advise: TF32, channels last, fused optimizers; in half precision, autocast
    and a gradient scaler.
    """
    from benchmarks.gpu import torch_models

    torch.manual_seed(0)
    torch.set_float32_matmul_precision("high")
    torch.backends.cudnn.allow_tf32 = torch.backends.cudnn.benchmark = True
    device = "cuda" if torch.cuda.is_available() else "cpu"
    if model in POSITIONS:
        network = torch_models.MODELS[model](0).to(device)
        text = torch.tensor(_text(model, batch), device=device)
        inputs, labels = text, text[:, 1:].reshape(-1)
    else:
        images, numbers = _images(model, batch)
        network = torch_models.MODELS[model](images.shape[1]).to(device, memory_format=torch.channels_last)
        inputs = torch.tensor(images.transpose(0, 3, 1, 2).copy(), device=device)
        inputs = inputs.to(memory_format=torch.channels_last)
        labels = torch.tensor(numbers, device=device)
    is_fused, first_decay = device == "cuda", 0.5 if model == "dcgan" else 0.9
    optimizer: Any = torch.optim.SGD(network.parameters(), 0.001, foreach=True)
    if model in ADAM:
        decays = first_decay, 0.999
        optimizer = torch.optim.Adam(network.parameters(), ADAM[model], decays, fused=is_fused)

    def loss_of(inputs: torch.Tensor) -> torch.Tensor:
        with torch.autocast(device, torch.float16 if device == "cuda" else torch.bfloat16, enabled=is_half):
            if model == "dcgan" or (model in POSITIONS and model != "gpt2"):
                return network(inputs)
            scores = network(inputs[:, :-1] if model == "gpt2" else inputs)
            return torch.nn.functional.cross_entropy(scores.reshape(-1, scores.shape[-1]), labels)

    loss_function = torch.compile(loss_of) if is_compiled else loss_of
    scaler = torch.amp.GradScaler(device, enabled=is_half and device == "cuda")

    def step() -> torch.Tensor:
        optimizer.zero_grad(set_to_none=True)
        loss = loss_function(inputs)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        return loss.detach()

    return step, lambda: None, _cuda_memory


def _jax_step(model: str, batch: int, is_half: bool, is_compiled: bool) -> tuple[Step, Step, Step]:
    """A step in one function that XLA compiles whole."""
    import jax
    import jax.numpy as jnp

    from benchmarks.gpu.jax_models import MODELS, Weights

    data = _text(model, batch) if model in POSITIONS else _images(model, batch)
    data = jax.device_put(data[0] if model == "dcgan" else data)
    new = Weights(key=jax.random.key(0))
    jax.eval_shape(lambda data: MODELS[model](new, data), data)
    rate, first_decay = ADAM.get(model, 0.001), 0.5 if model == "dcgan" else 0.9
    moments = [[np.zeros_like(value)] * 2 for value in new.values] if model in ADAM else []
    state = jax.device_put((new.values, new.averages, moments, 0))

    def adam(value: Any, grad: Any, moments: Any, count: Any) -> tuple[Any, Any]:
        mean = first_decay * moments[0] + (1 - first_decay) * grad
        square = 0.999 * moments[1] + 0.001 * grad * grad
        size = rate * jnp.sqrt(1 - 0.999**count) / (1 - first_decay**count)
        return value - size * mean / (jnp.sqrt(square) + 1e-8), [mean, square]

    def train(state: Any) -> tuple[Any, Any]:
        values, averages, moments, count = state

        def loss_of(values: Any) -> tuple[Any, Any]:
            weights = Weights(values, averages, jax.random.fold_in(jax.random.key(0), count))
            return MODELS[model](weights, data), weights.averages

        (loss, averages), grads = jax.value_and_grad(loss_of, has_aux=True)(values)
        if model not in ADAM:
            values = [value - rate * grad for value, grad in zip(values, grads, strict=True)]
        else:
            pairs = zip(values, grads, moments, strict=True)
            updated = [adam(*each, count + 1) for each in pairs]
            values, moments = [value for value, _ in updated], [moment for _, moment in updated]
        return loss, (values, averages, moments, count + 1)

    compiled = jax.jit(train, donate_argnums=0)

    def step() -> Any:
        nonlocal state
        loss, state = compiled(state)
        return loss

    def memory() -> int:
        return int((jax.devices()[0].memory_stats() or {}).get("peak_bytes_in_use", 0))

    return step, lambda: None, memory


if __name__ == "__main__":
    main()
