"""Schemas and statistics as text, with every kind of fault: what both sides validate."""

import struct as struct_module


def common(present=10, missing=0, values=(1, 1), total=None, levels=(), weights=None):
    """The text of CommonStatistics; `levels` are (missing, least, most) of each level of nesting."""
    low, high = values
    text = f"num_non_missing: {present} num_missing: {missing} min_num_values: {low} max_num_values: {high} "
    text += f"avg_num_values: {high} tot_num_values: {present * high if total is None else total} "
    for level_missing, level_low, level_high in levels:
        text += (
            f"presence_and_valency_stats {{ num_non_missing: {present} num_missing: {level_missing} "
            f"min_num_values: {level_low} max_num_values: {level_high} }} "
        )
    if weights:
        there, missing, total = weights
        inner = f"num_non_missing: {there} num_missing: {missing} tot_num_values: {total}"
        text += f"weighted_common_stats {{ {inner} }} "
    return f"common_stats {{ {text} }}"


def histogram(*buckets, kind="STANDARD", nan=0):
    inner = " ".join(f"buckets {{ low_value: {a} high_value: {b} sample_count: {n} }}" for a, b, n in buckets)
    return f"histograms {{ num_nan: {nan} type: {kind} {inner} }}"


def number(name, low=0.0, high=5.0, kind="INT", more="", custom="", **kwargs):
    return (
        f'features {{ path {{ step: "{name}" }} type: {kind} num_stats {{ {common(**kwargs)} '
        f"min: {low} max: {high} {more} }} {custom} }}"
    )


def ranks(counts):
    return " ".join(
        f'buckets {{ low_rank: {i} high_rank: {i} label: "{value}" sample_count: {count} }}'
        for i, (value, count) in enumerate(counts.items())
    )


def string(name, counts=None, kind="STRING", more="", custom="", unique=None, **kwargs):
    counts = {"a": 6, "b": 4} if counts is None else counts
    unique = len(counts) if unique is None else unique
    kwargs.setdefault("total", int(sum(counts.values())))
    steps = " ".join(f'step: "{step}"' for step in (name if isinstance(name, tuple) else (name,)))
    return (
        f"features {{ path {{ {steps} }} type: {kind} string_stats {{ {common(**kwargs)} unique: {unique} "
        f"rank_histogram {{ {ranks(counts)} }} {more} }} {custom} }}"
    )


def raw(name, biggest=100, custom="", **kwargs):
    return (
        f'features {{ path {{ step: "{name}" }} type: BYTES bytes_stats {{ {common(**kwargs)} unique: 3 '
        f"max_num_bytes_int: {biggest} }} {custom} }}"
    )


def struct(name, **kwargs):
    return f'features {{ path {{ step: "{name}" }} type: STRUCT struct_stats {{ {common(**kwargs)} }} }}'


def composite(name, *custom, kind="STRUCT"):
    return f'features {{ path {{ step: "{name}" }} type: {kind} {" ".join(custom)} }}'


def custom_number(name, value):
    return f'custom_stats {{ name: "{name}" num: {value} }}'


def custom_ranks(name, counts):
    return f'custom_stats {{ name: "{name}" rank_histogram {{ {ranks(counts)} }} }}'


def dataset(*features, examples=10, weighted=0.0):
    head = f"num_examples: {examples} weighted_num_examples: {weighted}"
    return f"datasets {{ {head} {' '.join(features)} }}"


def feature(name, text, kind="BYTES"):
    return f'feature {{ name: "{name}" type: {kind} {text} }}'


CASES = {}


def case(name, schema, statistics, **more):
    assert name not in CASES, name
    CASES[name] = {"schema": schema, "statistics": statistics, **more}


ALWAYS = "presence { min_fraction: 1 min_count: 1 }"
DOMAIN = 'string_domain { name: "d" value: "a" value: "b" }'
COMPARED = {"a": 50, "b": 30, "c": 20}

# Columns
case("nothing wrong", feature("x", f'{ALWAYS} domain: "d"') + DOMAIN, dataset(string("x")))
case("new column", "", dataset(number("x"), string("y"), raw("z"), string("w", {"1": 3, "2": 7})))
case("missing column", feature("x", ALWAYS) + feature("y", ALWAYS, "INT"), dataset(string("x")))
case("missing column, not required", feature("y", "presence { min_count: 0 }", "INT"), dataset(string("x")))
case("no data", feature("x", ALWAYS), dataset(examples=0))
case("new struct", "", dataset(struct("s"), string(("s", "x")), string(("s", "y"), {"true": 5, "false": 5})))
STRUCT_SCHEMA = feature(
    "s", "struct_domain { " + feature("x", 'string_domain { value: "a" }') + " }", "STRUCT"
)
case("in a struct", STRUCT_SCHEMA, dataset(struct("s"), string(("s", "x")), string(("s", "y"))))
MISSING_IN_STRUCT = feature("s", "struct_domain { " + feature("x", ALWAYS) + " }", "STRUCT")
case("missing in a struct", MISSING_IN_STRUCT, dataset(struct("s")))
case(
    "strange names", "", dataset(string("a.b"), string("it's"), string("(ext.x)"), string("f(x)"), string(""))
)
for stage in ("PLANNED", "ALPHA", "BETA", "PRODUCTION", "DEPRECATED", "DEBUG_ONLY", "DISABLED"):
    case(f"stage {stage}", feature("x", f"lifecycle_stage: {stage} {ALWAYS}", "INT"), dataset(string("x")))
    case(f"missing, stage {stage}", feature("x", f"lifecycle_stage: {stage} {ALWAYS}"), dataset(string("y")))
case("deprecated", feature("x", "deprecated: true", "INT"), dataset(string("x")))

# Environments
ENVIRONMENTS = 'default_environment: "TRAINING" default_environment: "SERVING" '
LABEL = feature("label", f'{ALWAYS} not_in_environment: "SERVING"') + ENVIRONMENTS
case("label in training", LABEL, dataset(string("label")), environment="TRAINING")
case(
    "label missing in training",
    LABEL,
    dataset(string("label", present=0, missing=10)),
    environment="TRAINING",
)
case("label gone in training", LABEL, dataset(string("z")), environment="TRAINING")
case("label gone in serving", LABEL, dataset(string("z")), environment="SERVING")
case("label in serving", LABEL, dataset(string("label")), environment="SERVING")
case("label absent in serving", LABEL, dataset(string("label", present=0, missing=10)), environment="SERVING")
IN_ONE = feature("x", f'{ALWAYS} in_environment: "OTHER"') + 'default_environment: "OTHER"' + ENVIRONMENTS
case("in another environment", IN_ONE, dataset(string("x")), environment="OTHER")

# Presence, number of values, shape
case("count too low", feature("x", "presence { min_count: 20 }"), dataset(string("x")))
case(
    "fraction too low",
    feature("x", "presence { min_fraction: 0.9 }"),
    dataset(string("x", present=5, missing=5)),
)
ALMOST = dataset(string("x", present=9007199254740993, missing=1), examples=9007199254740994)
case("almost everywhere", feature("x", "presence { min_fraction: 1 }"), ALMOST)
case(
    "both too low",
    feature("x", "presence { min_fraction: 1 min_count: 8 }"),
    dataset(string("x", present=5, missing=5)),
)
case("in no example", feature("x", ALWAYS), dataset(string("x", present=0, missing=10)))
case("too few values", feature("x", "value_count { min: 2 max: 3 }"), dataset(string("x", values=(1, 3))))
case("no values", feature("x", "value_count { min: 1 max: 1 }"), dataset(string("x", values=(0, 1))))
case("too many values", feature("x", "value_count { min: 1 max: 1 }"), dataset(string("x", values=(1, 4))))
NESTED = ((0, 1, 2), (0, 0, 5))
case("too deep", feature("x", "value_count { min: 1 }"), dataset(string("x", levels=NESTED)))
COUNTS = "value_counts { value_count { min: 2 max: 2 } value_count { min: 1 max: 3 } }"
case("levels out of bounds", feature("x", COUNTS), dataset(string("x", levels=NESTED)))
case("another number of levels", feature("x", COUNTS), dataset(string("x", levels=(*NESTED, (0, 2, 2)))))
case("one level for two", feature("x", COUNTS), dataset(string("x")))
case("new and nested", "", dataset(string("x", levels=NESTED), string("y", levels=((0, 2, 2), (0, 3, 3)))))
SHAPE = "shape { dim { size: 2 } dim { size: 3 } }"
case("shape fits", feature("x", SHAPE), dataset(string("x", values=(6, 6))))
case("shape nested fits", feature("x", SHAPE), dataset(string("x", levels=((0, 2, 2), (0, 3, 3)))))
case("shape of another size", feature("x", SHAPE), dataset(string("x", values=(5, 5))))
case("shape varies", feature("x", SHAPE), dataset(string("x", values=(5, 6))))
case("shape with gaps", feature("x", SHAPE), dataset(string("x", values=(6, 6), present=8, missing=2)))
case("scalar shape", feature("x", "shape { }"), dataset(string("x")))
UNIQUE = "unique_constraints { min: 3 max: 4 }"
case("too few distinct", feature("x", UNIQUE), dataset(string("x")))
case("too many distinct", feature("x", UNIQUE), dataset(string("x", unique=9)))
case("distinct not counted", feature("x", UNIQUE, "INT"), dataset(number("x")))
case("distinct bytes", feature("x", UNIQUE), dataset(raw("x")))

# Types
KINDS = {"INT": number("x"), "FLOAT": number("x", kind="FLOAT"), "STRING": string("x"), "BYTES": raw("x")}
KINDS["STRUCT"] = struct("x")
for kind, made in KINDS.items():
    for wanted in ("INT", "FLOAT", "BYTES", "STRUCT"):
        case(f"{kind} for {wanted}", feature("x", "", wanted), dataset(made))

# Domains
STRING_DOMAIN = feature("x", 'string_domain { value: "a" }')
case(
    "unexpected strings",
    feature("x", 'domain: "d"') + DOMAIN,
    dataset(string("x", {"a": 900, "c": 99, "é": 9, 'q\\"\\n\\001': 1})),
)
case("unexpected strings of one", STRING_DOMAIN, dataset(string("x")))
case(
    "unexpected, little mass",
    feature("x", 'domain: "d" distribution_constraints { min_domain_mass: 0.9 }') + DOMAIN,
    dataset(string("x", {"a": 95, "z": 5})),
)
case(
    "unexpected, much mass",
    feature("x", 'domain: "d" distribution_constraints { min_domain_mass: 0.9 }') + DOMAIN,
    dataset(string("x", {"a": 80, "z": 20})),
)
case("fractional counts", STRING_DOMAIN, dataset(string("x", {"a": 80, "z": 1.9}, total=82)))
case("unexpected without total", STRING_DOMAIN, dataset(string("x", {"a": 8, "z": 2}, total=0)))
case(
    "invalid UTF-8",
    feature("x", 'domain: "d"') + feature("y", 'domain: "d"') + DOMAIN,
    dataset(string("x", more="invalid_utf8_count: 2"), string("y")),
)
case("invalid UTF-8 of one", STRING_DOMAIN, dataset(string("x", more="invalid_utf8_count: 2")))
case("invalid UTF-8 and new", "", dataset(string("x", more="invalid_utf8_count: 2")))
BOOL = feature("x", "bool_domain { }", "INT")
case("boolean", BOOL, dataset(number("x", 0, 1)))
case("boolean too small", BOOL, dataset(number("x", -2, 1)))
case("boolean too big", BOOL, dataset(number("x", 0, 1234567)))
case("boolean of categories", BOOL, dataset(string("x", {"0": 5, "1": 4, "7": 1}, kind="INT")))
case("boolean both", BOOL, dataset(number("x", -3, 7)))
BOOL_FLOAT = feature("x", "bool_domain { }", "FLOAT")
for name, made in {
    "fits": number(
        "x",
        0,
        1,
        "FLOAT",
        histogram((0, 0.1, 5), (0.9, 1, 5)) + histogram((0, 0, 5), (0, 1, 5), kind="QUANTILES"),
    ),
    "min": number("x", 0.25, 1, "FLOAT"),
    "max": number("x", 0, 3.5, "FLOAT"),
    "nan": number("x", 0, 1, "FLOAT", histogram((0, 1, 5), nan=2)),
    "below": number("x", 0, 1, "FLOAT", histogram((-2, -1, 5))),
    "above": number("x", 0, 1, "FLOAT", histogram((1.5, 2, 5))),
    "between": number("x", 0, 1, "FLOAT", histogram((0, 0.3, 5), (0.4, 0.6, 5), kind="QUANTILES")),
    "between, standard": number("x", 0, 1, "FLOAT", histogram((0.4, 0.6, 5))),
    "between, empty": number("x", 0, 1, "FLOAT", histogram((0.4, 0.6, 0), kind="QUANTILES")),
}.items():
    case(f"boolean float: {name}", BOOL_FLOAT, dataset(made))
BOOL_STRING = feature("x", 'bool_domain { true_value: "yes" false_value: "no" }')
case("boolean strings", BOOL_STRING, dataset(string("x", {"yes": 6, "no": 4})))
case("other strings", BOOL_STRING, dataset(string("x", {"yes": 6, "maybe": 4})))
case("strings of a boolean without", feature("x", "bool_domain { }"), dataset(string("x")))
case("strings of half a boolean", feature("x", 'bool_domain { true_value: "a" }'), dataset(string("x")))
case("named integers", feature("x", 'bool_domain { true_value: "1" }', "INT"), dataset(number("x", 0, 1)))
case(
    "named floats",
    feature("x", 'bool_domain { false_value: "0" }', "FLOAT"),
    dataset(number("x", 0, 1, "FLOAT")),
)
case(
    "equal truths",
    feature("x", 'bool_domain { true_value: "a" false_value: "a" }'),
    dataset(string("x", {"a": 10})),
)
case(
    "repeated strings",
    feature("x", 'string_domain { value: "a" value: "b" value: "a" }'),
    dataset(string("x")),
)
RANGE = feature("x", "int_domain { min: 0 max: 10 }", "INT")
case("integers too small", RANGE, dataset(number("x", -5, 3)))
case("integers too big", RANGE, dataset(number("x", 0, 1e15)))
case("integers both", RANGE, dataset(number("x", -5, 30)))
case("integers unbounded", feature("x", "int_domain { }", "INT"), dataset(number("x", -5, 1e30)))
case("integers beyond 64 bits", RANGE, dataset(number("x", 0, 1e30)))
case("integers below 64 bits", RANGE, dataset(number("x", -1e30, 3)))
SPELLED = feature("x", "int_domain { min: 0 max: 10 }")
case("spelled integers", SPELLED, dataset(string("x", {"12": 5, "-3": 5})))
case("spelled oddly", SPELLED, dataset(string("x", {" 7 ": 5, "+3": 5})))
case("no integers", SPELLED, dataset(string("x", {"12": 5, "x3": 5})))
case("integers too long", SPELLED, dataset(string("x", {"12": 5, "99999999999999999999": 5})))
case("categorical integers", RANGE, dataset(string("x", {"12": 5, "-3": 5}, kind="INT")))
case("new categorical integers", "", dataset(string("x", {"12": 5, "-3": 5}, kind="INT")))
FLOATS = feature("x", "float_domain { min: 0 max: 1.5 disallow_nan: true disallow_inf: true }", "FLOAT")
case("floats too low", FLOATS, dataset(number("x", -1.23456789, 1, "FLOAT")))
case("floats too high", FLOATS, dataset(number("x", 0, 1e20, "FLOAT")))
case("floats not a number", FLOATS, dataset(number("x", 0, 1, "FLOAT", histogram((0, 1, 5), nan=3))))
case("floats infinite", FLOATS, dataset(number("x", "-inf", "inf", "FLOAT")))
case("floats beyond 32 bits", FLOATS, dataset(number("x", 0, 1e300, "FLOAT")))
SPELLED_FLOATS = feature("x", "float_domain { min: 0 max: 1.5 disallow_nan: true disallow_inf: true }")
case("spelled floats", SPELLED_FLOATS, dataset(string("x", {"1.25": 5, "-3e2": 5, ".5": 2, "7.": 1})))
case("spelled infinite", SPELLED_FLOATS, dataset(string("x", {"inf": 5, "1": 5})))
case("spelled NaN", SPELLED_FLOATS, dataset(string("x", {"nan": 5, "1": 5})))
case("no floats", SPELLED_FLOATS, dataset(string("x", {"1.25": 5, "1.2.3": 5})))
case("floats of integers", FLOATS, dataset(number("x", -5, 30)))
case("new spelled floats", "", dataset(string("x", {"1.25": 5, "2.5": 5})))
for values in (
    ("TRUE",),
    ("true", "false"),
    ("1", "0"),
    ("SET", "CLEAR"),
    ("", "0"),
    ("TRUE", "true"),
    ("0",),
    ("set", "x"),
    ("1", "2"),
):
    case(f"new {values}", "", dataset(string("x", dict.fromkeys(values, 5))))
case("new integers", "", dataset(number("a", 0, 1), number("b", -1, 1), number("c", 1, 1), number("d", 0, 0)))
case(
    "new with gaps",
    "",
    dataset(
        string("x", present=5, missing=5),
        number("y", present=5, missing=5, values=(2, 2)),
        number("z", values=(0, 3)),
        number("w", values=(1, 3)),
        number("v", present=0, missing=10),
    ),
)
case(
    "new and big",
    "",
    dataset(string("x", {f"v{i}": 1 for i in range(401)}), string("y", {f"v{i}": 1 for i in range(400)})),
)
case("bytes with a domain", feature("x", 'domain: "d"') + DOMAIN, dataset(raw("x")))
case("bytes with booleans", BOOL_STRING, dataset(raw("x")))
for name, text in {
    "int": "int_domain { }",
    "time": "time_domain { }",
    "mid": "mid_domain { }",
    "url": "url_domain { }",
    "image": "image_domain { }",
    "language": "natural_language_domain { }",
    "time of day": "time_of_day_domain { }",
}.items():
    for kind in ("INT", "FLOAT", "BYTES", "STRUCT"):
        case(f"domain {name} of {kind}", feature("x", text, kind), dataset(string("x", {"1": 10})))
    case(f"domain {name} of raw bytes", feature("x", text), dataset(raw("x")))
case("struct of integers", feature("x", "struct_domain { }", "INT"), dataset(number("x")))
case("missing domain", feature("x", 'domain: "nowhere"'), dataset(string("x")))

# Schemas that contradict themselves
case("without a type", 'feature { name: "x" }', dataset(string("x")))
case("without a type but a domain", 'feature { name: "x" domain: "d" }' + DOMAIN, dataset(string("x")))
case("without a type but strings", 'feature { name: "x" string_domain { value: "a" } }', dataset(string("x")))
case("without a name", "feature { type: BYTES }", dataset(string("")))
for name, text in {
    "negative fraction": "presence { min_fraction: -1 }",
    "fraction above one": "presence { min_fraction: 1.5 }",
    "negative count": "value_count { min: -2 }",
    "most below least": "value_count { min: 3 max: 1 }",
    "negative counts": "value_counts { value_count { min: -2 } value_count { min: 3 max: 1 } }",
    "no size": "shape { dim { } }",
    "mass of booleans": 'bool_domain { true_value: "a" false_value: "b" } '
    "distribution_constraints { min_domain_mass: 0.5 }",
    "mass of integers": "int_domain { } distribution_constraints { min_domain_mass: 0.5 }",
    "mass of floats": "float_domain { } distribution_constraints { min_domain_mass: 0.5 }",
    "mass of URLs": "url_domain { } distribution_constraints { min_domain_mass: 0.5 }",
    "mass of nothing": "distribution_constraints { min_domain_mass: 0.5 }",
}.items():
    case(name, feature("x", text), dataset(string("x", values=(3, 3))))
case(
    "mass of structs",
    feature("x", "struct_domain { } distribution_constraints { min_domain_mass: 0.5 }", "STRUCT"),
    dataset(struct("x")),
)

# Domains that statistics found, images, language, derived features
FOUND = 'custom_stats { name: "domain_info" str: "mid_domain {}" }'
case("found and new", "", dataset(string("x", custom=FOUND)))
case("found", feature("x", ""), dataset(string("x", custom=FOUND)))
case("found twice", feature("x", ""), dataset(string("x", custom=FOUND + FOUND)))
case("found but known", feature("x", "url_domain { }"), dataset(string("x", custom=FOUND)))
case(
    "found nonsense", feature("x", ""), dataset(string("x", custom=FOUND.replace("mid_domain", "no_domain")))
)
case(
    "found no domain",
    feature("x", ""),
    dataset(string("x", custom=FOUND.replace("mid_domain {}", "deprecated: true"))),
)
IMAGE = feature("x", "image_domain { minimum_supported_image_fraction: 0.9 max_image_byte_size: 50 }")
case(
    "images",
    IMAGE,
    dataset(raw("x", custom=custom_ranks("image_format_histogram", {"jpeg": 7, "UNKNOWN": 2}))),
)
case("images without statistics", IMAGE, dataset(raw("x", biggest=30)))


def language(coverage=0.5, length=2.5, **tokens):
    """`nl_statistics`, on the wire; by token: fraction of sequences, least and most occurrences in one."""
    message = _double(1, coverage) + _double(2, length)
    for token, (fraction, least, most) in tokens.items():
        name = bytes([10, len(token)]) + token.encode()
        inner = name + _double(4, fraction) + _double(5, least) + _double(7, most)
        message += bytes([6 << 3 | 2, len(inner)]) + inner
    url = "type.googleapis.com/tensorflow.metadata.v0.NaturalLanguageStatistics"
    value = "".join(f"\\{byte:03o}" for byte in message)
    return f'custom_stats {{ name: "nl_statistics" any {{ type_url: "{url}" value: "{value}" }} }}'


def _double(number, value):
    return bytes([number << 3 | 1]) + struct_module.pack("<d", value)


COVERAGE = "natural_language_domain { coverage { min_coverage: 0.75 min_avg_token_length: 3.25 } }"
TOKENS = (
    'natural_language_domain { token_constraints { string_value: "tok" min_per_sequence: 3 '
    "max_per_sequence: 4 min_fraction_of_sequences: 0.5 max_fraction_of_sequences: 0.6 } }"
)
for name, spoken in {
    "fits": language(0.9, 5, tok=(0.55, 3, 4)),
    "low": language(0.5, 2.5, tok=(0.123456789, 1, 2)),
    "high": language(0.9, 5, tok=(0.9, 5, 1234567)),
    "other": language(0.9, 5, other=(0.55, 3, 4)),
    "none": "",
}.items():
    case(f"language coverage: {name}", feature("x", COVERAGE), dataset(string("x", custom=spoken)))
    case(f"language tokens: {name}", feature("x", TOKENS), dataset(string("x", custom=spoken)))
DERIVED = 'validation_derived_source { deriver_name: "made" source_path { step: "y" } }'
case("derived and new", "", dataset(string("x", custom=DERIVED)))
case("derived", feature("x", ""), dataset(string("x", custom=DERIVED)))
case(
    "derived and known",
    feature("x", DERIVED + " lifecycle_stage: VALIDATION_DERIVED"),
    dataset(string("x", custom=DERIVED)),
)
case(
    "derived, wrong stage",
    feature("x", DERIVED + " lifecycle_stage: PRODUCTION"),
    dataset(string("x", custom=DERIVED)),
)

# Sparse and weighted features
SPARSE = 'sparse_feature { name: "s" value_feature { name: "v" } index_feature { name: "i" } %s }'
FAULTS = (
    custom_number("missing_value", 3),
    custom_ranks("missing_index", {"i": 4, "j": 0}),
    custom_ranks("max_length_diff", {"i": 2}),
    custom_ranks("min_length_diff", {"i": -1}),
)
case("sparse", SPARSE % "", dataset(composite("s", *FAULTS)))
case(
    "sparse and right",
    SPARSE % "",
    dataset(composite("s", custom_number("missing_value", 0), custom_ranks("missing_index", {"i": 0}))),
)
case("sparse and deprecated", SPARSE % "lifecycle_stage: DEPRECATED", dataset(composite("s", *FAULTS)))
case("sparse, same name", SPARSE % "" + feature("s", ""), dataset(string("s")))
WEIGHTED = 'weighted_feature { name: "w" feature { step: "v" } weight_feature { step: "i" } %s }'
WEIGHT_FAULTS = (
    custom_number("missing_value", 3),
    custom_number("missing_weight", 4),
    custom_number("min_weight_length_diff", -2),
    custom_number("max_weight_length_diff", 5),
)
case("weighted", WEIGHTED % "", dataset(composite("w", *WEIGHT_FAULTS)))
case("weighted and right", WEIGHTED % "", dataset(composite("w", custom_number("missing_value", 0))))
case(
    "weighted and deprecated",
    WEIGHTED % "lifecycle_stage: DEPRECATED",
    dataset(composite("w", *WEIGHT_FAULTS)),
)
case("weighted, same name", WEIGHTED % "" + feature("w", ""), dataset(string("w")))
case(
    "weighted, same name as sparse",
    WEIGHTED % "" + SPARSE.replace('"s"', '"w"') % "",
    dataset(composite("w", *FAULTS)),
)

# Weighted statistics
W = {"weights": (7.5, 2.5, 12.0)}
HEAVY = f"weighted_string_stats {{ rank_histogram {{ {ranks({'a': 2.5, 'heavy': 9.5})} }} }}"
case("weights", STRING_DOMAIN, dataset(string("x", more=HEAVY, **W), weighted=10.0))
case(
    "weights and presence",
    feature("x", "presence { min_count: 9 min_fraction: 0.9 }"),
    dataset(string("x", more=HEAVY, **W), weighted=10.0),
)
case("weights of one only", STRING_DOMAIN, dataset(string("x", more=HEAVY, **W), string("y"), weighted=10.0))

# Drift and skew
for kind in ("drift", "skew"):
    control = {"drift": "previous", "skew": "serving"}[kind]
    for measure, threshold in (
        ("infinity_norm", 0.1),
        ("jensen_shannon_divergence", 0.01),
        ("normalized_abs_difference", 0.05),
    ):
        compared = feature("x", f"{kind}_comparator {{ {measure} {{ threshold: {threshold} }} }}")
        case(
            f"{kind}, {measure}",
            compared,
            dataset(string("x", COMPARED)),
            **{control: dataset(string("x", {"a": 20, "c": 30, "d": 10}))},
        )
        case(
            f"{kind}, {measure}, near",
            compared,
            dataset(string("x", COMPARED)),
            **{control: dataset(string("x", {"a": 51, "b": 30, "c": 20}))},
        )
        case(
            f"{kind}, {measure}, ties",
            compared,
            dataset(string("x", {"a": 5, "b": 5})),
            **{control: dataset(string("x", {"c": 5, "d": 5}))},
        )
        case(
            f"{kind}, {measure}, no control",
            compared,
            dataset(string("x", COMPARED)),
            **{control: dataset(string("y"))},
        )
        case(f"{kind}, {measure}, no data", compared, dataset(string("x", COMPARED)))
        case(
            f"{kind}, {measure}, empty",
            compared,
            dataset(string("x", COMPARED)),
            **{control: dataset(string("x", {}))},
        )
ALL_MEASURES = (
    "drift_comparator { infinity_norm { threshold: 0.01 } jensen_shannon_divergence { threshold: 0.001 } "
    "normalized_abs_difference { threshold: 0.01 } }"
)
case(
    "all measures",
    feature("x", ALL_MEASURES + ALL_MEASURES.replace("drift", "skew")),
    dataset(string("x", COMPARED)),
    previous=dataset(string("x", {"a": 20, "c": 30})),
    serving=dataset(string("x", {"q": 20})),
)
case(
    "all measures, no control",
    feature("x", ALL_MEASURES),
    dataset(string("x", COMPARED)),
    previous=dataset(string("y")),
)
STANDARD = histogram((0, 1, 5), (1, 2, 3), (2, 4, 2))
OTHER = histogram((0.5, 1.5, 4), (1.5, 3, 4), (3, 5, 1))
QUANTILES = histogram((0, 0.5, 4), (0.5, 4, 6), kind="QUANTILES")
for name, (a, b) in {
    "numbers": (STANDARD, OTHER),
    "same numbers": (STANDARD, STANDARD),
    "points": (histogram((1, 1, 5), (1, 3, 5)), histogram((1, 1, 2), (2, 2, 4), (2, 3, 5))),
    "infinite": (histogram(("-inf", 0, 2), (0, 2, 5), (2, "inf", 1)), histogram((0, 1, 5), (1, "inf", 3))),
    "nan": (histogram((0, 2, 5), nan=3), histogram((0, 1, 5), nan=2)),
    "nan of one": (histogram((0, 2, 5), nan=3), histogram((0, 1, 5))),
    "nan, same boundaries": (histogram((0, 2, 5), nan=3), histogram((0, 2, 4), nan=2)),
    "empty": (histogram(), histogram((0, 1, 5))),
    "far": (histogram((0, 1, 5)), histogram((7, 9, 5))),
    "quantiles": (STANDARD + QUANTILES, QUANTILES.replace("0.5", "1.5") + OTHER),
    "only quantiles": (QUANTILES, QUANTILES.replace("0.5", "1.5")),
    "none": ("", ""),
}.items():
    for source in ("", "source { }", "source { type: QUANTILES }", "source { type: STANDARD }"):
        compared = feature(
            "x", f"drift_comparator {{ jensen_shannon_divergence {{ threshold: 0.001 {source} }} }}", "FLOAT"
        )
        case(
            f"divergence of {name} {source}".strip(),
            compared,
            dataset(number("x", 0, 5, "FLOAT", a)),
            previous=dataset(number("x", 0, 5, "FLOAT", b)),
        )
NUMERIC_LINF = feature("x", "drift_comparator { infinity_norm { threshold: 0.1 } }", "FLOAT")
case(
    "L-infinity of numbers",
    NUMERIC_LINF,
    dataset(number("x", kind="FLOAT")),
    previous=dataset(number("x", kind="FLOAT")),
)

# The dataset
SIZES = "dataset_constraints { %s }"
case("examples too few", SIZES % "min_examples_count: 20", dataset(string("y")))
case("examples too many", SIZES % "max_examples_count: 5", dataset(string("y")))
case("examples bounded", SIZES % "min_examples_count: 1 max_examples_count: 5", dataset(string("y")))
case(
    "examples many",
    SIZES % "min_examples_count: 1 max_examples_count: 5",
    dataset(string("y"), examples=12345678),
)
for comparator, control in (("drift", "previous"), ("version", "previous_version")):
    thresholds = "min_fraction_threshold: 0.9 max_fraction_threshold: 1.1"
    bounds = SIZES % f"num_examples_{comparator}_comparator {{ {thresholds} }}"
    for examples in (0, 3, 10, 77):
        case(
            f"examples, {comparator} of {examples}",
            bounds,
            dataset(string("y")),
            **{control: dataset(string("y"), examples=examples)},
        )

# Severities
case(
    "new as warning",
    feature("x", "", "INT"),
    dataset(string("x"), string("y")),
    new_features_are_warnings=True,
)
case(
    "overridden",
    feature("x", "", "INT"),
    dataset(string("x"), string("y")),
    overrides={"UNEXPECTED_DATA_TYPE": "WARNING"},
)
case(
    "overridden as unknown",
    feature("x", "", "INT"),
    dataset(string("x")),
    overrides={"UNEXPECTED_DATA_TYPE": "UNKNOWN"},
)
case(
    "overridden of two",
    feature("x", UNIQUE, "INT"),
    dataset(string("x")),
    overrides={"UNEXPECTED_DATA_TYPE": "WARNING"},
)
case(
    "overridden dataset",
    SIZES % "min_examples_count: 20",
    dataset(string("y")),
    overrides={"DATASET_LOW_NUM_EXAMPLES": "WARNING"},
)
case(
    "overridden missing",
    feature("x", ALWAYS),
    dataset(string("y")),
    overrides={"SCHEMA_MISSING_COLUMN": "WARNING"},
)
