"""tf.contrib.learn.datasets: small sets of data that examples train with. Nothing is downloaded."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from tideflow.contrib.learn.digits import Datasets, load_mnist
from tideflow.contrib.learn.tables import Dataset, load_csv_with_header, load_csv_without_header
from tideflow.export import export
from tideflow.platform.deprecation import deprecated

_SCIKIT = (None, "Use scikits.learn.datasets.")
_CONSIDER_SCIKIT = "Consider using synthetic datasets from scikits.learn."


def _table_beside(name: str) -> str:
    """The path of a table that comes with this library."""
    return os.path.join(os.path.dirname(__file__), "data", f"{name}.txt")


@export("contrib.learn.datasets.load_iris", "contrib.learn.datasets.base.load_iris")
@deprecated(*_SCIKIT)
def load_iris(data_path: str | None = None) -> Dataset:
    """Loads the measures of 150 irises of three species.

    Args:
      data_path: A table whose first line says how many rows and features it has; the one that comes with
        this library if None.

    Returns:
      The four measures as `data`, and the species as `target`.
    """
    path = data_path or _table_beside("iris")
    return load_csv_with_header(path, target_dtype=np.int64, features_dtype=np.float64)


@export("contrib.learn.datasets.load_boston", "contrib.learn.datasets.base.load_boston")
@deprecated(*_SCIKIT)
def load_boston(data_path: str | None = None) -> Dataset:
    """Loads the prices of houses in 506 districts of Boston.

    Args:
      data_path: A table whose first line says how many rows and features it has; the one that comes with
        this library if None.

    Returns:
      The thirteen features as `data`, and the prices as `target`.
    """
    path = data_path or _table_beside("boston")
    return load_csv_with_header(path, target_dtype=np.float64, features_dtype=np.float64)


@export("contrib.learn.datasets.text_datasets.load_dbpedia")
@deprecated(None, "See contrib/learn/README.md")
def load_dbpedia(size: str = "small", test_with_fake_data: bool = False) -> Datasets:
    """Loads articles and their kinds, from files in the folder `dbpedia_data`.

    Args:
      size: `"small"` for a thousandth of the articles.
      test_with_fake_data: Whether a few made-up articles take their place.

    Returns:
      The articles to train with, and those to test with.

    Raises:
      FileNotFoundError: If the files are not there.
    """
    if test_with_fake_data:
        return _made_up_articles()
    folder = os.path.join(os.environ.get("TF_EXP_BASE_DIR", ""), "dbpedia_data", "dbpedia_csv")
    tables = []
    for name in ("train", "test"):
        path = os.path.join(folder, f"{name}.csv")
        if not os.path.exists(path):
            raise FileNotFoundError(
                f"{path} is not there, and is not downloaded: put train.csv and test.csv of "
                f"dbpedia_csv.tar.gz into {os.path.abspath(folder)}."
            )
        table = load_csv_without_header(path, np.int32, np.str_, target_column=0)
        every = 1000 if size == "small" else 1
        tables.append(Dataset(table.data[::every], table.target[::every]))
    return Datasets(train=tables[0], validation=None, test=tables[1])


DATASETS: dict[str, Callable[..., Any]] = {
    "iris": load_iris,
    "boston": load_boston,
    "mnist": load_mnist,
    "dbpedia": load_dbpedia,
}


@export("contrib.learn.datasets.load_dataset")
@deprecated(None, "Please use tf.data.")
def load_dataset(name: str, size: str = "small", test_with_fake_data: bool = False) -> Dataset | Datasets:
    """Loads a set of data by its name.

    Args:
      name: `"iris"`, `"boston"`, `"mnist"` (from the folder `MNIST-data`) or `"dbpedia"` (from the folder
        `dbpedia_data`).
      size: `"small"` for a thousandth of the articles of dbpedia.
      test_with_fake_data: Whether a few made-up articles take the place of those of dbpedia.

    Returns:
      The data.

    Raises:
      ValueError: If there is no such set.
      FileNotFoundError: If its files are not there.
    """
    if name not in DATASETS:
        raise ValueError(f"Name of dataset is not found: {name}")
    return DATASETS[name](size, test_with_fake_data) if name == "dbpedia" else DATASETS[name]()


def _made_up_articles() -> Datasets:
    kinds = ("company", "school", "artist", "athlete", "politician")
    texts = [(f"{kind} {number}", f"About a {kind}.") for number in range(4) for kind in kinds]
    data = np.array(texts)
    target = np.tile(np.arange(1, len(kinds) + 1, dtype=np.int32), 4)
    half = len(data) // 2
    train, test = (Dataset(data[part], target[part]) for part in (slice(half), slice(half, None)))
    return Datasets(train=train, validation=None, test=test)


# ------------------------------------------------------------------------------------------ points in a plane


def _shuffled(x: np.ndarray, y: np.ndarray, labels: np.ndarray, noise: float | None) -> Dataset:
    points = np.vstack((x, y)).T
    order = np.random.permutation(range(len(points)))
    if noise is not None:
        points += np.random.normal(scale=noise, size=points.shape)
    return Dataset(data=points[order], target=labels[order])


@export("contrib.learn.datasets.synthetic.circles")
@deprecated(None, _CONSIDER_SCIKIT)
def circles(
    n_samples: int = 100,
    noise: float | None = None,
    seed: int | None = None,
    factor: float = 0.8,
    n_classes: int = 2,
) -> Dataset:
    """Makes points on circles, one circle a class, each smaller than the one before.

    Args:
      n_samples: The number of points.
      noise: The standard deviation of their noise; none if None.
      seed: The seed of the numbers.
      factor: By how much a circle is smaller than the one before.
      n_classes: The number of circles.

    Returns:
      The points as `data`, and their classes as `target`.
    """
    if seed is not None:
        np.random.seed(seed)
    angles = np.linspace(0, 2 * np.pi, n_samples // n_classes)
    sizes = factor ** np.arange(n_classes)
    x, y = (np.outer(sizes, part).reshape(-1) for part in (np.cos(angles), np.sin(angles)))
    labels = np.repeat(np.arange(n_classes, dtype=np.int32), n_samples // n_classes)
    extras = n_samples % n_classes  # on the first circle
    x = np.append(x, np.cos(np.random.rand(extras) * 2 * np.pi))
    y = np.append(y, np.sin(np.random.rand(extras) * 2 * np.pi))
    return _shuffled(x, y, np.append(labels, np.zeros(extras, np.int32)), noise)


_RADII: dict[str, Callable[..., np.ndarray]] = {
    "archimedes": lambda theta, exp_scale: theta,
    "bernoulli": lambda theta, exp_scale: np.exp(exp_scale * theta),
    "fermat": lambda theta, exp_scale: np.sqrt(theta),
}


@export("contrib.learn.datasets.synthetic.spirals")
@deprecated(None, _CONSIDER_SCIKIT)
def spirals(
    n_samples: int = 100,
    noise: float | None = None,
    seed: int | None = None,
    mode: str = "archimedes",
    n_loops: float = 2,
    exp_scale: float = 0.1,
) -> Dataset:
    """Makes points on two spirals, one a class.

    Args:
      n_samples: The number of points.
      noise: The standard deviation of their noise; none if None.
      seed: The seed of the numbers.
      mode: `"archimedes"`, `"bernoulli"` or `"fermat"`.
      n_loops: How often a spiral goes around.
      exp_scale: How fast a spiral of Bernoulli grows.

    Returns:
      The points as `data`, and their classes as `target`.

    Raises:
      ValueError: If there is no such mode.
    """
    if mode not in _RADII:
        raise ValueError(f"Cannot generate spiral with mode {mode}")
    if seed is not None:
        np.random.seed(seed)

    def spiral(theta: np.ndarray, offset: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
        radius = _RADII[mode](theta, exp_scale)
        parts = radius * np.cos(theta + offset), radius * np.sin(theta + offset)
        return tuple(part / np.max(np.abs(part)) for part in parts)

    angles = np.linspace(0, 2 * n_loops * np.pi, n_samples // 2)
    branches = [spiral(angles), spiral(angles, np.pi)]
    labels = np.repeat(np.arange(2, dtype=np.int32), n_samples // 2)
    if n_samples % 2:
        branches.append(spiral(np.random.rand(1) * 2 * np.pi))
        labels = np.append(labels, np.zeros(1, np.int32))
    x, y = (np.concatenate(part) for part in zip(*branches, strict=True))
    return _shuffled(x, y, labels, noise)


SYNTHETIC: dict[str, Callable[..., Dataset]] = {"circles": circles, "spirals": spirals}


@export("contrib.learn.datasets.make_dataset")
@deprecated(None, "Please use tf.data.")
def make_dataset(
    name: str,
    n_samples: int = 100,
    noise: float | None = None,
    seed: int | None = 42,
    *args: Any,
    **kwargs: Any,
) -> Dataset:
    """Makes points in a plane, of classes that no line divides.

    Args:
      name: `"circles"` or `"spirals"`.
      n_samples: The number of points.
      noise: The standard deviation of their noise; none if None.
      seed: The seed of the numbers.
      *args: More arguments of the set.
      **kwargs: More arguments of the set: `factor` and `n_classes` of circles; `mode` (`"archimedes"`,
        `"bernoulli"`, `"fermat"`), `n_loops` and `exp_scale` of spirals.

    Returns:
      The points as `data`, and their classes as `target`.

    Raises:
      ValueError: If there is no such set.
    """
    if name not in SYNTHETIC:
        raise ValueError(f"Synthetic dataset not found or not implemeted: {name}")
    return SYNTHETIC[name](n_samples, noise, seed, *args, **kwargs)
