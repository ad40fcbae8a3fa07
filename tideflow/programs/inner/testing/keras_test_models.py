"""Models that are subclasses, as TensorFlow's tests of such models take them:
`keras.model_subclassing_test_util`.
"""

from __future__ import annotations

from typing import Any

import tideflow as tf

Dense = tf.keras.layers.Dense
BatchNormalization = tf.keras.layers.BatchNormalization


class SimpleTestModel(tf.keras.Model):
    """Two dense layers, with dropout and normalization between them where they are asked for."""

    def __init__(self, use_bn: bool = False, use_dp: bool = False, num_classes: int = 10):
        super().__init__(name="test_model")
        self.use_bn, self.use_dp, self.num_classes = use_bn, use_dp, num_classes
        self.dense1 = Dense(32, activation="relu")
        self.dense2 = Dense(num_classes, activation="softmax")
        if use_dp:
            self.dp = tf.keras.layers.Dropout(0.5)
        if use_bn:
            self.bn = BatchNormalization(axis=-1)

    def call(self, x: Any) -> Any:
        x = self.dense1(x)
        x = self.dp(x) if self.use_dp else x
        x = self.bn(x) if self.use_bn else x
        return self.dense2(x)


class SimpleConvTestModel(tf.keras.Model):
    """A convolution and a dense layer."""

    def __init__(self, num_classes: int = 10):
        super().__init__(name="test_model")
        self.num_classes = num_classes
        self.conv1 = tf.keras.layers.Conv2D(32, (3, 3), activation="relu")
        self.flatten = tf.keras.layers.Flatten()
        self.dense1 = Dense(num_classes, activation="softmax")

    def call(self, x: Any) -> Any:
        return self.dense1(self.flatten(self.conv1(x)))


class MultiIOTestModel(tf.keras.Model):
    """Two inputs and two outputs, which share a layer."""

    def __init__(self, use_bn: bool = False, use_dp: bool = False, num_classes: tuple[int, int] = (2, 3)):
        super().__init__(name="test_model")
        self.use_bn, self.use_dp, self.num_classes = use_bn, use_dp, num_classes
        self.dense1 = Dense(32, activation="relu")
        self.dense2 = Dense(num_classes[0], activation="softmax")
        self.dense3 = Dense(num_classes[1], activation="softmax")
        if use_dp:
            self.dp = tf.keras.layers.Dropout(0.5)
        if use_bn:
            self.bn = BatchNormalization()

    def call(self, inputs: Any) -> Any:
        first, second = map(self.dense1, inputs)
        first = self.dp(first) if self.use_dp else first
        second = self.bn(second) if self.use_bn else second
        return [self.dense2(first), self.dense3(second)]


class _Nested(tf.keras.Model):
    """A model inside another, between two dense layers."""

    def __init__(self, name: str, num_classes: int, inner: Any):
        super().__init__(name=name)
        self.num_classes = num_classes
        self.dense1 = Dense(32, activation="relu")
        self.dense2 = Dense(num_classes, activation="relu")
        self.bn = BatchNormalization()
        self.test_net = inner()

    def call(self, inputs: Any) -> Any:
        return self.dense2(self.test_net(self.bn(self.dense1(inputs))))


class NestedTestModel1(_Nested):
    """A subclass inside a subclass."""

    def __init__(self, num_classes: int = 2):
        super().__init__(
            "nested_model_1", num_classes, lambda: SimpleTestModel(num_classes=4, use_bn=True, use_dp=True)
        )


class NestedTestModel2(_Nested):
    """A functional model inside a subclass."""

    def __init__(self, num_classes: int = 2):
        super().__init__("nested_model_2", num_classes, lambda: self.get_functional_graph_model(32, 4))

    @staticmethod
    def get_functional_graph_model(input_dim: int, num_classes: int) -> Any:
        """The model inside."""
        inputs = tf.keras.Input(shape=(input_dim,))
        x = BatchNormalization()(Dense(32, activation="relu")(inputs))
        return tf.keras.Model(inputs, Dense(num_classes)(x))


class _Inner(tf.keras.Model):
    def __init__(self) -> None:
        super().__init__(name="inner")
        self.dense1 = Dense(32, activation="relu")
        self.dense2 = Dense(5, activation="relu")
        self.bn = BatchNormalization()

    def call(self, inputs: Any) -> Any:
        return self.bn(self.dense2(self.dense1(inputs)))


def get_nested_model_3(input_dim: int, num_classes: int) -> Any:
    """A subclass inside a functional model.

    Args:
      input_dim: The size of the input.
      num_classes: The size of the output.

    Returns:
      The model.
    """
    inputs = tf.keras.Input(shape=(input_dim,))
    x = BatchNormalization()(Dense(32, activation="relu")(inputs))
    return tf.keras.Model(inputs, Dense(num_classes)(_Inner()(x)), name="nested_model_3")


class CustomCallModel(tf.keras.Model):
    """Its call takes two inputs and a word."""

    def __init__(self) -> None:
        super().__init__()
        self.dense1 = Dense(1, activation="relu")
        self.dense2 = Dense(1, activation="softmax")

    def call(self, first: Any, second: Any, fiddle_with_output: str = "no", training: Any = True) -> Any:
        combined = self.dense1(first) + self.dense2(second)
        return 10.0 * combined if fiddle_with_output == "yes" else combined


class _OneDense(tf.keras.Model):
    def __init__(self) -> None:
        super().__init__()
        self.dense1 = Dense(1)


class TrainingNoDefaultModel(_OneDense):
    """Its call must be told whether the model is trained."""

    def call(self, x: Any, training: Any) -> Any:
        return self.dense1(x)


class TrainingMaskingModel(_OneDense):
    """Its call takes a mask."""

    def call(self, x: Any, training: Any = False, mask: Any = None) -> Any:
        return self.dense1(x)
