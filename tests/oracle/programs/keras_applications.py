"""tf.keras.applications: names of layers and weights, shapes, parameter counts, values with fixed weights."""

import hashlib

from kit import Close, cases, raises


def _digest(values):
    return hashlib.md5(repr(values).encode()).hexdigest()


def _fixed(np, name, value):
    """Weights that are the same in every engine, and neither vanish nor grow from layer to layer."""
    wave = np.sin(np.arange(value.size)).reshape(value.shape)
    if "gamma" in name:
        wave = 1 + 0.1 * wave
    elif "variance" in name:
        wave = 1 + 0.5 * np.abs(wave)
    elif value.ndim > 1:
        depth = value.shape[:2] if "depthwise" in name else value.shape[:-1]
        wave = wave * np.sqrt(2.0 / np.prod(depth)) * 1.4
    else:
        wave = 0.1 * wave
    return wave.astype(value.dtype)


def _described(model):
    return {
        "name": model.name,
        "layers": [len(model.layers), _digest([layer.name for layer in model.layers])],
        "classes": _digest([type(layer).__name__ for layer in model.layers]),
        "weights": _digest([(w.name, tuple(w.shape.as_list())) for w in model.weights]),
        "params": model.count_params(),
        "output": model.output.shape.as_list(),
    }


_SMALL = {
    "VGG16": 32,
    "ResNet50": 33,
    "ResNet50V2": 40,
    "DenseNet121": 32,
    "InceptionV3": 75,
    "MobileNet": 40,
    "MobileNetV2": 37,
    "Xception": 71,
}


@cases({name: name for name in _SMALL})
def values(tf, np, name):
    size = _SMALL[name]
    model = getattr(tf.keras.applications, name)(
        weights=None, include_top=False, input_shape=(size, size, 3), pooling="avg"
    )
    named = [(w.name, v) for w, v in zip(model.weights, model.get_weights())]
    model.set_weights([_fixed(np, *each) for each in named])
    image = np.cos(np.arange(size * size * 3)).reshape(1, size, size, 3).astype(np.float32)
    return _described(model), Close(model.predict(image), 1e-3, 1e-4)


_TOPS = {
    "ResNet50": {"classes": 10},
    "ResNet50V2": {"input_shape": (64, 64, 1), "classes": 3},
    "DenseNet121": {"classes": 7},
    "InceptionV3": {},
    "MobileNet": {"alpha": 0.5, "input_shape": (128, 128, 3)},
    "MobileNetV2": {"alpha": 1.4, "input_shape": (96, 96, 3)},
    "NASNetMobile": {"classes": 5},
    "Xception": {"classes": 5},
}


@cases({name: name for name in _TOPS})
def classifiers(tf, np, name):
    return _described(getattr(tf.keras.applications, name)(weights=None, **_TOPS[name]))


@cases({name: name for name in ("VGG19", "MobileNet", "MobileNetV2")})
def features_of_any_size(tf, np, name):
    model = getattr(tf.keras.applications, name)(weights=None, include_top=False, pooling="max")
    return _described(model)


def on_a_tensor(tf, np):
    image = tf.keras.Input((64, 64, 3), name="photo")
    model = tf.keras.applications.MobileNet(weights=None, input_tensor=image, alpha=0.25, classes=4)
    return _described(model), model.input_names


@cases({mode: mode for mode in ("caffe", "tf", "torch")})
def preprocessing(tf, np, mode):
    images = np.arange(2 * 3 * 4 * 3).reshape(2, 3, 4, 3)
    utils = tf.keras.applications.imagenet_utils
    last = utils.preprocess_input(images.copy(), mode=mode)
    first = utils.preprocess_input(
        images.transpose(0, 3, 1, 2).astype(np.float64), data_format="channels_first", mode=mode
    )
    one = utils.preprocess_input(images[0].astype(np.float32), mode=mode)
    return Close([last, first, one], 1e-5, 1e-4), last.dtype.name, first.dtype.name


def preprocessing_of_each_model(tf, np):
    found = {}
    for name in ("densenet", "vgg16", "resnet", "resnet_v2", "resnet50", "xception", "nasnet", "mobilenet"):
        module = getattr(tf.keras.applications, name)
        found[name] = Close(module.preprocess_input(np.full((1, 2, 2, 3), 200.0, np.float32)), 1e-5, 1e-4)
    return found


def preprocessing_of_a_tensor(tf, np):
    images = tf.constant(np.arange(2 * 3 * 4 * 3).reshape(2, 3, 4, 3), tf.float32)
    with tf.Session() as session:
        made = tf.keras.applications.vgg16.preprocess_input(images)
        return Close(session.run([made, tf.keras.applications.nasnet.preprocess_input(images)]), 1e-5, 1e-4)


_BAD = {
    "weights": lambda a: a.VGG16(weights="/no/such/file.h5"),
    "classes": lambda a: a.VGG16(classes=10),
    "too small": lambda a: a.VGG16(weights=None, include_top=False, input_shape=(16, 16, 3)),
    "shape": lambda a: a.ResNet50(weights=None, input_shape=(224, 224)),
    "open": lambda a: a.InceptionV3(weights=None, input_shape=(None, None, 3)),
    "channels": lambda a: a.Xception(include_top=False, input_shape=(100, 100, 1)),
    "size of imagenet": lambda a: a.DenseNet121(input_shape=(100, 100, 3)),
    "multiplier": lambda a: a.MobileNet(depth_multiplier=2),
    "width": lambda a: a.MobileNetV2(alpha=0.6, include_top=False),
    "keyword": lambda a: a.VGG16(weights=None, colour="red"),
    "predictions": lambda a: a.vgg16.decode_predictions(__import__("numpy").ones((2, 10))),
    "format": lambda a: a.imagenet_utils.preprocess_input(__import__("numpy").ones((1, 2, 2, 3)), "sideways"),
}


@cases({name: name for name in _BAD})
def bad_calls(tf, np, name):
    return raises(_BAD[name], tf.keras.applications)
