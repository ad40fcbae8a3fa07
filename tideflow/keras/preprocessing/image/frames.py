"""Batches of the images that the rows of a table of pandas name."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tideflow.keras.preprocessing.image.iterators import FORMATS, FromFiles

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike

_WITHOUT_CLASSES = ("input", "multi_output", "raw", None)


class DataFrameIterator(FromFiles):
    """Batches of the images that the rows of a table name: see `ImageDataGenerator.flow_from_dataframe`."""

    allowed_class_modes = ("binary", "categorical", "input", "multi_output", "raw", "sparse", None)

    def __init__(
        self,
        dataframe: Any,
        directory: str | None = None,
        image_data_generator: Any = None,
        x_col: str = "filename",
        y_col: Any = "class",
        weight_col: str | None = None,
        target_size: Sequence[int] = (256, 256),
        color_mode: str = "rgb",
        classes: Sequence[str] | None = None,
        class_mode: str | None = "categorical",
        batch_size: int = 32,
        shuffle: bool = True,
        seed: int | None = None,
        data_format: str | None = None,
        save_to_dir: str | None = None,
        save_prefix: str = "",
        save_format: str = "png",
        subset: str | None = None,
        interpolation: str = "nearest",
        dtype: DTypeLike | None = None,
        validate_filenames: bool = True,
    ):
        self._take(locals())
        rows = dataframe.copy()
        self.directory = directory or ""
        self._check(rows, x_col, y_col, weight_col, classes)
        if validate_filenames:
            rows = self._with_files(rows, x_col)
        with_classes = class_mode not in _WITHOUT_CLASSES
        if with_classes:
            rows, names = _with_classes(rows, y_col, classes)
            self.class_indices = {name: number for number, name in enumerate(names)}
        rows = self._within_split(rows)
        if with_classes:
            self.classes = [self._numbers(label) for label in rows[y_col]]
        self.filenames = rows[x_col].tolist()
        self._sample_weight = rows[weight_col].values if weight_col else None
        if class_mode == "multi_output":
            self._targets: Any = [np.array(rows[column].tolist()) for column in y_col]
        if class_mode == "raw":
            self._targets = rows[y_col].values
        self.samples = len(self.filenames)
        kind = "validated" if validate_filenames else "non-validated"
        end = f" belonging to {len(self.class_indices)} classes." if with_classes else "."
        print(f"Found {self.samples} {kind} image filenames{end}")
        self._filepaths = [os.path.join(self.directory, name) for name in self.filenames]
        super().__init__(self.samples, batch_size, shuffle, seed)

    def _check(self, rows: Any, x_col: str, y_col: Any, weight_col: str | None, classes: Any) -> None:
        mode = self.class_mode
        if mode == "multi_output" and not isinstance(y_col, list):
            raise TypeError(f'If class_mode="{mode}", y_col must be a list. Received {type(y_col).__name__}.')
        if not all(isinstance(name, str) for name in rows[x_col]):
            raise TypeError(f"All values in column x_col={x_col} must be strings.")
        if mode in ("binary", "sparse") and not all(isinstance(label, str) for label in rows[y_col]):
            raise TypeError(f'If class_mode="{mode}", y_col="{y_col}" column values must be strings.')
        if mode == "binary":
            number = len(set(classes)) if classes else rows[y_col].nunique()
            if number != 2:
                found = f"{number} class/es were given." if classes else f"Found {number} classes."
                raise ValueError(f'If class_mode="binary" there must be 2 classes. {found}')
        if mode == "categorical" and not all(isinstance(v, (str, list, tuple)) for v in rows[y_col]):
            raise TypeError(
                f'If class_mode="{mode}", y_col="{y_col}" column values must be type string, list or tuple.'
            )
        if classes and mode in _WITHOUT_CLASSES:
            warnings.warn(f'`classes` will be ignored given the class_mode="{mode}"', stacklevel=4)
        if weight_col and not issubclass(rows[weight_col].dtype.type, np.number):
            raise TypeError(f"Column weight_col={weight_col} must be numeric.")

    def _with_files(self, rows: Any, x_col: str) -> Any:
        """The rows whose images are there."""
        paths = [os.path.join(self.directory, name) for name in rows[x_col]]
        there = np.array([path.lower().endswith(FORMATS) and os.path.isfile(path) for path in paths], bool)
        if not there.all():
            warnings.warn(
                f'Found {(~there).sum()} invalid image filename(s) in x_col="{x_col}". These filename(s) '
                "will be ignored.",
                stacklevel=4,
            )
        return rows[there]

    def _numbers(self, label: Any) -> Any:
        if isinstance(label, (list, tuple)):
            return [self.class_indices[name] for name in label]
        return self.class_indices[label]

    @property
    def labels(self) -> Any:
        return self._targets if self.class_mode in ("multi_output", "raw") else self.classes

    @property
    def sample_weight(self) -> Any:
        return self._sample_weight


def _with_classes(rows: Any, y_col: str, classes: Sequence[str] | None) -> tuple[Any, list[str]]:
    """The rows of known classes, and the classes."""
    labels = [label if isinstance(label, (list, tuple)) else [label] for label in rows[y_col]]
    if not classes:
        return rows, sorted({name for names in labels for name in names})
    known = set(classes)
    kept = [[name for name in names if name in known] for names in labels]
    rows = rows.copy()
    rows[y_col] = [
        (names if isinstance(old, (list, tuple)) else names[0]) if names else None
        for names, old in zip(kept, rows[y_col], strict=True)
    ]
    return rows[np.array([bool(names) for names in kept], bool)], sorted(known)
