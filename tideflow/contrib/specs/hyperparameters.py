"""Random numbers, for the parameters of specs."""

from __future__ import annotations

import math
import random

from tideflow.export import export


@export("contrib.specs.Uf")
def Uf(lo: float = 0.0, hi: float = 1.0) -> float:
    """Draws a number, each as probable.

    Args:
      lo: The least.
      hi: The largest.

    Returns:
      The number.
    """
    return random.uniform(lo, hi)


@export("contrib.specs.Ui")
def Ui(lo: int, hi: int) -> int:
    """Draws an integer, each as probable.

    Args:
      lo: The least.
      hi: The largest.

    Returns:
      The integer.
    """
    return random.randint(lo, hi)


@export("contrib.specs.Lf")
def Lf(lo: float, hi: float) -> float:
    """Draws a number whose logarithm may be any, each as probable.

    Args:
      lo: The least.
      hi: The largest.

    Returns:
      The number.
    """
    return math.exp(random.uniform(math.log(lo), math.log(hi)))


@export("contrib.specs.Li")
def Li(lo: int, hi: int) -> int:
    """Draws an integer whose logarithm may be any, each about as probable.

    Args:
      lo: The least.
      hi: The largest.

    Returns:
      The integer.
    """
    return math.floor(Lf(lo, hi + 1 - 1e-5))


@export("contrib.specs.Nt")
def Nt(mu: float, sigma: float, limit: float = 3.0) -> float:
    """Draws a number from a normal distribution, cut off.

    Args:
      mu: The mean.
      sigma: The standard deviation.
      limit: After how many standard deviations it is cut off.

    Returns:
      The number.
    """
    return min(max(random.gauss(mu, sigma), mu - limit * sigma), mu + limit * sigma)


NAMES = {**{name: getattr(math, name) for name in dir(math) if not name.startswith("_")}, "math": math}
NAMES.update(random=random, Uf=Uf, Ui=Ui, Lf=Lf, Li=Li, Nt=Nt)
