"""What `tf.config` has set for this process: sessions start from here and add their own ConfigProto."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass
class Settings:
    """The process's choices, each as it is before anybody chooses."""

    soft_placement: bool = False
    log_placement: bool = False
    visible_devices: dict[str, list[int]] = field(default_factory=dict)  # by type; all where none is named
    virtual_devices: dict[tuple[str, int], list[int | None]] = field(
        default_factory=dict
    )  # memory of each part
    rewrites_off: frozenset[str] = frozenset()
    intra_op_threads: int = 0
    inter_op_threads: int = 0
    jit: bool = False
    device_policy: str = "silent"
    synchronous: bool = True
    optimizer_options: dict[str, Any] = field(default_factory=dict)


settings = Settings()
