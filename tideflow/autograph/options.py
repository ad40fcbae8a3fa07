"""What a conversion is asked for: how far it goes, and which of the optional features it uses."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import dataclass, field

from tideflow.export import export


@export("autograph.experimental.Feature", "contrib.autograph.Feature")
class Feature(enum.Enum):
    """Parts of AutoGraph that are used only where a conversion asks for them.

    `ALL` is every one of them. `ASSERT_STATEMENTS` makes `assert` of a tensor a `tf.Assert`,
    `AUTO_CONTROL_DEPS` has what a function returns wait for its effects, `BUILTIN_FUNCTIONS` makes `print` of
    tensors an operation, `EQUALITY_OPERATORS` compares tensors by `==` and `!=`, `LISTS` makes empty lists
    tensor lists, `NAME_SCOPES` puts the operations of a function under its name.

    Args:
      value: The name of a feature.
    """

    ALL = "ALL"
    ASSERT_STATEMENTS = "ASSERT_STATEMENTS"
    AUTO_CONTROL_DEPS = "AUTO_CONTROL_DEPS"
    BUILTIN_FUNCTIONS = "BUILTIN_FUNCTIONS"
    EQUALITY_OPERATORS = "EQUALITY_OPERATORS"
    LISTS = "LISTS"
    NAME_SCOPES = "NAME_SCOPES"

    @classmethod
    def all(cls) -> tuple[Feature, ...]:
        """Every feature."""
        return tuple(cls)

    @classmethod
    def all_but(cls, exclude: Feature | Iterable[Feature]) -> tuple[Feature, ...]:
        """Every feature but some.

        Args:
          exclude: A feature, or several.
        """
        left_out = {exclude} if isinstance(exclude, Feature) else set(exclude)
        return tuple(feature for feature in cls if feature not in left_out | {cls.ALL})


FeaturesLike = Feature | Iterable[Feature] | None


@export("contrib.autograph.ConversionOptions")
@dataclass(frozen=True)
class ConversionOptions:
    """What the code that a conversion makes depends on.

    Args:
      recursive: Whether functions that the converted function calls are converted too.
      user_requested: Whether the function is converted even if the functions of its module are not.
      internal_convert_user_code: Whether a call with these options converts what it calls.
      optional_features: A feature, several, or None.
    """

    recursive: bool = False
    user_requested: bool = False
    internal_convert_user_code: bool = True
    optional_features: FeaturesLike = field(default=Feature.ALL)

    def __post_init__(self) -> None:
        given = self.optional_features
        features = () if given is None else (given,) if isinstance(given, Feature) else given
        object.__setattr__(self, "optional_features", frozenset(features))

    def uses(self, feature: Feature) -> bool:
        """Whether a feature is asked for.

        Args:
          feature: One of `tf.autograph.experimental.Feature`.
        """
        return not {feature, Feature.ALL}.isdisjoint(self.optional_features)  # type: ignore[arg-type]

    def call_options(self) -> ConversionOptions:
        """The options for the calls in a function that was converted with these."""
        return ConversionOptions(self.recursive, False, self.recursive, self.optional_features)
