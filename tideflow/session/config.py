"""What a ConfigProto asks for, as far as one process answers it."""

from __future__ import annotations

import os
from typing import Any

import torch

from tideflow.runtime.devices import Placement, local_devices

_NO_OPTIMIZATION = -1  # OptimizerOptions.L0


def apply_config(config: Any, deterministic: bool | None) -> tuple[Placement, frozenset[str]]:
    """The placement rules and the rewrites switched off; threads and determinism are set for the process."""
    if deterministic is None:
        deterministic = os.environ.get("TF_DETERMINISTIC_OPS", "") in ("1", "true")
    if deterministic:
        torch.use_deterministic_algorithms(True, warn_only=True)
    if config is None:
        return Placement(local_devices()), frozenset()
    if config.intra_op_parallelism_threads > 0:
        torch.set_num_threads(config.intra_op_parallelism_threads)
    counts = config.device_count
    devices = local_devices(max(1, counts.get("CPU", 1)), counts.get("GPU") if "GPU" in counts else None)
    placement = Placement(devices, config.allow_soft_placement, config.log_device_placement)
    plain = config.graph_options.optimizer_options.opt_level == _NO_OPTIMIZATION
    return placement, _every_rule() if plain else frozenset()


def _every_rule() -> frozenset[str]:
    from tideflow.compile.rewrite import all_rules

    return frozenset([*all_rules(), "fold", "group_updates"])
