"""ImageDataGenerator: images that are changed at random while a model is trained."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tideflow.export import export
from tideflow.keras.preprocessing.image.frames import DataFrameIterator
from tideflow.keras.preprocessing.image.iterators import (
    WORDS,
    DirectoryIterator,
    NumpyArrayIterator,
    check_channels,
)
from tideflow.keras.preprocessing.image.pictures import checked_format
from tideflow.keras.preprocessing.image.transforms import (
    apply_affine_transform,
    apply_brightness_shift,
    apply_channel_shift,
    require_linalg,
)
from tideflow.layers import keras_state
from tideflow.layers.argument_docs import described, explained

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike


def _shift(range_: Any, size: int) -> Any:
    """A random distance: one of a list or of the integers below one, or any below a fraction of the size."""
    if not range_:
        return 0
    try:
        distance = np.random.choice(range_)
        distance *= np.random.choice([-1, 1])
    except ValueError:  # a floating-point number
        distance = np.random.uniform(-range_, range_)
    return distance * size if np.max(range_) < 1 else distance


def _unfitted(setting: str) -> None:
    warnings.warn(
        f"This ImageDataGenerator specifies `{setting}`, but it hasn't been fit on any training data. Fit it "
        "first by calling `.fit(numpy_data)`.",
        stacklevel=4,
    )


def _overridden(setting: str, other: str) -> None:
    warnings.warn(
        f"This ImageDataGenerator specifies `{setting}`, which overrides setting of `{other}`.", stacklevel=4
    )


@export("keras.preprocessing.image.ImageDataGenerator")
@described(
    "Makes batches of images, and changes them at random.",
    featurewise_center="Whether the mean of the data is subtracted: see `fit`.",
    samplewise_center="Whether the mean of each image is subtracted.",
    featurewise_std_normalization="Whether images are divided by the data's standard deviation: see `fit`.",
    samplewise_std_normalization="Whether each image is divided by its standard deviation.",
    zca_whitening="Whether images are whitened: see `fit`.",
    zca_epsilon="A small number that whitening adds to the variances.",
    rotation_range="The largest angle of a random turn, in degrees.",
    width_shift_range="The largest random move, a fraction of the width; or a number, or list, of pixels.",
    height_shift_range="The largest random move, a fraction of the height; or a number, or list, of pixels.",
    brightness_range="The least and the largest factor of brightness.",
    shear_range="The largest random angle of shearing, in degrees.",
    zoom_range="The least and the largest factor of zoom, or how far it may differ from one.",
    channel_shift_range="The largest number that is added to all values.",
    fill_mode='What stands outside of an image: `"constant"`, `"nearest"`, `"reflect"` or `"wrap"`.',
    cval="The value outside of an image where the mode is constant.",
    horizontal_flip="Whether left and right are exchanged at random.",
    vertical_flip="Whether top and bottom are exchanged at random.",
    rescale="A factor of all values; none if None.",
    preprocessing_function="A function of an image that is called first.",
    data_format='`"channels_last"` or `"channels_first"`; the default of Keras if None.',
    validation_split="The fraction of the data that is kept for validation.",
    dtype="The type of the arrays; that of Keras if None.",
)
class ImageDataGenerator:
    def __init__(
        self,
        featurewise_center: bool = False,
        samplewise_center: bool = False,
        featurewise_std_normalization: bool = False,
        samplewise_std_normalization: bool = False,
        zca_whitening: bool = False,
        zca_epsilon: float = 1e-6,
        rotation_range: float = 0,
        width_shift_range: Any = 0.0,
        height_shift_range: Any = 0.0,
        brightness_range: Sequence[float] | None = None,
        shear_range: float = 0.0,
        zoom_range: Any = 0.0,
        channel_shift_range: float = 0.0,
        fill_mode: str = "nearest",
        cval: float = 0.0,
        horizontal_flip: bool = False,
        vertical_flip: bool = False,
        rescale: float | None = None,
        preprocessing_function: Callable | None = None,
        data_format: str | None = None,
        validation_split: float = 0.0,
        dtype: DTypeLike | None = None,
    ):
        for name, value in locals().items():
            if name not in ("self", "validation_split"):
                setattr(self, name, value)
        self.data_format = checked_format(
            data_format, '`data_format` should be `"channels_last"` or `"channels_first"`. Received'
        )
        self.dtype = dtype or keras_state.floatx()
        self.interpolation_order = 1
        first = self.data_format == "channels_first"
        self.channel_axis, self.row_axis, self.col_axis = (1, 2, 3) if first else (3, 1, 2)
        if validation_split and not 0 < validation_split < 1:
            raise ValueError(
                f"`validation_split` must be strictly between 0 and 1.  Received: {validation_split}"
            )
        self._validation_split = validation_split
        self.mean: Any = None
        self.std: Any = None
        self.principal_components: Any = None
        if isinstance(zoom_range, (float, int)):
            self.zoom_range = [1 - zoom_range, 1 + zoom_range]
        elif len(zoom_range) == 2 and all(isinstance(value, (float, int)) for value in zoom_range):
            self.zoom_range = list(zoom_range)
        else:
            raise ValueError(
                f"`zoom_range` should be a float or a tuple or list of two floats. Received: {zoom_range}"
            )
        two = isinstance(brightness_range, (tuple, list)) and len(brightness_range) == 2
        if brightness_range is not None and not two:
            raise ValueError(
                f"`brightness_range should be tuple or list of two floats. Received: {brightness_range}"
            )
        self._settle()

    def _settle(self) -> None:
        """Makes settings agree: one that needs another one sets it."""
        if self.zca_whitening and self.featurewise_std_normalization:
            self.featurewise_std_normalization = False
            _overridden("zca_whitening", "featurewise_std_normalization")
        for setting, needed in (
            ("zca_whitening", "featurewise_center"),
            ("featurewise_std_normalization", "featurewise_center"),
            ("samplewise_std_normalization", "samplewise_center"),
        ):
            if getattr(self, setting) and not getattr(self, needed):
                setattr(self, needed, True)
                _overridden(setting, needed)

    # ------------------------------------------------------------------ batches

    @explained(
        "Makes batches of the images of an array.",
        "An iterator of batches.",
        **WORDS,
        x="The images, an array of rank 4, or a list of it and of further arrays.",
        y="The labels; none if None.",
    )
    def flow(
        self,
        x: Any,
        y: Any = None,
        batch_size: int = 32,
        shuffle: bool = True,
        sample_weight: Any = None,
        seed: int | None = None,
        save_to_dir: str | None = None,
        save_prefix: str = "",
        save_format: str = "png",
        subset: str | None = None,
    ) -> NumpyArrayIterator:
        return NumpyArrayIterator(
            x,
            y,
            self,
            batch_size=batch_size,
            shuffle=shuffle,
            sample_weight=sample_weight,
            seed=seed,
            data_format=self.data_format,
            save_to_dir=save_to_dir,
            save_prefix=save_prefix,
            save_format=save_format,
            subset=subset,
            dtype=self.dtype,
        )

    @explained(
        "Makes batches of the images of a folder, which has a folder for each class.",
        "An iterator of batches.",
        **WORDS,
    )
    def flow_from_directory(
        self,
        directory: str,
        target_size: Sequence[int] = (256, 256),
        color_mode: str = "rgb",
        classes: Sequence[str] | None = None,
        class_mode: str | None = "categorical",
        batch_size: int = 32,
        shuffle: bool = True,
        seed: int | None = None,
        save_to_dir: str | None = None,
        save_prefix: str = "",
        save_format: str = "png",
        follow_links: bool = False,
        subset: str | None = None,
        interpolation: str = "nearest",
    ) -> DirectoryIterator:
        given = {name: value for name, value in locals().items() if name not in ("self", "directory")}
        return DirectoryIterator(directory, self, data_format=self.data_format, dtype=self.dtype, **given)

    @explained(
        "Makes batches of the images that the rows of a table of pandas name.",
        "An iterator of batches.",
        **{
            **WORDS,
            "directory": "The folder that the names are relative to; they are absolute if None.",
            "class_mode": 'What labels are: `"categorical"`, `"binary"`, `"sparse"`, `"input"`, '
            '`"multi_output"`, `"raw"`, or None for none.',
        },
        dataframe="The table.",
        x_col="The column of the names.",
        y_col="The column of the labels, or a list of columns.",
        weight_col="The column of the weights; none if None.",
        validate_filenames="Whether rows without a file are left out.",
        kwargs="Arguments that have no effect any more.",
    )
    def flow_from_dataframe(
        self,
        dataframe: Any,
        directory: str | None = None,
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
        save_to_dir: str | None = None,
        save_prefix: str = "",
        save_format: str = "png",
        subset: str | None = None,
        interpolation: str = "nearest",
        validate_filenames: bool = True,
        **kwargs: Any,
    ) -> DataFrameIterator:
        given = {
            name: value
            for name, value in locals().items()
            if name not in ("self", "dataframe", "directory", "kwargs", "class_mode")
        }
        for name in ("has_ext", "sort", "drop_duplicates"):
            if name in kwargs:
                warnings.warn(f"{name} is deprecated and has no effect.", DeprecationWarning, stacklevel=2)
        if class_mode == "other":
            warnings.warn(
                '`class_mode` "other" is deprecated, please use `class_mode` "raw".',
                DeprecationWarning,
                stacklevel=2,
            )
            class_mode = "raw"
        return DataFrameIterator(
            dataframe,
            directory,
            self,
            class_mode=class_mode,
            data_format=self.data_format,
            dtype=self.dtype,
            **given,
        )

    # ------------------------------------------------------------------ one image

    def standardize(self, x: Any) -> Any:
        """Scales an image, or a batch, as the settings say. An array is changed in place.

        Args:
          x: The image.

        Returns:
          The image.
        """
        if self.preprocessing_function:
            x = self.preprocessing_function(x)
        if self.rescale:
            x *= self.rescale
        if self.samplewise_center:
            x -= np.mean(x, keepdims=True)
        if self.samplewise_std_normalization:
            x /= np.std(x, keepdims=True) + 1e-6
        if self.featurewise_center:
            if self.mean is None:
                _unfitted("featurewise_center")
            else:
                x -= self.mean
        if self.featurewise_std_normalization:
            if self.std is None:
                _unfitted("featurewise_std_normalization")
            else:
                x /= self.std + 1e-6
        if self.zca_whitening:
            if self.principal_components is None:
                _unfitted("zca_whitening")
            else:
                flat = np.reshape(x, (-1, np.prod(x.shape[-3:])))
                x = np.reshape(flat @ self.principal_components, x.shape)
        return x

    def get_random_transform(self, img_shape: Sequence[int], seed: int | None = None) -> dict[str, Any]:
        """Draws a random change.

        Args:
          img_shape: The shape of the image.
          seed: The seed of NumPy's random numbers; as they are if None.

        Returns:
          The change, for `apply_transform`.
        """
        if seed is not None:
            np.random.seed(seed)
        uniform = np.random.uniform
        theta = uniform(-self.rotation_range, self.rotation_range) if self.rotation_range else 0
        tx = _shift(self.height_shift_range, img_shape[self.row_axis - 1])
        ty = _shift(self.width_shift_range, img_shape[self.col_axis - 1])
        shear = uniform(-self.shear_range, self.shear_range) if self.shear_range else 0
        zx, zy = (1, 1) if tuple(self.zoom_range) == (1, 1) else uniform(*self.zoom_range, 2)
        horizontal = (np.random.random() < 0.5) * self.horizontal_flip
        vertical = (np.random.random() < 0.5) * self.vertical_flip
        intensity = brightness = None
        if self.channel_shift_range != 0:
            intensity = uniform(-self.channel_shift_range, self.channel_shift_range)
        if self.brightness_range is not None:
            brightness = uniform(*self.brightness_range)
        return {
            "theta": theta,
            "tx": tx,
            "ty": ty,
            "shear": shear,
            "zx": zx,
            "zy": zy,
            "flip_horizontal": horizontal,
            "flip_vertical": vertical,
            "channel_shift_intensity": intensity,
            "brightness": brightness,
        }

    def apply_transform(self, x: Any, transform_parameters: dict[str, Any]) -> Any:
        """Changes an image.

        Args:
          x: The image, an array of rank 3.
          transform_parameters: The change, as `get_random_transform` gives it; what it does not say stays.

        Returns:
          The image.
        """
        how = transform_parameters
        names = ("theta", "tx", "ty", "shear", "zx", "zy")
        x = apply_affine_transform(
            x,
            **{name: how[name] for name in names if name in how},
            row_axis=self.row_axis - 1,
            col_axis=self.col_axis - 1,
            channel_axis=self.channel_axis - 1,
            fill_mode=self.fill_mode,
            cval=self.cval,
            order=self.interpolation_order,
        )
        if how.get("channel_shift_intensity") is not None:
            x = apply_channel_shift(x, how["channel_shift_intensity"], self.channel_axis - 1)
        if how.get("flip_horizontal"):
            x = np.flip(x, self.col_axis - 1)
        if how.get("flip_vertical"):
            x = np.flip(x, self.row_axis - 1)
        if how.get("brightness") is not None:
            x = apply_brightness_shift(x, how["brightness"])
        return x

    def random_transform(self, x: Any, seed: int | None = None) -> Any:
        """Changes an image at random.

        Args:
          x: The image, an array of rank 3.
          seed: The seed of NumPy's random numbers; as they are if None.

        Returns:
          The image.
        """
        return self.apply_transform(x, self.get_random_transform(x.shape, seed))

    def fit(self, x: Any, augment: bool = False, rounds: int = 1, seed: int | None = None) -> None:
        """Computes the mean, the standard deviation and the components of data, where settings need them.

        Args:
          x: The images, an array of rank 4.
          augment: Whether changed images are used.
          rounds: How often each image is changed.
          seed: The seed of NumPy's random numbers; as they are if None.

        Raises:
          ValueError: If the data has another rank.
        """
        x = np.array(x, dtype=self.dtype)
        if x.ndim != 4:
            raise ValueError(f"Input to `.fit()` should have rank 4. Got array with shape: {x.shape}")
        check_channels(x, self.data_format, "ImageDataGenerator")
        if seed is not None:
            np.random.seed(seed)
        if self.rescale:
            x *= self.rescale
        if augment:
            changed = [self.random_transform(image) for _ in range(rounds) for image in x]
            x = np.array(changed, dtype=self.dtype)
        axes, shape = (0, self.row_axis, self.col_axis), [1, 1, 1]
        shape[self.channel_axis - 1] = x.shape[self.channel_axis]
        if self.featurewise_center:
            self.mean = np.reshape(np.mean(x, axis=axes), shape)
            x -= self.mean
        if self.featurewise_std_normalization:
            self.std = np.reshape(np.std(x, axis=axes), shape)
            x /= self.std + 1e-6
        if self.zca_whitening:
            flat = np.reshape(x, (x.shape[0], -1))
            u, s, _ = require_linalg().svd(flat.T @ flat / flat.shape[0])
            self.principal_components = (u / np.sqrt(s + self.zca_epsilon)) @ u.T
