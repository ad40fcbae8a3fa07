"""What a ConfigProto asks for, as far as one process answers it."""

from __future__ import annotations

import os
from typing import Any

import torch

from tideflow.graph.errors import InvalidArgumentError
from tideflow.runtime.devices import Device, Placement, local_devices
from tideflow.runtime.settings import settings

_NO_OPTIMIZATION = -1  # OptimizerOptions.L0
_NO_COMPILING = -1  # OptimizerOptions.OFF


def apply_config(config: Any, deterministic: bool | None) -> tuple[Placement, frozenset[str]]:
    """The placement rules and the rewrites switched off; threads and determinism are set for the process."""
    if deterministic is None:
        deterministic = os.environ.get("TF_DETERMINISTIC_OPS", "") in ("1", "true")
    if deterministic:
        torch.use_deterministic_algorithms(True, warn_only=True)
    if config is None:
        placement = Placement(_visible(local_devices()), settings.soft_placement, settings.log_placement)
        return placement, _rules_off()
    if config.intra_op_parallelism_threads > 0:
        torch.set_num_threads(config.intra_op_parallelism_threads)
    counts = config.device_count
    devices = local_devices(max(1, counts.get("CPU", 1)), counts.get("GPU") if "GPU" in counts else None)
    soft = config.allow_soft_placement or settings.soft_placement
    log = config.log_device_placement or settings.log_placement
    placement = Placement(_visible(devices), soft, log)
    plain = config.graph_options.optimizer_options.opt_level == _NO_OPTIMIZATION
    disabled = _every_rule() if plain else _rules_off()
    if config.graph_options.optimizer_options.global_jit_level == _NO_COMPILING:
        disabled |= {"hot"}
    return placement, disabled | {"structure"} if _wants_tokens(config) else disabled


def _visible(devices: tuple[Device, ...]) -> tuple[Device, ...]:
    """The devices without the GPUs that `tf.config` keeps out of sight."""
    chosen = settings.visible_gpus
    return tuple(d for d in devices if d.device_type != "GPU" or chosen is None or d.index in chosen)


def _rules_off() -> frozenset[str]:
    """The rewrites that `tf.config.optimizer` has switched off."""
    return _every_rule() if "*" in settings.rewrites_off else settings.rewrites_off


def wants_early_compilation(config: Any) -> bool:
    """Whether loops are compiled after their first few steps, not only once they have proved hot."""
    return config is not None and config.graph_options.optimizer_options.global_jit_level > 0


def _wants_tokens(config: Any) -> bool:
    """Whether every step runs on the token executor, not in compiled plans."""
    kind = config.experimental.executor_type
    if kind not in ("", "DEFAULT", "SINGLE_THREADED_EXECUTOR", "TOKENS"):
        raise InvalidArgumentError(
            None, None, f"No executor factory registered for the given executor type: {kind}"
        )
    return kind == "TOKENS"


def _every_rule() -> frozenset[str]:
    from tideflow.compile.rewrite import all_rules

    return frozenset([*all_rules(), "fold", "group_updates", "hot"])
