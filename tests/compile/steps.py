"""Steps compiled by hand: the program before and after the rewrites, the plan, and what it computes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import tideflow as tf
from tideflow.compile import inductor, loop_products
from tideflow.compile.build import build_program
from tideflow.compile.compiler import compile_step
from tideflow.compile.ir import Program
from tideflow.compile.kernels import KernelArguments
from tideflow.compile.plan import LocalPlan
from tideflow.compile.request import StepRequest
from tideflow.compile.rewrite import all_rules
from tideflow.compile.stretches import Stretch
from tideflow.runtime.devices import ONE_CPU, Placement, local_devices
from tideflow.runtime.resources import ResourceManager
from tideflow.runtime.waiting import StepContext
from tideflow.session.feeds import feeder
from tideflow.session.fetches import fetched

EVERY_RULE = frozenset(
    [*all_rules(), *loop_products.LAWS, "fold", "fuse_attention", "group_updates", "small_arithmetic"]
)
PLAIN = tf.ConfigProto()
PLAIN.graph_options.optimizer_options.opt_level = -1  # L0: no rewrite


class Compiled:
    """A step of some fetches, on state of its own or that of another step."""

    def __init__(
        self,
        fetches: Any,
        feeds: dict | None = None,
        disabled: Any = (),
        state: ResourceManager | None = None,
    ):
        self.state = ResourceManager() if state is None else state
        self._values = [feeder(tensor)(value) for tensor, value in (feeds or {}).items()]
        shapes = tuple([tuple(value.shape) for value in self._values])
        request = request_of(fetches, tuple(feeds or ()), shapes, disabled)
        self.plan: LocalPlan = compile_step(request, self.state, Placement(local_devices(ONE_CPU)))

    def run(self) -> list[np.ndarray]:
        return fetched(self.plan.run(StepContext(), self._values))

    @property
    def types(self) -> list[str]:
        return types(self.plan.program)


def program(fetches: Any, feeds: dict | None = None) -> Program:
    """The pruned program, before any rewrite."""
    feeds = {} if feeds is None else feeds
    shapes = tuple([np.shape(value) for value in feeds.values()])
    return build_program(request_of(fetches, tuple(feeds), shapes))


def request_of(fetches: Any, feeds: tuple = (), shapes: tuple = (), disabled: Any = ()) -> StepRequest:
    """The request for a fetch, or a list of them."""
    items = fetches if isinstance(fetches, (list, tuple)) else [fetches]
    return StepRequest(
        tuple([item for item in items if isinstance(item, tf.Tensor)]),
        tuple([item for item in items if isinstance(item, tf.Operation)]),
        feeds,
        shapes,
        disabled_rules=frozenset(disabled),
    )


def as_kernels(stretch: Stretch, arguments: KernelArguments) -> Callable[..., Any]:
    """The function of a stretch that calls its kernels: what a compiled one is compared with, and a quick
    stand-in for it.
    """
    return inductor.on_kernels(stretch, arguments).step


def types(program: Program) -> list[str]:
    """The op types of a program, in order."""
    return [node.type for node in program.nodes]


def run(fetches: Any, feeds: dict | None = None, *, config: Any = None) -> Any:
    """Initializes every variable, then runs one step."""
    with tf.Session(config=config) as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches, feeds)


def normal(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)
