"""What a ConfigProto asks for, as far as one process answers it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Literal

from tideflow.compile import loop_products
from tideflow.compile.rewrite import all_rules
from tideflow.graph import errors
from tideflow.graph.errors import InvalidArgumentError
from tideflow.runtime.devices import (
    LOCAL_TASK,
    Choice,
    Device,
    Placement,
    device_type,
    keep_to_limits,
    local_devices,
)
from tideflow.runtime.gpu_math import be_deterministic
from tideflow.runtime.kernel_threads import limit_threads
from tideflow.runtime.settings import settings

_NO_OPTIMIZATION = -1  # OptimizerOptions.L0
_NO_COMPILING = -1  # OptimizerOptions.OFF
_PRODUCTS_OF_BYTES = frozenset(("bytes_for_products",))  # the rule without which there are none
_MEGABYTE = 2**20


def apply_config(
    config: Any, deterministic: bool | None, task: str = LOCAL_TASK
) -> tuple[Placement, frozenset[str]]:
    """How to place operations on which devices, and the disabled rewrites; threads and determinism are set
    for the process.
    """
    if deterministic is None:
        deterministic = os.environ.get("TF_DETERMINISTIC_OPS", "") in ("1", "true")
    if deterministic:
        be_deterministic()
    if config is None:
        return _placement(config, task), _disabled_rules()
    if config.intra_op_parallelism_threads > 0:
        limit_threads(config.intra_op_parallelism_threads)
    plain = config.graph_options.optimizer_options.opt_level == _NO_OPTIMIZATION
    disabled = every_rule() if plain else _disabled_rules()
    if config.graph_options.optimizer_options.global_jit_level == _NO_COMPILING:
        disabled |= {"hot"}
    if config.graph_options.rewrite_options.experimental_disable_folding_quantization_emulation:
        disabled |= _PRODUCTS_OF_BYTES
    return _placement(config, task), disabled | {"structure"} if _wants_tokens(config) else disabled


# --------------------------------------------------------------------------------------------------- devices


def _placement(config: Any, task: str) -> Placement:
    devices = devices_for(config, task)
    soft = settings.soft_placement or (config is not None and config.allow_soft_placement)
    log = settings.log_placement or (config is not None and config.log_device_placement)
    keep_to_limits(devices)
    return Placement(devices, soft, log)


def devices_for(config: Any, task: str = LOCAL_TASK) -> tuple[Device, ...]:
    """The devices of this process under a ConfigProto (or None), named as those of `task`."""
    return local_devices(choice_of(config), task)


def choice_of(config: Any) -> Choice:
    visible, parts = dict(settings.visible_devices), dict(settings.virtual_devices)
    if config is None:
        return Choice({}, visible, parts)
    options = config.gpu_options
    if options.visible_device_list:
        visible["GPU"] = _listed(options.visible_device_list, "GPU")
    used = visible.get("GPU", range(_count("GPU")))
    for index, split in zip(used, options.experimental.virtual_devices, strict=False):
        limits = [int(size * _MEGABYTE) or None for size in split.memory_limit_mb]
        parts["GPU", index] = limits or [None]
    return Choice(dict(config.device_count), visible, parts, options.per_process_gpu_memory_fraction)


def _count(kind: str) -> int:
    found = device_type(kind)
    return 0 if found is None else found.count()


def _listed(text: str, kind: str) -> list[int]:
    """The devices that a visible_device_list names: "1,0" makes the machine's second device the first."""
    there, chosen = _count(kind), []
    for entry in text.split(","):
        if not entry.strip().isdecimal():
            raise _bad_list(f"Could not parse entry in 'visible_device_list': '{entry}'.", text)
        if int(entry) >= there:
            what = f"listed an invalid {kind} id '{entry.strip()}' but visible device count is {there}."
            raise _bad_list(f"'visible_device_list' {what}", text)
        if int(entry) in chosen:
            raise _bad_list("visible_device_list contained a duplicate entry.", text)
        chosen.append(int(entry))
    return chosen


def _bad_list(what: str, text: str) -> InvalidArgumentError:
    return errors.invalid_argument(f"{what} visible_device_list = {text}")


def device_mapping(devices: Sequence[Device]) -> str:
    """Which hardware the names stand for: the first lines of `log_device_placement`."""
    known = [f"{device.name} -> {device.description}" for device in devices if device.description]
    return "\n".join(["Device mapping:", *known]) if known else "Device mapping: no known devices."


# -------------------------------------------------------------------------------------------------- rewrites


def _disabled_rules() -> frozenset[str]:
    """The rewrites that `tf.config.optimizer`, TIDEFLOW_COMPILE and TIDEFLOW_INT8 have disabled."""
    disabled = every_rule() if "*" in settings.rewrites_off else settings.rewrites_off
    if _compile_variable() == "off":
        disabled |= {"hot"}
    return disabled | _PRODUCTS_OF_BYTES if _variable("TIDEFLOW_INT8", "on") == "off" else disabled


def _compile_variable() -> str:
    """When hot steps are compiled, or recorded as CUDA graphs, in sessions that do not say so."""
    return _variable("TIDEFLOW_COMPILE", "now")


def _variable(name: str, most: str) -> str:
    """A variable of the environment that is `off`, `auto` or a word for more."""
    word = os.environ.get(name, "auto")
    if word not in ("off", "auto", most):
        raise ValueError(f"{name} is {word!r}; it may be 'off', 'auto' or {most!r}.")
    return word


def wants_early_compilation(config: Any) -> bool:
    """Whether the hot tier compiles steps after the first few of them, whatever time these took."""
    if config is not None and config.graph_options.optimizer_options.global_jit_level > 0:
        return True
    return _compile_variable() == "now"


DeviceKind = Literal["cuda", "cpu"]
HalfType = Literal["float16", "bfloat16"]

# The options that ask for mixed precision, as TensorFlow has named them over the years, later ones first:
# which kinds of devices compute in which type.
_MIXED_PRECISION: dict[str, tuple[tuple[DeviceKind, HalfType], ...]] = {
    "auto_mixed_precision_onednn_bfloat16": (("cuda", "bfloat16"), ("cpu", "bfloat16")),
    "auto_mixed_precision_mkl": (("cuda", "bfloat16"), ("cpu", "bfloat16")),
    "auto_mixed_precision_cpu": (("cpu", "float16"),),
    "auto_mixed_precision": (("cuda", "float16"),),
}
_OFF = 2  # RewriterConfig.OFF; 0 is the default


def half_by_device(config: Any) -> tuple[tuple[DeviceKind, HalfType], ...]:
    """In which 16-bit type devices compute what mixed precision allows, by kind of device. A session's own
    option takes precedence over that of `tf.config.optimizer.set_experimental_options`.
    """
    found: dict[DeviceKind, HalfType] = {}
    for name, halves in _MIXED_PRECISION.items():
        asked = 0 if config is None else getattr(config.graph_options.rewrite_options, name)
        if asked != _OFF and (asked or settings.optimizer_options.get(name)):
            found = {**dict(halves), **found}
    settings.has_plain_session |= not found
    return tuple(sorted(found.items()))


def _wants_tokens(config: Any) -> bool:
    """Whether every step runs on the token executor, not in compiled plans."""
    kind = config.experimental.executor_type
    if kind not in ("", "DEFAULT", "SINGLE_THREADED_EXECUTOR", "TOKENS"):
        raise errors.invalid_argument(f"No executor factory registered for the given executor type: {kind}")
    return bool(kind == "TOKENS")


def every_rule() -> frozenset[str]:
    """The names of all rewrites: without them, a plan has a kernel for each operation."""
    return frozenset(
        [
            *all_rules(),
            *loop_products.LAWS,
            "fold",
            "fuse_attention",
            "group_updates",
            "small_arithmetic",
            "hot",
        ]
    )
