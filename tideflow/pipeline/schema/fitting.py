"""A schema is fitted to statistics: what they contradict is loosened, and each change has a reason.

Inference fits an empty schema. Validation fits a copy of the schema for each feature: the reasons are the
feature's anomaly, and the copy is the schema that would accept it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from google.protobuf import text_format

from tideflow.pipeline.messages.anomalies import DriftSkewInfo
from tideflow.pipeline.messages.schema import FeatureType, LifecycleStage, Schema
from tideflow.pipeline.messages.statistics import FeatureNameStatistics
from tideflow.pipeline.schema import comparators, constraints, domains, semantic_domains
from tideflow.pipeline.schema.composite_features import check_sparse_feature, check_weighted_feature
from tideflow.pipeline.schema.feature_paths import path_text
from tideflow.pipeline.schema.reasons import Reason
from tideflow.pipeline.schema.statistics_views import BYTES, DatasetView, FeatureView, Steps

_DEPRECATED = LifecycleStage.Value("DEPRECATED")
_VALIDATION_DERIVED = LifecycleStage.Value("VALIDATION_DERIVED")
_NOT_VALIDATED = {
    LifecycleStage.Value(name) for name in ("PLANNED", "ALPHA", "DEPRECATED", "DEBUG_ONLY", "DISABLED")
}
_SEMANTIC = ("natural_language_domain", "image_domain", "mid_domain", "url_domain", "time_domain")
_FIT_DOMAIN = {
    "bool_domain": domains.fit_bool_domain,
    "int_domain": domains.fit_int_domain,
    "float_domain": domains.fit_float_domain,
    "image_domain": semantic_domains.fit_image_domain,
    "natural_language_domain": semantic_domains.fit_natural_language_domain,
}
# New string features of a schema that is only validated become domains up to this size.
VALIDATION_DOMAIN_SIZE = 400


def is_deprecated(feature: Any) -> bool:
    """Whether a feature, sparse feature or weighted feature is not to be validated."""
    if "deprecated" in feature.DESCRIPTOR.fields_by_name and feature.deprecated:
        return True
    return feature.HasField("lifecycle_stage") and feature.lifecycle_stage in _NOT_VALIDATED


class FittedSchema:
    """A schema that is changed until it accepts statistics."""

    def __init__(
        self,
        schema: Any,
        *,
        max_string_domain_size: int = VALIDATION_DOMAIN_SIZE,
        infer_feature_shape: bool = False,
    ) -> None:
        self.schema = Schema()
        self.schema.CopyFrom(schema)
        self._max_string_domain_size = max_string_domain_size
        self._infer_feature_shape = infer_feature_shape

    # What is there

    def find(self, path: Steps) -> Any | None:
        """The feature of a path."""
        return _named(self._siblings(path, "feature"), path[-1])

    def find_sparse(self, path: Steps) -> Any | None:
        return _named(self._siblings(path, "sparse_feature"), path[-1])

    def find_weighted(self, path: Steps) -> Any | None:
        return _named(self.schema.weighted_feature, path[-1]) if len(path) == 1 else None

    def _siblings(self, path: Steps, field: str) -> Any:
        if len(path) == 1:
            return getattr(self.schema, field)
        parent = self.find(path[:-1])
        if parent is None or parent.WhichOneof("domain_info") != "struct_domain":
            return ()
        return getattr(parent.struct_domain, field)

    def knows(self, path: Steps) -> bool:
        return any(find(path) is not None for find in (self.find, self.find_sparse, self.find_weighted))

    def skips(self, path: Steps) -> bool:
        """Whether the feature of a path is not to be validated."""
        known = [find(path) for find in (self.find, self.find_sparse, self.find_weighted)]
        first = next((feature for feature in known if feature is not None), None)
        return first is not None and is_deprecated(first)

    def in_environment(self, feature: Any, environment: str | None) -> bool:
        if environment is None or environment in feature.in_environment:
            return True
        return (
            environment not in feature.not_in_environment and environment in self.schema.default_environment
        )

    def _required(self, feature: Any, environment: str | None) -> bool:
        presence = feature.presence
        wanted = presence.min_count > 0 or presence.min_fraction > 0.0
        return wanted and not is_deprecated(feature) and self.in_environment(feature, environment)

    def missing_paths(self, view: DatasetView) -> list[Steps]:
        """Paths of required features that the statistics do not have."""
        return [path for path in self._required_paths((), view.environment) if view.find(path) is None]

    def _within(self, path: Steps) -> Any:
        """The descriptions of the features within one; of all, for no path."""
        feature = self.find(path) if path else None
        return self.schema.feature if feature is None else feature.struct_domain.feature

    def _required_paths(self, within: Steps, environment: str | None) -> Iterator[Steps]:
        features = self._within(within)
        for feature in features:
            path = (*within, feature.name)
            if self._required(feature, environment):
                yield path
            if not is_deprecated(feature) and feature.WhichOneof("domain_info") == "struct_domain":
                yield from self._required_paths(path, environment)

    # Fitting

    def fit_dataset(self, view: DatasetView) -> list[Reason]:
        if not self.schema.HasField("dataset_constraints"):
            return []
        return comparators.fit_dataset_constraints(view, self.schema.dataset_constraints)

    def drop(self, path: Steps) -> None:
        """Deprecates a feature that is completely missing."""
        feature = self.find(path)
        assert feature is not None, path
        feature.lifecycle_stage = _DEPRECATED

    def fit_recursively(self, view: FeatureView) -> list[Reason]:
        """Fits a feature and the features within it."""
        reasons, _ = self.fit_feature(view)
        if not self.skips(view.path):
            for child in view.children:
                reasons += self.fit_recursively(child)
        return reasons

    def fit_feature(self, view: FeatureView) -> tuple[list[Reason], Any | None]:
        """Fits a feature.

        Returns:
          The reasons, and the distances from control data (`DriftSkewInfo`) where there are any.
        """
        feature, sparse, weighted = (
            find(view.path) for find in (self.find, self.find_sparse, self.find_weighted)
        )
        if weighted is not None and not is_deprecated(weighted):
            others = [other for other in (feature, sparse) if other is not None]
            if others:
                return self._deprecate("Weighted feature", weighted, *others), None
            reasons = check_weighted_feature(view)
            if reasons:
                weighted.lifecycle_stage = _DEPRECATED
            return reasons, None
        if sparse is not None and not is_deprecated(sparse):
            if feature is not None and not is_deprecated(feature):
                return self._deprecate("Sparse feature", sparse, feature), None
            reasons = check_sparse_feature(view)
            if reasons:
                sparse.lifecycle_stage = _DEPRECATED
            return reasons, None
        if feature is not None:
            return self._fit_existing(view, feature)
        if view.data.WhichOneof("stats") is None:
            return [], None  # made of several columns: nothing is known of it but what is wrong
        self._create(view)
        why = "New column (column in data but not in schema)"
        return [Reason("SCHEMA_NEW_COLUMN", "New column", why)], None

    def _deprecate(self, words: str, *features: Any) -> list[Reason]:
        for feature in features:
            feature.lifecycle_stage = _DEPRECATED
        kind = f"{words.upper().replace(' ', '_')}_NAME_COLLISION"
        return [Reason(kind, f"{words} name collision", f"{words} name collision.")]

    def _create(self, view: FeatureView) -> None:
        """Adds a feature, described as loosely as its statistics allow."""
        feature = self._within(view.path[:-1]).add(name=view.path[-1], type=view.schema_type)
        constraints.set_presence_and_shape(view, feature, infer_shape=self._infer_feature_shape)
        if view.data.HasField("validation_derived_source"):
            _mark_derived(view, feature)
        if semantic_domains.set_found_domain(view, feature):
            return
        if view.has_invalid_utf8 or view.type == BYTES:
            return
        if domains.set_bool_domain(view, feature):
            return
        if domains.spells_integers(view):
            feature.int_domain.SetInParent()
        elif view.counts and len(view.counts) <= self._max_string_domain_size:
            domain = self.schema.string_domain.add(name=self._new_domain_name(path_text(view.path)))
            domains.fit_string_domain(view, domain, 0.0)
            feature.domain = domain.name

    def _new_domain_name(self, wanted: str) -> str:
        taken = {domain.name for domain in self.schema.string_domain}
        name, number = wanted, 1
        while name in taken:
            number += 1
            name = f"{wanted}{number}"
        return name

    def _fit_existing(self, view: FeatureView, feature: Any) -> tuple[list[Reason], Any | None]:
        reasons = self._mend(feature)
        if is_deprecated(feature):
            return reasons, None
        environment = view.dataset.environment
        if view.num_present == 0:
            if self._required(feature, environment):
                feature.lifecycle_stage = _DEPRECATED
                why = "The feature was not present in any examples."
                reasons.append(Reason("FEATURE_TYPE_NOT_PRESENT", "Column dropped", why))
            return reasons, None
        if environment is not None and not self.in_environment(feature, environment):
            reasons.append(self._add_environment(view, feature, environment))
        reasons += constraints.fit_value_counts(view, feature)
        reasons += constraints.fit_shape(view, feature)
        if feature.HasField("presence"):
            reasons += constraints.fit_presence(view, feature.presence)
        reasons += _fit_type(view, feature)
        reasons += self._fit_domain(view, feature)
        if feature.HasField("unique_constraints"):
            reasons += constraints.fit_unique(view, feature)
        found = DriftSkewInfo()
        for kind in ("drift", "skew"):
            if feature.HasField(f"{kind}_comparator"):
                comparator = getattr(feature, f"{kind}_comparator")
                more, measurements = comparators.fit_comparator(view, kind, comparator)
                reasons += more
                getattr(found, f"{kind}_measurements").extend(measurements)
        reasons += _fit_derived(view, feature)
        if not found.drift_measurements and not found.skew_measurements:
            return reasons, None
        found.path.step.extend(view.path)
        return reasons, found

    def _mend(self, feature: Any) -> list[Reason]:
        """Mends what contradicts itself in a feature's description."""
        if is_deprecated(feature):
            return []
        if not feature.HasField("name"):
            feature.lifecycle_stage = _DEPRECATED
            why = "unspecified name (maybe meant to be the empty string): find name rather than deprecating."
            return [Reason("FEATURE_MISSING_NAME", why)]
        reasons = []
        if not feature.HasField("type"):
            if feature.WhichOneof("domain_info") not in ("domain", "string_domain"):
                feature.lifecycle_stage = _DEPRECATED
                why = "unspecified type: determine the type and set it, rather than deprecating."
                return [Reason("FEATURE_MISSING_TYPE", why)]
            feature.type = FeatureType.Value("BYTES")
            why = "unspecified type: inferring the type to be BYTES, given the domain specified."
            reasons.append(Reason("FEATURE_MISSING_TYPE", why))
        reasons += _mend_numbers(feature)
        kind = feature.WhichOneof("domain_info")
        if kind in domains.ALLOWED_TYPES and feature.type not in domains.ALLOWED_TYPES[kind]:
            domains.clear_domain(feature)
            why = f'The domain "{kind}" does not match the type: {FeatureType.Name(feature.type)}'
            reasons.append(Reason("DOMAIN_INVALID_FOR_TYPE", "The domain does not match the type", why))
        return reasons + self._mend_domain(feature)

    def _mend_domain(self, feature: Any) -> list[Reason]:
        kind = feature.WhichOneof("domain_info")
        if kind == "domain":
            if _named(self.schema.string_domain, feature.domain) is not None:
                return []
            feature.ClearField("domain")
            return [Reason("INVALID_DOMAIN_SPECIFICATION", "missing domain: ")]
        if kind == "string_domain":
            _mend_string_domain(feature.string_domain)
            return []
        if kind == "time_of_day_domain":
            domains.clear_domain(feature)
            return [Reason("INVALID_DOMAIN_SPECIFICATION", "internal issue: unknown domain_info type")]
        if kind == "bool_domain":
            domain = feature.bool_domain
            named = domain.HasField("true_value") and domain.HasField("false_value")
            if named and domain.true_value == domain.false_value:
                domain.ClearField("false_value")
        if not feature.HasField("distribution_constraints"):
            return []
        feature.ClearField("distribution_constraints")
        if kind is None:
            why = "distribution constraints require domain or string domain."
        else:
            words = "semantic" if kind in _SEMANTIC else kind.removesuffix("_domain")
            why = f"distribution constraints not supported for {words} domains."
        return [Reason("INVALID_SCHEMA_SPECIFICATION", why)]

    def _add_environment(self, view: FeatureView, feature: Any, environment: str) -> Reason:
        kept = [other for other in feature.not_in_environment if other != environment]
        feature.ClearField("not_in_environment")
        feature.not_in_environment.extend(kept)
        if not self.in_environment(feature, environment):
            feature.in_environment.append(environment)
        why = (
            f"New column {path_text(view.path)} found in data but not in the "
            f"environment {environment} in the schema."
        )
        return Reason("SCHEMA_NEW_COLUMN", "Column missing in environment", why)

    def _fit_domain(self, view: FeatureView, feature: Any) -> list[Reason]:
        kind = feature.WhichOneof("domain_info")
        reasons = []
        if view.type == BYTES and kind not in (None, "natural_language_domain", "image_domain", "url_domain"):
            domains.clear_domain(feature)
            kind = None
            text = text_format.MessageToString(feature)
            why = f"Data is marked as BYTES with incompatible domain_info: {text}"
            reasons.append(Reason("DOMAIN_INVALID_FOR_TYPE", "Invalid domain type", why))
        if kind in _FIT_DOMAIN:
            return reasons + _FIT_DOMAIN[kind](view, feature)
        if kind in ("domain", "string_domain"):
            return reasons + self._fit_strings(view, feature, kind)
        if kind is None and semantic_domains.set_found_domain(view, feature):
            why = f"Updated semantic domain for feature: {feature.name}"
            reasons.append(Reason("SEMANTIC_DOMAIN_UPDATE", "Updated semantic domain", why))
        return reasons

    def _fit_strings(self, view: FeatureView, feature: Any, kind: str) -> list[Reason]:
        spread = feature.distribution_constraints
        off_domain = 1.0 - spread.min_domain_mass if spread.HasField("min_domain_mass") else 0.0
        shared = kind == "domain"
        domain = _named(self.schema.string_domain, feature.domain) if shared else feature.string_domain
        reasons, dropped = domains.fit_string_domain(view, domain, off_domain)
        if dropped and shared:
            self._remove_domain(feature.domain)
        elif dropped:
            domains.clear_domain(feature)
        return reasons

    def _remove_domain(self, name: str) -> None:
        """Removes a string domain that features share, and its mention in them."""

        def forget(features: Any) -> None:
            for feature in features:
                if feature.domain == name:
                    domains.clear_domain(feature)
                elif feature.WhichOneof("domain_info") == "struct_domain":
                    forget(feature.struct_domain.feature)

        forget(self.schema.feature)
        kept = [domain for domain in self.schema.string_domain if domain.name != name]
        del self.schema.string_domain[:]
        self.schema.string_domain.extend(kept)


def _named(messages: Any, name: str) -> Any | None:
    return next((message for message in messages if message.name == name), None)


def _fit_type(view: FeatureView, feature: Any) -> list[Reason]:
    if view.schema_type == feature.type:
        return []
    feature.lifecycle_stage = _DEPRECATED
    known = view.type in FeatureNameStatistics.Type.values()
    found = FeatureNameStatistics.Type.Name(view.type) if known else f"unknown({view.type})"
    why = f"Expected data of type: {FeatureType.Name(feature.type)} but got {found}"
    return [Reason("UNEXPECTED_DATA_TYPE", "Unexpected data type", why)]


def _mark_derived(view: FeatureView, feature: Any) -> None:
    feature.lifecycle_stage = _VALIDATION_DERIVED
    # Statistics have the same message in a package of their own.
    feature.validation_derived_source.ParseFromString(view.data.validation_derived_source.SerializeToString())


def _fit_derived(view: FeatureView, feature: Any) -> list[Reason]:
    reasons = []
    if view.data.HasField("validation_derived_source") and not feature.HasField("validation_derived_source"):
        _mark_derived(view, feature)
        why = "Derived source not set in schema."
        reasons.append(Reason("DERIVED_FEATURE_INVALID_SOURCE", why, why))
    stages = _VALIDATION_DERIVED, LifecycleStage.Value("DISABLED")
    if feature.HasField("validation_derived_source") and feature.lifecycle_stage not in stages:
        feature.lifecycle_stage = _VALIDATION_DERIVED
        why = "Derived feature has wrong lifecycle."
        reasons.append(Reason("DERIVED_FEATURE_BAD_LIFECYCLE", why, why))
    return reasons


def _mend_string_domain(domain: Any) -> None:
    values = list(dict.fromkeys(domain.value))
    del domain.value[:]
    domain.value.extend(values)


def _mend_numbers(feature: Any) -> list[Reason]:
    kind, reasons = "INVALID_SCHEMA_SPECIFICATION", []
    presence, value_count = feature.presence, feature.value_count
    if presence.min_fraction < 0.0:
        presence.ClearField("min_fraction")
        reasons.append(Reason(kind, "min_fraction should not be negative: clear is equal to zero"))
    if presence.min_fraction > 1.0:
        presence.min_fraction = 1.0
        reasons.append(Reason(kind, "min_fraction should not greater than 1"))
    if value_count.min < 0:
        value_count.ClearField("min")
        reasons.append(Reason(kind, "ValueCount.min should not be negative"))
    if value_count.HasField("max") and value_count.max < value_count.min:
        value_count.max = value_count.min
        reasons.append(Reason(kind, "ValueCount.max should not be less than min"))
    for i, level in enumerate(feature.value_counts.value_count):
        if level.min < 0:
            level.ClearField("min")
            why = f"ValueCounts.min at level {i} should not be negative."
            reasons.append(Reason(kind, "ValueCounts.min should not be negative", why))
        if level.HasField("max") and level.max < level.min:
            level.max = level.min
            why = f"ValueCounts.max at level {i} should not be less than min."
            reasons.append(Reason(kind, "ValueCounts.max should not be less than min", why))
    if any(dim.size <= 0 for dim in feature.shape.dim):
        feature.ClearField("shape")
        reasons.append(Reason(kind, "Shape.dim.size must be a positive integer"))
    return reasons
