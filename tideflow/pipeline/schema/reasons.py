"""Why a schema does not accept statistics: the words of an anomaly, TFDV's because programs read them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

MULTIPLE = "Multiple errors"


class Reason(NamedTuple):
    """One reason of an anomaly.

    `type` is the name of a value of `AnomalyInfo.Type`.
    """

    type: str
    short: str
    long: str = ""


def digits(number: float) -> str:
    """A number with six significant digits."""
    return f"{number:g}"


def summary(reasons: Sequence[Reason]) -> tuple[str, str]:
    """The short and the long description of several reasons.

    Args:
      reasons: The reasons of one anomaly.
    """
    short, long = "", ""
    for reason in reasons:
        if not long:
            short, long = reason.short, reason.long
        elif reason.long:
            short, long = MULTIPLE, f"{long} {reason.long}"
    return short, long
