"""What `tf.config` has set for this process: sessions start from here, and their own ConfigProto
adds to it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass
class Settings:
    """The process's choices, each as it is before anybody chooses."""

    soft_placement: bool = False
    log_placement: bool = False
    visible_gpus: frozenset[int] | None = None  # None: all of them
    rewrites_off: frozenset[str] = frozenset()
    intra_op_threads: int = 0
    inter_op_threads: int = 0
    jit: bool = False
    optimizer_options: dict[str, Any] = field(default_factory=dict)


settings = Settings()
