"""The settings that `tf.config` makes for this process. A session's ConfigProto adds to them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass
class Settings:
    """The settings of the process, with their defaults."""

    soft_placement: bool = False
    log_placement: bool = False
    visible_devices: dict[str, list[int]] = field(default_factory=dict)  # by type; without an entry, all
    # The memory of each virtual device of a device, by type and index.
    virtual_devices: dict[tuple[str, int], list[int | None]] = field(default_factory=dict)
    rewrites_off: frozenset[str] = frozenset()
    intra_op_threads: int = 0
    inter_op_threads: int = 0
    jit: bool = False
    device_policy: str = "silent"
    synchronous: bool = True
    optimizer_options: dict[str, Any] = field(default_factory=dict)
    has_plain_session: bool = False  # whether a session was made that does not use mixed precision


settings = Settings()
