"""tf.keras.preprocessing.image, as far as it needs neither Pillow nor SciPy: the oracle has none."""

import warnings

from kit import Close, cases, raises


def _images(np, n=6, channels=3):
    return (np.sin(np.arange(n * 4 * 5 * channels)) * 100 + 100).reshape(n, 4, 5, channels)


_SETTINGS = {
    "rotation": {"rotation_range": 30},
    "shift": {"width_shift_range": 0.3, "height_shift_range": 0.2},
    "shift by pixels": {"width_shift_range": 3, "height_shift_range": [1, 2]},
    "shear and zoom": {"shear_range": 10.0, "zoom_range": 0.2},
    "zoom": {"zoom_range": [0.5, 1.5]},
    "flips": {"horizontal_flip": True, "vertical_flip": True},
    "channels": {"channel_shift_range": 20.0, "brightness_range": (0.5, 1.5)},
    "first": {"data_format": "channels_first", "height_shift_range": 0.2},
}


@cases({name: name for name in _SETTINGS})
def random_changes(tf, np, name):
    generator = tf.keras.preprocessing.image.ImageDataGenerator(**_SETTINGS[name])
    found = [generator.get_random_transform((4, 6, 3), seed=seed) for seed in range(4)]
    return [sorted((key, None if v is None else float(v)) for key, v in each.items()) for each in found]


_STANDARD = {
    "rescale": {"rescale": 0.5},
    "sample": {"samplewise_center": True, "samplewise_std_normalization": True},
    "sample, by need": {"samplewise_std_normalization": True},
    "feature": {"featurewise_std_normalization": True},
    "feature, scaled": {"featurewise_center": True, "rescale": 2.0},
    "function": {"preprocessing_function": lambda x: x + 1.0},
    "first": {"data_format": "channels_first", "featurewise_center": True},
}


@cases({name: name for name in _STANDARD})
def standardized(tf, np, name):
    settings = _STANDARD[name]
    images = _images(np).astype(np.float32)
    if settings.get("data_format") == "channels_first":
        images = images.transpose(0, 3, 1, 2)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        generator = tf.keras.preprocessing.image.ImageDataGenerator(**settings)
        before = generator.standardize(images[0].copy())
        generator.fit(images)
        after = generator.standardize(images[0].copy())
    kept = [getattr(generator, key) is None for key in ("mean", "std", "principal_components")]
    return Close([before, after], 1e-4, 1e-4), kept, len(seen)


class _Plain:
    """A generator that changes nothing, so that no image library is asked."""

    _validation_split = 0.5

    def get_random_transform(self, shape):
        return {}

    def apply_transform(self, x, params):
        return x * 1.0

    def standardize(self, x):
        return x / 2.0


_FLOWS = {
    "in order": {"batch_size": 4, "y": True},
    "shuffled": {"batch_size": 4, "shuffle": True, "seed": 3, "y": True},
    "without labels": {"batch_size": 5, "shuffle": True, "seed": 1},
    "weights": {"batch_size": 2, "y": True, "weights": True},
    "training": {"batch_size": 2, "y": True, "subset": "training"},
    "validation": {"batch_size": 2, "y": True, "subset": "validation"},
    "further": {"batch_size": 4, "further": True, "y": True},
}


@cases({name: name for name in _FLOWS})
def flows(tf, np, name):
    given = dict(_FLOWS[name])
    y = np.array([0, 1, 2] * 2) if given.pop("y", False) else None
    x = _images(np)
    if given.pop("further", False):
        x = (x, [np.arange(6), np.arange(12).reshape(6, 2)])
    if given.pop("weights", False):
        given["sample_weight"] = np.arange(6) * 0.5
    flow = tf.keras.preprocessing.image.NumpyArrayIterator(x, y, _Plain(), **given)
    batches = [next(flow) for _ in range(4)]
    flow.reset()
    flow.on_epoch_end()
    return Close([batches, flow[0]], 1e-5), len(flow), flow.n, flow.total_batches_seen


def arrays_of_images(tf, np):
    image = tf.keras.preprocessing.image
    x = _images(np)[0]
    made = [
        image.img_to_array(x),
        image.img_to_array(x[..., 0]),
        image.img_to_array(x, data_format="channels_first", dtype="float64"),
        image.img_to_array(x[..., 0], data_format="channels_first"),
        image.apply_channel_shift(x, 30.0, 2),
    ]
    return Close(made, 1e-4), [array.dtype.name for array in made]


_BAD = {
    "format": lambda i, np: i.ImageDataGenerator(data_format="sideways"),
    "split": lambda i, np: i.ImageDataGenerator(validation_split=1.5),
    "zoom": lambda i, np: i.ImageDataGenerator(zoom_range=[1, 2, 3]),
    "brightness": lambda i, np: i.ImageDataGenerator(brightness_range=0.5),
    "rank": lambda i, np: i.ImageDataGenerator().fit(np.ones((2, 3))),
    "flow rank": lambda i, np: i.ImageDataGenerator().flow(np.ones((2, 3))),
    "lengths": lambda i, np: i.ImageDataGenerator().flow(np.ones((2, 3, 3, 1)), np.ones(3)),
    "weights": lambda i, np: i.ImageDataGenerator().flow(
        np.ones((2, 3, 3, 1)), np.ones(2), sample_weight=np.ones(3)
    ),
    "subset": lambda i, np: i.ImageDataGenerator(validation_split=0.5).flow(
        np.ones((2, 3, 3, 1)), np.ones(2), subset="testing"
    ),
    "classes": lambda i, np: i.ImageDataGenerator(validation_split=0.5).flow(
        np.ones((2, 3, 3, 1)), np.arange(2), subset="training"
    ),
    "index": lambda i, np: i.ImageDataGenerator().flow(np.ones((2, 3, 3, 1)))[9],
    "array format": lambda i, np: i.img_to_array(np.ones((2, 3)), data_format="sideways"),
    "array rank": lambda i, np: i.img_to_array(np.ones((2,))),
    "zoom of one": lambda i, np: i.random_zoom(np.ones((2, 3, 3)), (1,)),
    "brightness of one": lambda i, np: i.random_brightness(np.ones((2, 3, 3)), (1,)),
    "folder": lambda i, np: i.ImageDataGenerator().flow_from_directory("/no/such/folder"),
    "class mode": lambda i, np: i.ImageDataGenerator().flow_from_directory("/", class_mode="glued"),
    "color mode": lambda i, np: i.ImageDataGenerator().flow_from_directory("/", color_mode="blue"),
}


@cases({name: name for name in _BAD})
def bad_calls(tf, np, name):
    return raises(_BAD[name], tf.keras.preprocessing.image, np)
