"""Which values a feature may have: domains made from statistics, and fitted to them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from tideflow.pipeline.messages.schema import FeatureType
from tideflow.pipeline.schema.reasons import Reason, digits
from tideflow.pipeline.schema.statistics_views import BYTES, FLOAT, INT, QUANTILES, STRING, FeatureView

_TRUE = ("", "1", "SET", "TRUE", "set", "true")
_FALSE = ("0", "CLEAR", "FALSE", "clear", "false")
_NON_BOOLEAN = "Non-boolean values"
_INVALID = "Invalid values"
_OUT_OF_RANGE = "Out-of-range values"
_MIN_INT64, _MAX_INT64 = -(2**63), 2**63 - 1
_INTEGER = re.compile(r"[+-]?[0-9]+")
_NUMBER = re.compile(r"[+-]?(inf(inity)?|nan|([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?)", re.IGNORECASE)


def clear_domain(feature: Any) -> None:
    """Takes the domain from a feature, of whatever kind it is."""
    kind = feature.WhichOneof("domain_info")
    if kind:
        feature.ClearField(kind)


# Booleans


def set_bool_domain(view: FeatureView, feature: Any) -> bool:
    """Gives a feature a domain of booleans if all its values look like such.

    Returns:
      Whether they do.
    """
    if view.type == INT:
        stats = view.data.num_stats
        if not (stats.min >= 0.0 and stats.max == 1.0):
            return False
        feature.bool_domain.SetInParent()
        return True
    values = list(view.counts)
    true = [value for value in values if value in _TRUE]
    false = [value for value in values if value in _FALSE]
    if view.type != STRING or not values or len(true) > 1 or len(false) > 1:
        return False
    if len(true) + len(false) < len(values):
        return False
    feature.bool_domain.SetInParent()
    if true:
        feature.bool_domain.true_value = true[0]
    if false:
        feature.bool_domain.false_value = false[0]
    return True


def fit_bool_domain(view: FeatureView, feature: Any) -> list[Reason]:
    """Makes an integer or float domain of one of booleans, or drops it."""
    domain = feature.bool_domain
    named = [name for name in ("true_value", "false_value") if domain.HasField(name)]
    if view.type == STRING:
        return _fit_bool_strings(view, feature, {getattr(domain, name) for name in named})
    if view.type not in (INT, FLOAT):
        return []
    stats = view.data.num_stats
    low, high = stats.min, stats.max
    if view.type == INT and view.counts:  # counted as categories, which integers with this domain are
        found = _integers(view)
        low, high = found if isinstance(found, tuple) else (low, high)
    reason: Reason | None
    if named:
        kind = "INT type." if view.type == INT else "FLOAT type: converting to float_domain."
        why = f"User-defined boolean values are not permitted for features of {kind}"
        reason = Reason("BOOL_TYPE_INVALID_CONFIG", "Invalid BoolDomain", why)
    else:
        reason = _not_boolean_integers(low, high) if view.type == INT else _not_boolean_floats(stats)
    if reason is None:
        return []
    domain = feature.int_domain if view.type == INT else feature.float_domain
    number = _int64 if view.type == INT else float
    domain.max, domain.min = number(high), number(low)
    return [reason]


def _not_boolean_integers(low: float, high: float) -> Reason | None:
    if low >= 0 and high <= 1:
        return None
    kind, outside = ("BOOL_TYPE_SMALL_INT", low) if low < 0 else ("BOOL_TYPE_BIG_INT", high)
    why = f"Integers (such as {digits(outside)}) not in {{0, 1}}: converting to an integer."
    return Reason(kind, _NON_BOOLEAN, why)


def _not_boolean_floats(stats: Any) -> Reason | None:
    why = next(_signs_of_other_floats(stats), None)
    if why is None:
        return None
    return Reason("BOOL_TYPE_UNEXPECTED_FLOAT", _NON_BOOLEAN, f"{why}: converting to float_domain.")


def _signs_of_other_floats(stats: Any) -> Iterator[str]:
    for number in (stats.min, stats.max):
        if number not in (0.0, 1.0):
            yield f"Floats (such as {digits(number)}) not in {{0, 1}}"
    for histogram in stats.histograms:
        if histogram.num_nan > 0:
            yield "Floats (such as NaN) not in {0, 1}"
        for bucket in histogram.buckets:
            if bucket.sample_count <= 0:
                continue
            if bucket.high_value < 0:
                yield "Float values < 0 not in {0, 1}"
            elif bucket.low_value > 1:
                yield "Float values > 1 not in {0, 1}"
            elif histogram.type == QUANTILES and bucket.high_value < 1 and bucket.low_value > 0:
                yield "Float values falling between 0 and 1"


def _fit_bool_strings(view: FeatureView, feature: Any, valid: set[str]) -> list[Reason]:
    for value in view.counts:
        if value not in valid:
            named = '{"' + '", "'.join(sorted(valid, key=str.encode)) + '"}' if valid else "{}"
            feature.ClearField("bool_domain")
            why = f'Saw unexpected value "{value}" instead of {named}.'
            return [Reason("BOOL_TYPE_UNEXPECTED_STRING", _NON_BOOLEAN, why)]
    return []


# Integers


def _int64(number: float) -> int:
    return max(_MIN_INT64, min(_MAX_INT64, int(number)))


def _parsed_integer(text: str) -> int | None:
    found = _INTEGER.fullmatch(text.strip(" \t\n\v\f\r"))
    number = int(found.group()) if found else None
    return number if number is not None and _MIN_INT64 <= number <= _MAX_INT64 else None


def _integers(view: FeatureView) -> tuple[int, int] | str | None:
    """The range of the integers that values are or spell, or a value that is none; None without values."""
    values = list(view.counts)
    if view.type == INT and not values:
        stats = view.data.num_stats
        for number in (stats.min, stats.max):
            if not -(2.0**63) <= number <= 2.0**63:
                return f"{number:f}"
        return _int64(stats.min), _int64(stats.max)
    if view.type not in (INT, BYTES, STRING):
        return None
    numbers = []
    for value in values:
        number = _parsed_integer(value)
        if number is None:
            return value
        numbers.append(number)
    return (min(numbers), max(numbers)) if numbers else None


def spells_integers(view: FeatureView) -> bool:
    """Whether all values are strings that spell integers."""
    return view.type == STRING and not view.has_invalid_utf8 and isinstance(_integers(view), tuple)


def fit_int_domain(view: FeatureView, feature: Any) -> list[Reason]:
    """Widens an integer domain, or drops it where values are no integers."""
    domain, found = feature.int_domain, _integers(view)
    if isinstance(found, str):
        return _drop_int_domain(view, feature, found)
    if found is None:
        return []
    reasons = []
    if domain.HasField("min") and found[0] < domain.min:
        domain.min = found[0]
        reasons.append(Reason("INT_TYPE_SMALL_INT", _OUT_OF_RANGE, f"Unexpectedly small value: {found[0]}."))
    if domain.HasField("max") and found[1] > domain.max:
        domain.max = found[1]
        reasons.append(Reason("INT_TYPE_BIG_INT", _OUT_OF_RANGE, f"Unexpectedly large value: {found[1]}."))
    return reasons


def _drop_int_domain(view: FeatureView, feature: Any, value: str) -> list[Reason]:
    bounded = feature.int_domain.HasField("min") or feature.int_domain.HasField("max")
    if view.type != INT:
        why = f'String values that were not ints were found, such as "{value}".'
        reason = Reason("INT_TYPE_NOT_INT_STRING", _INVALID, why)
    elif bounded:
        why = f'Integer had values that were not valid Int64, such as "{value}".'
        reason = Reason("DOMAIN_INVALID_FOR_TYPE", _INVALID, why)
    else:
        return []
    feature.ClearField("int_domain")
    return [reason]


# Floats


def _parsed_float(text: str) -> float | None:
    text = text.strip(" \t\n\v\f\r")
    return float(np.float32(float(text))) if _NUMBER.fullmatch(text) else None


def _floats(view: FeatureView) -> tuple[float, float] | str | None:
    """The range of the floats that values are or spell, or a value that is none; None without values."""
    if view.type == FLOAT:
        stats = view.data.num_stats
        with np.errstate(over="ignore"):
            return float(np.float32(stats.min)), float(np.float32(stats.max))
    if view.type not in (BYTES, STRING):
        return None
    low = high = None
    for value in view.counts:
        with np.errstate(over="ignore"):
            number = _parsed_float(value)
        if number is None:
            return value
        # A NaN that comes first stays, any other changes nothing: comparisons with it are false.
        low = number if low is None or number < low else low
        high = number if high is None or number > high else high
    return None if low is None or high is None else (low, high)


def _has_nan(view: FeatureView) -> bool:
    if view.type == FLOAT:
        return any(histogram.num_nan > 0 for histogram in view.data.num_stats.histograms)
    parsed = [_parsed_float(value) for value in view.counts] if view.type == STRING else []
    return any(number is not None and math.isnan(number) for number in parsed)


def fit_float_domain(view: FeatureView, feature: Any) -> list[Reason]:
    """Widens a float domain, or drops it where values are no floats."""
    domain = feature.float_domain
    reasons = []
    if domain.disallow_nan and _has_nan(view):
        domain.disallow_nan = False
        reasons.append(Reason("FLOAT_TYPE_HAS_NAN", _INVALID, "Float feature has NaN values."))
    found = _floats(view)
    if isinstance(found, str):
        feature.ClearField("float_domain")
        why = f'String values that were not floats were found, such as "{found}".'
        return [*reasons, Reason("FLOAT_TYPE_STRING_NOT_FLOAT", _INVALID, why)]
    if found is None:
        return reasons
    low, high = found
    if domain.HasField("min") and low < domain.min:
        range_text = f"{digits(low)}<{digits(domain.min)}(upto six significant digits)"
        reasons.append(
            Reason("FLOAT_TYPE_SMALL_FLOAT", _OUT_OF_RANGE, f"Unexpectedly low values: {range_text}")
        )
        domain.min = low
    if domain.HasField("max") and high > domain.max:
        range_text = f"{digits(high)}>{digits(domain.max)}(upto six significant digits)"
        reasons.append(
            Reason("FLOAT_TYPE_BIG_FLOAT", _OUT_OF_RANGE, f"Unexpectedly high value: {range_text}")
        )
        domain.max = high
    if domain.disallow_inf and (math.isinf(low) or math.isinf(high)):
        domain.disallow_inf = False
        reasons.append(Reason("FLOAT_TYPE_HAS_INF", _INVALID, "Float feature has Inf values."))
    return reasons


# Strings


def fit_string_domain(view: FeatureView, domain: Any, max_off_domain: float) -> tuple[list[Reason], bool]:
    """Adds the values that a domain of strings lacks.

    Returns:
      The reasons, and whether the domain is to be dropped.
    """
    if view.has_invalid_utf8:
        why = "Found strings that were not valid UTF8 strings."
        return [Reason("ENUM_TYPE_INVALID_UTF8", "Invalid UTF8 strings", why)], True
    known = set(domain.value)
    missing = {value: count for value, count in view.counts.items() if value not in known}
    total = view.total_values
    share = sum(missing.values()) / total if total else math.nan
    if not (share > max_off_domain or (max_off_domain == 0 and missing)):
        return [], False
    domain.value.extend(missing)
    listed = ", ".join(f"{_escaped(value)} ({_percentage(int(n), total)})" for value, n in missing.items())
    why = f"Examples contain values missing from the schema: {listed}. "
    return [Reason("ENUM_TYPE_UNEXPECTED_STRING_VALUES", "Unexpected string values", why)], False


def _percentage(count: float, total: float) -> str:
    if not total:
        return "?"
    percent = 100 * count / total
    return "<1%" if percent < 1.0 else f"~{math.floor(percent)}%"


_ESCAPES = {"\n": r"\n", "\r": r"\r", "\t": r"\t", '"': r"\"", "'": r"\'", "\\": r"\\"}


def _escaped(text: str) -> str:
    return "".join(
        _ESCAPES.get(char) or (f"\\{ord(char):03o}" if ord(char) < 32 or ord(char) == 127 else char)
        for char in text
    )


ALLOWED_TYPES = {
    domain: {FeatureType.Value(name) for name in names}
    for domain, names in {
        "domain": ("BYTES",),
        "bool_domain": ("INT", "BYTES", "FLOAT"),
        "int_domain": ("INT", "BYTES"),
        "float_domain": ("FLOAT", "BYTES"),
        "string_domain": ("BYTES",),
        "struct_domain": ("STRUCT",),
        "natural_language_domain": ("INT", "BYTES"),
        "image_domain": ("BYTES",),
        "mid_domain": ("BYTES",),
        "url_domain": ("BYTES",),
        "time_domain": ("INT", "BYTES"),
    }.items()
}
