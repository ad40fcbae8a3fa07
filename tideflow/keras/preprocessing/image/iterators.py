"""Batches of images without an end: from arrays, from folders, from the rows of a table."""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Iterator as Generator
from collections.abc import Sequence as Sequenced
from typing import TYPE_CHECKING, Any

import numpy as np

from tideflow.export import export
from tideflow.keras.preprocessing.image.pictures import array_to_img, img_to_array, load_img
from tideflow.keras.utils.data_utils import Sequence
from tideflow.layers import keras_state
from tideflow.layers.argument_docs import described

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike

WORDS = {
    "batch_size": "The size of a batch.",
    "shuffle": "Whether the images of each epoch are shuffled.",
    "seed": "The seed of the order, and of the changes.",
    "image_data_generator": "The generator that changes the images.",
    "data_format": '`"channels_last"` or `"channels_first"`; the default of Keras if None.',
    "save_to_dir": "A folder to which the changed images are written; none if None.",
    "save_prefix": "What the names of these begin with.",
    "save_format": 'Their format: `"png"` or `"jpeg"`.',
    "subset": '`"training"` or `"validation"`: a part of the data, by the generator\'s `validation_split`.',
    "dtype": "The type of the arrays; that of Keras if None.",
    "sample_weight": "The weights of the images.",
    "target_size": "The height and width of the images.",
    "color_mode": '`"grayscale"`, `"rgb"` or `"rgba"`.',
    "classes": "The names of the classes; those that are found if None.",
    "interpolation": "How images are resized.",
    "follow_links": "Whether links to folders are followed.",
    "directory": "The folder, which has a folder for each class.",
    "class_mode": 'What labels are: `"categorical"`, `"binary"`, `"sparse"`, `"input"`, or None for none.',
}
FORMATS = ("png", "jpg", "jpeg", "bmp", "ppm", "tif", "tiff")
_CHANNELS = {"rgba": 4, "rgb": 3, "grayscale": 1}


@export("keras.preprocessing.image.Iterator")
@described("The base of iterators over batches of images.", n="The number of images.", **WORDS)
class Iterator(Sequence):
    white_list_formats = FORMATS

    def __init__(self, n: int, batch_size: int, shuffle: bool, seed: int | None):
        self.n = n
        self.batch_size = batch_size
        self.seed = seed
        self.shuffle = shuffle
        self.batch_index = 0
        self.total_batches_seen = 0
        self.lock = threading.Lock()
        self.index_array: Any = None
        self.index_generator = self._flow_index()

    def _set_index_array(self) -> None:
        self.index_array = np.random.permutation(self.n) if self.shuffle else np.arange(self.n)

    def _begin_batch(self) -> None:
        if self.seed is not None:
            np.random.seed(self.seed + self.total_batches_seen)
        self.total_batches_seen += 1

    def __getitem__(self, index: int) -> Any:
        if index >= len(self):
            raise ValueError(f"Asked to retrieve element {index}, but the Sequence has length {len(self)}")
        self._begin_batch()
        if self.index_array is None:
            self._set_index_array()
        first = self.batch_size * index
        return self._get_batches_of_transformed_samples(self.index_array[first : first + self.batch_size])

    def __len__(self) -> int:
        return -(-self.n // self.batch_size)

    def on_epoch_end(self) -> None:
        """Shuffles the images."""
        self._set_index_array()

    def reset(self) -> None:
        """Begins again with the first batch."""
        self.batch_index = 0

    def _flow_index(self) -> Generator[np.ndarray]:
        self.reset()
        while True:
            self._begin_batch()
            if self.batch_index == 0:
                self._set_index_array()
            first = (self.batch_index * self.batch_size) % self.n if self.n else 0
            self.batch_index = self.batch_index + 1 if self.n > first + self.batch_size else 0
            yield self.index_array[first : first + self.batch_size]

    def __iter__(self) -> Iterator:
        return self

    def __next__(self) -> Any:
        return self.next()

    def next(self) -> Any:
        """Makes the next batch."""
        with self.lock:
            indices = next(self.index_generator)
        return self._get_batches_of_transformed_samples(indices)

    def _get_batches_of_transformed_samples(self, index_array: Any) -> Any:
        """Makes the batch of the images of these numbers."""
        raise NotImplementedError

    def _changed(self, images: Any, indices: Any, digits: float) -> np.ndarray:
        """Images after the generator has changed them, as an array; saved where that is asked for."""
        generator, made = self.image_data_generator, []
        for image in images:
            if generator:
                image = generator.apply_transform(image, generator.get_random_transform(image.shape))
                image = generator.standardize(image)
            made.append(image)
        batch = np.zeros((len(made), *self._image_shape), dtype=self.dtype)
        for place, image in enumerate(made):
            batch[place] = image
        if self.save_to_dir:
            for image, index in zip(batch, indices, strict=True):
                name = f"{self.save_prefix}_{index}_{np.random.randint(digits)}.{self.save_format}"
                picture = array_to_img(image, self.data_format, scale=True)
                picture.save(os.path.join(self.save_to_dir, name))
        return batch

    def _save_where(self, save_to_dir: str | None, save_prefix: str, save_format: str) -> None:
        self.save_to_dir = save_to_dir
        self.save_prefix = save_prefix
        self.save_format = save_format


def _check_length(x: Any, other: Any, name: str, shown: str) -> None:
    if other is not None and len(x) != len(other):
        raise ValueError(
            f"`x` (images tensor) and `{name}`{shown} should have the same length. Found: x.shape = "
            f"{np.asarray(x).shape}, {name}.shape = {np.asarray(other).shape}"
        )


@export("keras.preprocessing.image.NumpyArrayIterator")
@described(
    "Batches of the images of an array.",
    **WORDS,
    x="The images, an array of rank 4, or a list of it and of further arrays.",
    y="The labels; none if None.",
)
class NumpyArrayIterator(Iterator):
    def __init__(
        self,
        x: Any,
        y: Any,
        image_data_generator: Any,
        batch_size: int = 32,
        shuffle: bool = False,
        sample_weight: Any = None,
        seed: int | None = None,
        data_format: str | None = None,
        save_to_dir: str | None = None,
        save_prefix: str = "",
        save_format: str = "png",
        subset: str | None = None,
        dtype: DTypeLike | None = None,
    ):
        self.data_format = keras_state.image_data_format() if data_format is None else data_format
        self.dtype = dtype or keras_state.floatx()
        x, further = self._separated(x)
        _check_length(x, y, "y", " (labels)")
        _check_length(x, sample_weight, "sample_weight", "")
        if subset is not None:
            kept = self._part(x, y, subset, image_data_generator._validation_split)
            x, further = x[kept], [value[kept] for value in further]
            y = None if y is None else y[kept]
        self.x = np.asarray(x, dtype=self.dtype)
        self.x_misc = further
        if self.x.ndim != 4:
            raise ValueError(
                "Input data in `NumpyArrayIterator` should have rank 4. You passed an array with shape",
                self.x.shape,
            )
        self._image_shape = self.x.shape[1:]
        check_channels(self.x, self.data_format, "NumpyArrayIterator")
        self.y = None if y is None else np.asarray(y)
        self.sample_weight = None if sample_weight is None else np.asarray(sample_weight)
        self.image_data_generator = image_data_generator
        self._save_where(save_to_dir, save_prefix, save_format)
        super().__init__(len(self.x), batch_size, shuffle, seed)

    @staticmethod
    def _separated(x: Any) -> tuple[Any, list[np.ndarray]]:
        if not isinstance(x, (list, tuple)):
            return x, []
        images, others = x[0], x[1] if isinstance(x[1], list) else [x[1]]
        further = [np.asarray(other) for other in others]
        for other in further:
            if len(images) != len(other):
                raise ValueError(
                    "All of the arrays in `x` should have the same length. Found a pair with: len(x[0]) = "
                    f"{len(images)}, len(x[?]) = {len(other)}"
                )
        return images, further

    @staticmethod
    def _part(x: Any, y: Any, subset: str, split: float) -> slice:
        if subset not in ("training", "validation"):
            raise ValueError("Invalid subset name:", subset, '; expected "training" or "validation".')
        at = int(len(x) * split)
        if y is not None and not np.array_equal(np.unique(y[:at]), np.unique(y[at:])):
            raise ValueError(
                "Training and validation subsets have different number of classes after the split. If your "
                "numpy arrays are sorted by the label, you might want to shuffle them."
            )
        return slice(None, at) if subset == "validation" else slice(at, None)

    def _get_batches_of_transformed_samples(self, index_array: Any) -> Any:
        images = (self.x[index].astype(self.dtype) for index in index_array)
        batch: Any = self._changed(images, index_array, 1e4)
        if self.x_misc:
            batch = [batch, *(values[index_array] for values in self.x_misc)]
        if self.y is None:
            return batch
        if self.sample_weight is None:
            return batch, self.y[index_array]
        return batch, self.y[index_array], self.sample_weight[index_array]


def check_channels(x: np.ndarray, data_format: str, what: str) -> None:
    """Warns about images whose channels stand on another axis, as it seems."""
    axis = 3 if data_format == "channels_last" else 1
    if x.shape[axis] not in (1, 3, 4):
        warnings.warn(
            f'{what} is set to use the data format convention "{data_format}" (channels on axis {axis}), '
            f"i.e. expected either 1, 3, or 4 channels on axis {axis}. However, it was passed an array with "
            f"shape {x.shape} ({x.shape[axis]} channels).",
            stacklevel=4,
        )


class FromFiles(Iterator):
    """Batches of images that stand in files, of which a subclass knows the paths and the labels."""

    allowed_class_modes: tuple[Any, ...] = ("categorical", "binary", "sparse", "input", None)
    _filepaths: list[str]
    classes: Any
    class_indices: dict[str, int]

    def _take(self, given: dict[str, Any]) -> None:
        self.image_data_generator = given["image_data_generator"]
        self.target_size = tuple(given["target_size"])
        self.color_mode = given["color_mode"]
        if self.color_mode not in _CHANNELS:
            raise ValueError(
                "Invalid color mode:", self.color_mode, '; expected "rgb", "rgba", or "grayscale".'
            )
        data_format = given["data_format"]
        self.data_format = keras_state.image_data_format() if data_format is None else data_format
        self.dtype = given["dtype"] or keras_state.floatx()
        channels = (_CHANNELS[self.color_mode],)
        last = self.data_format == "channels_last"
        self.image_shape = self._image_shape = (
            (*self.target_size, *channels) if last else (*channels, *self.target_size)
        )
        self._save_where(given["save_to_dir"], given["save_prefix"], given["save_format"])
        self.interpolation = given["interpolation"]
        self.subset = given["subset"]
        self.split = None
        if self.subset is not None:
            at = self.image_data_generator._validation_split
            parts = {"validation": (0, at), "training": (at, 1)}
            if self.subset not in parts:
                raise ValueError(f'Invalid subset name: {self.subset};expected "training" or "validation"')
            self.split = parts[self.subset]
        self.class_mode = given["class_mode"]
        if self.class_mode not in self.allowed_class_modes:
            raise ValueError(
                f"Invalid class_mode: {self.class_mode}; expected one of: {set(self.allowed_class_modes)}"
            )

    def _within_split(self, files: Any) -> Any:
        """The part of the files that was asked for."""
        if self.split is None:
            return files
        first, last = (int(part * len(files)) for part in self.split)
        return files[first:last]

    @property
    def filepaths(self) -> list[str]:
        """The paths of the images."""
        return self._filepaths

    @property
    def labels(self) -> Any:
        """The labels of the images."""
        return self.classes

    @property
    def sample_weight(self) -> Any:
        """The weights of the images; None if they have none."""
        return None

    def _read(self, path: str) -> np.ndarray:
        with load_img(
            path,
            color_mode=self.color_mode,
            target_size=self.target_size,
            interpolation=self.interpolation,
        ) as picture:
            return img_to_array(picture, data_format=self.data_format)

    def _get_batches_of_transformed_samples(self, index_array: Any) -> Any:
        batch = self._changed((self._read(self._filepaths[i]) for i in index_array), index_array, 1e7)
        labels: Any
        if self.class_mode == "input":
            labels = batch.copy()
        elif self.class_mode in ("binary", "sparse"):
            labels = np.array([self.classes[i] for i in index_array], dtype=self.dtype)
        elif self.class_mode == "categorical":
            labels = np.zeros((len(batch), len(self.class_indices)), dtype=self.dtype)
            for place, index in enumerate(index_array):
                labels[place, self.classes[index]] = 1.0
        elif self.class_mode == "multi_output":
            labels = [output[index_array] for output in self.labels]
        elif self.class_mode == "raw":
            labels = self.labels[index_array]
        else:
            return batch
        if self.sample_weight is None:
            return batch, labels
        return batch, labels, self.sample_weight[index_array]


def _images_in(folder: str, follow_links: bool) -> list[str]:
    """The images of a folder and of those in it, by path."""
    found = []
    for root, _, names in sorted(os.walk(folder, followlinks=follow_links), key=lambda each: each[0]):
        for name in sorted(names):
            if name.lower().endswith(".tiff"):
                warnings.warn(
                    'Using ".tiff" files with multiple bands will cause distortion. '
                    "Please verify your output.",
                    stacklevel=4,
                )
            if name.lower().endswith(FORMATS):
                found.append(os.path.join(root, name))
    return found


@export("keras.preprocessing.image.DirectoryIterator")
@described("Batches of the images of a folder, which has a folder for each class.", **WORDS)
class DirectoryIterator(FromFiles):
    def __init__(
        self,
        directory: str,
        image_data_generator: Any,
        target_size: Sequenced[int] = (256, 256),
        color_mode: str = "rgb",
        classes: Sequenced[str] | None = None,
        class_mode: str | None = "categorical",
        batch_size: int = 32,
        shuffle: bool = True,
        seed: int | None = None,
        data_format: str | None = None,
        save_to_dir: str | None = None,
        save_prefix: str = "",
        save_format: str = "png",
        follow_links: bool = False,
        subset: str | None = None,
        interpolation: str = "nearest",
        dtype: DTypeLike | None = None,
    ):
        self._take(locals())
        self.directory = directory
        if not classes:
            inner = sorted(os.listdir(directory))
            classes = [name for name in inner if os.path.isdir(os.path.join(directory, name))]
        self.num_classes = len(classes)
        self.class_indices = {name: number for number, name in enumerate(classes)}
        self.filenames: list[str] = []
        numbers: list[int] = []
        for name, number in self.class_indices.items():
            paths = self._within_split(_images_in(os.path.join(directory, name), follow_links))
            self.filenames += [os.path.relpath(path, directory) for path in paths]
            numbers += [number] * len(paths)
        self.samples = len(self.filenames)
        self.classes = np.array(numbers, dtype="int32")
        print(f"Found {self.samples} images belonging to {self.num_classes} classes.")
        self._filepaths = [os.path.join(directory, name) for name in self.filenames]
        super().__init__(self.samples, batch_size, shuffle, seed)
