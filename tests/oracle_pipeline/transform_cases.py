"""Preprocessing functions for TFT and for Tideflow, the rows that they transform, and how both run them."""

import json
import os

NAMES = ("a", "b b", "c", "", "a\nb", "\xe9", "d-d", "e", "f", "g")


def table():
    """Rows of every kind of column, the same under each Python."""
    rows, seed = [], 7
    for _ in range(120):
        draws = []
        for _ in range(8):
            seed = (seed * 1103515245 + 12345) % (1 << 31)
            draws.append(seed / (1 << 31))
        u, v, w, p, q, r, s, t = draws
        heavy = (u - 0.5) / (0.02 + v)
        rows.append(
            {
                "x": 10 * u - 3,
                "heavy": heavy if abs(heavy) < 40 else 0.5,
                "left": -((1 / (0.02 + w)) ** 1.2),
                "constant": 4.0,
                "n": int(20 * p) - 5,
                "matrix": [u, 2 * v + u, w - v],
                "name": NAMES[int(10 * q * q)],
                "key": "abc"[int(3 * r)],
                "weight": int(8 * s) / 4 + 0.25,
                "label": int(2 * (0.3 * t + 0.7 * q)),
                "tokens": [NAMES[int(10 * d)] for d in draws[: int(5 * t)]],
                "numbers": [float(int(100 * d)) for d in draws[int(6 * t) :]],
            }
        )
    return rows


def spec(tf):
    dense = {"x": tf.float32, "heavy": tf.float32, "left": tf.float32, "constant": tf.float32, "n": tf.int64}
    dense.update(name=tf.string, key=tf.string, weight=tf.float32, label=tf.int64)
    features = {name: tf.io.FixedLenFeature([], dtype) for name, dtype in dense.items()}
    features["matrix"] = tf.io.FixedLenFeature([3], tf.float32)
    features["tokens"] = tf.io.VarLenFeature(tf.string)
    features["numbers"] = tf.io.VarLenFeature(tf.float32)
    return features


def _for_all(tf, inputs, **results):
    """Results of analyzers as columns: each row has all of them."""
    count = tf.shape(inputs["x"])[0]
    columns = {}
    for name, value in results.items():
        value = tf.cast(value, tf.float32) if value.dtype != tf.string else value
        columns[name] = tf.tile(tf.reshape(value, [1, -1]), [count, 1])
        columns[name].set_shape([None, value.shape.num_elements()])
    return columns


# Each is a preprocessing function of (tf, tft, inputs).


def scaling(tf, tft, inputs):
    x, matrix, numbers = inputs["x"], inputs["matrix"], inputs["numbers"]
    return {
        "scale_to_0_1": tft.scale_to_0_1(x),
        "scale_int": tft.scale_to_0_1(inputs["n"]),
        "scale_constant": tft.scale_to_0_1(inputs["constant"]),
        "scale_by_min_max": tft.scale_by_min_max(x, -2.0, 5.0),
        "scale_matrix": tft.scale_by_min_max(matrix, elementwise=True),
        "scale_sparse": tft.scale_to_0_1(numbers),
        "z": tft.scale_to_z_score(x),
        "z_int": tft.scale_to_z_score(inputs["n"]),
        "z_constant": tft.scale_to_z_score(inputs["constant"]),
        "z_matrix": tft.scale_to_z_score(matrix, elementwise=True),
        "z_all": tft.scale_to_z_score(matrix),
        "z_sparse": tft.scale_to_z_score(numbers),
    }


def scaling_by_key(tf, tft, inputs):
    x, key = inputs["x"], inputs["key"]
    return {
        "scale": tft.scale_to_0_1_per_key(x, key),
        "by_min_max": tft.scale_by_min_max_per_key(x, key, -1.0, 3.0),
        "z": tft.scale_to_z_score_per_key(x, key),
        "z_int": tft.scale_to_z_score_per_key(inputs["n"], key),
        "z_sparse": tft.scale_to_z_score_per_key(inputs["numbers"], key),
        "scale_file": tft.scale_to_0_1_per_key(x, key, key_vocabulary_filename="scale_of_keys"),
        "z_file": tft.scale_to_z_score_per_key(x, key, key_vocabulary_filename="z_of_keys"),
    }


def gaussian(tf, tft, inputs):
    outputs = {
        "heavy": tft.scale_to_gaussian(inputs["heavy"]),
        "left": tft.scale_to_gaussian(inputs["left"]),
        "light": tft.scale_to_gaussian(inputs["x"]),
    }
    for name in ("heavy", "left", "x"):
        left, right = tft.tukey_h_params(inputs[name])
        location, scale = tft.tukey_location(inputs[name]), tft.tukey_scale(inputs[name])
        outputs.update(_for_all(tf, inputs, **{f"params_{name}": tf.stack([location, scale, left, right])}))
    return outputs


def statistics(tf, tft, inputs):
    x, n, matrix, numbers = inputs["x"], inputs["n"], inputs["matrix"], inputs["numbers"]
    keys, counts = tft.count_per_key(inputs["key"])
    ints, int_counts = tft.count_per_key(n % 3)
    histogram, boundaries = tft.histogram(x, 5)
    category_counts, categories = tft.histogram(inputs["key"], categorical=True)
    return _for_all(
        tf,
        inputs,
        least=tft.min(x),
        largest=tft.max(n),
        least_each=tft.min(matrix, reduce_instance_dims=False),
        total=tft.sum(x),
        total_int=tft.sum(n),
        total_each=tft.sum(matrix, reduce_instance_dims=False),
        size=tft.size(numbers),
        mean=tft.mean(x),
        mean_int=tft.mean(n),
        mean_each=tft.mean(matrix, reduce_instance_dims=False),
        var=tft.var(numbers),
        covariance=tft.covariance(matrix, tf.float32),
        pca=tf.abs(tft.pca(matrix, 2, tf.float32)),
        quantiles=tft.quantiles(x, 7, 0.01),
        quantiles_weighted=tft.quantiles(x, 5, 0.01, weights=inputs["weight"]),
        quantiles_each=tft.quantiles(matrix, 3, 0.01, reduce_instance_dims=False),
        keys=tf.ensure_shape(keys, [3]),
        counts=tf.ensure_shape(counts, [3]),
        ints=tf.ensure_shape(ints, [3]),
        int_counts=tf.ensure_shape(int_counts, [3]),
        histogram=tf.ensure_shape(histogram, [4]),
        boundaries=tf.ensure_shape(boundaries, [1, 5]),
        categories=tf.ensure_shape(categories, [3]),
        category_counts=tf.ensure_shape(category_counts, [3]),
    )


def buckets(tf, tft, inputs):
    x = inputs["x"]
    limits = [[-1.0, 0.5, 2.0, 2.0, 4.0]]
    return {
        "bucketize": tft.bucketize(x, 5),
        "ints": tft.bucketize(inputs["n"], 4),
        "weighted": tft.bucketize(x, 4, weights=inputs["weight"]),
        "each": tft.bucketize(inputs["matrix"], 3, elementwise=True),
        "sparse": tft.bucketize(inputs["numbers"], 4),
        "by_key": tft.bucketize_per_key(x, inputs["key"], 3),
        "ints_by_key": tft.bucketize_per_key(inputs["n"], inputs["key"], 4),
        "applied": tft.apply_buckets(x, limits),
        "interpolated": tft.apply_buckets_with_interpolation(x, limits),
        "interpolated_one": tft.apply_buckets_with_interpolation(x, [[1.0]]),
        "density": tft.estimated_probability_density(x, boundaries=4),
        "density_of_category": tft.estimated_probability_density(inputs["key"], categorical=True),
    }


def vocabularies(tf, tft, inputs):
    name, tokens = inputs["name"], inputs["tokens"]
    apply = tft.compute_and_apply_vocabulary
    outputs = {
        "plain": apply(name),
        "named": apply(name, vocab_filename="the names"),
        "top": apply(name, top_k=2, default_value=-7, vocab_filename="top"),
        "often": apply(name, frequency_threshold=10, vocab_filename="often"),
        "oov": apply(tokens, top_k=3, num_oov_buckets=4, vocab_filename="oov"),
        "counted": apply(name, store_frequency=True, vocab_filename="counted"),
        "weighted": apply(name, weights=inputs["weight"], store_frequency=True, vocab_filename="weighted"),
        "shuffled": apply(name, fingerprint_shuffle=True, vocab_filename="shuffled"),
        "ints": apply(inputs["n"], vocab_filename="ints"),
        "reserved": apply(name, reserved_tokens=["first", "c"], vocab_filename="reserved"),
        "covered": apply(
            name, top_k=1, key_fn=lambda token: token[:1] < b"d", coverage_top_k=1, vocab_filename="covered"
        ),
        "rare": apply(name, frequency_threshold=1000, vocab_filename="rare"),
        "records": apply(name, file_format="tfrecord_gzip", vocab_filename="records"),
        "hashed": tft.hash_strings(name, 10),
        "hashed_strong": tft.hash_strings(tokens, 10, key=[3, 4]),
    }
    path = tft.vocabulary(tokens, vocab_filename="tokens")
    outputs["applied"] = tft.apply_vocabulary(tokens, path)
    outputs["applied_to_names"] = tft.apply_vocabulary(name, path, num_oov_buckets=1)
    return outputs


def informative(tf, tft, inputs):
    name, label = inputs["name"], inputs["label"]
    apply = tft.compute_and_apply_vocabulary
    return {
        "information": apply(name, labels=label, vocab_filename="information"),
        "adjusted": apply(name, labels=label, use_adjusted_mutual_info=True, vocab_filename="adjusted"),
        "least": apply(name, labels=label, min_diff_from_avg=2.0, vocab_filename="least"),
        "threshold": apply(name, labels=label, frequency_threshold=1, vocab_filename="threshold"),
        "weighted": apply(
            name, labels=label, weights=inputs["weight"], vocab_filename="weighted_information"
        ),
    }


def text(tf, tft, inputs):
    tokens = inputs["tokens"]
    ids = tft.compute_and_apply_vocabulary(tokens, vocab_filename="ids")
    size = 8
    clean = tf.SparseTensor(ids.indices, tf.maximum(ids.values, 0), ids.dense_shape)
    terms, weights = tft.tfidf(clean, size)
    rough_terms, rough_weights = tft.tfidf(clean, size, smooth=False)
    return {
        "count": tft.word_count(tokens),
        "bigrams": tft.ngrams(tokens, (1, 2), " "),
        "trigrams": tft.ngrams(tokens, (2, 3), "-"),
        "bag": tft.bag_of_words(tokens, (1, 2), " "),
        "distinct": tft.deduplicate_tensor_per_row(tokens),
        "terms": terms,
        "weights": weights,
        "rough_terms": rough_terms,
        "rough_weights": rough_weights,
        "idf": tft.experimental.idf(clean, size),
        "document_frequency": tft.experimental.document_frequency(clean, size),
        "dense": tft.sparse_tensor_to_dense_with_shape(inputs["numbers"], [None, 9], -1.0),
        "aligned": tft.sparse_tensor_left_align(tokens),
    }


# Analyzers of what other analyzers, or tables made of vocabularies, gave. Beam fails where all are in one.


def phases_of_numbers(tf, tft, inputs):
    z = tft.scale_to_z_score(inputs["x"])
    return {"scaled": tft.scale_to_0_1(z * z), "same": inputs["x"]}


def phases_of_words(tf, tft, inputs):
    ids = tft.compute_and_apply_vocabulary(inputs["name"], vocab_filename="phase")
    return {"ids_scaled": tft.scale_to_z_score(tf.cast(ids, tf.float32))}


def phases_of_buckets(tf, tft, inputs):
    buckets = tft.bucketize(inputs["x"], 4)
    return {
        "vocabulary": tft.compute_and_apply_vocabulary(buckets, vocab_filename="of_buckets"),
        "buckets": tf.zeros_like(inputs["n"]) + tft.get_num_buckets_for_transformed_feature(buckets),
    }


def sizes(tf, tft, inputs):
    ids = tft.compute_and_apply_vocabulary(inputs["name"], vocab_filename="phase")
    size = tft.experimental.get_vocabulary_size_by_name("phase")
    return {"ids": ids, "size": tf.zeros_like(inputs["n"]) + size}


def _plain(value):
    if hasattr(value, "tolist"):
        value = value.tolist()
    return value if isinstance(value, list) else [value]


def _written(folder):
    """The schema, the map of assets, and every asset."""
    import gzip

    assets = {}
    there = os.path.join(folder, "transform_fn", "assets")
    for name in sorted(os.listdir(there)) if os.path.isdir(there) else []:
        with open(os.path.join(there, name), "rb") as file:
            content = file.read()
        assets[name] = gzip.decompress(content) if name.endswith(".gz") else content
    metadata = os.path.join(folder, "transformed_metadata")
    with open(os.path.join(metadata, "schema.pbtxt")) as file:
        schema = file.read()
    asset_map = {}
    if os.path.exists(os.path.join(metadata, "asset_map")):
        with open(os.path.join(metadata, "asset_map")) as file:
            asset_map = json.load(file)
    return {"schema": schema, "asset_map": asset_map, "assets": assets}


def leave_at_once():
    """Ends the process without what TensorFlow and Beam do at the end, of which it crashes at times."""
    import atexit

    atexit.register(os._exit, 0)


def run_original(folder, functions, rows_of=table, features_of=spec):
    """What TFT makes of the rows, and what it writes, by function."""
    import tempfile

    import tensorflow as tf
    import tensorflow_transform as tft
    import tensorflow_transform.beam as tft_beam
    from tensorflow_transform.tf_metadata import dataset_metadata

    rows = rows_of()
    metadata = dataset_metadata.DatasetMetadata.from_feature_spec(features_of(tf))
    answers = {}
    for function in functions:
        to = os.path.join(folder, function.__name__)
        with tft_beam.Context(temp_dir=tempfile.mkdtemp(dir=folder), desired_batch_size=1000):
            transform = tft_beam.AnalyzeAndTransformDataset(
                lambda inputs, f=function: f(tf, tft, dict(inputs))
            )
            (transformed, _), transform_fn = (rows, metadata) | transform
            transform_fn | tft_beam.WriteTransformFn(to)
        names = sorted(transformed[0])
        by_column = {name: [_plain(row[name]) for row in transformed] for name in names}
        answers.update({f"{function.__name__}/{name}": column for name, column in by_column.items()})
        answers.update({f"{function.__name__}/{what}": value for what, value in _written(to).items()})
    leave_at_once()
    return answers


def block_of_rows(rows_of=table, features_of=spec):
    """The rows as a block."""
    import pyarrow as pa

    import tideflow as tf

    kinds = {tf.float32: pa.float32(), tf.int64: pa.int64(), tf.string: pa.binary()}
    rows, features = rows_of(), features_of(tf)

    def column(name):
        values = [row[name] if isinstance(row[name], list) else [row[name]] for row in rows]
        values = [[v.encode() if isinstance(v, str) else v for v in each] for each in values]
        return pa.array(values, pa.list_(kinds[features[name].dtype]))

    return pa.RecordBatch.from_arrays([column(name) for name in features], list(features))


def run_ours(folder, functions, sizes=(50, 70), rows_of=table, features_of=spec):
    """What Tideflow makes of the rows, analyzed in blocks of these sizes, and what it writes."""
    import tideflow as tf
    import tideflow.pipeline.transform as tft
    from tideflow.pipeline.data.sources import Blocks

    block, parts, start = block_of_rows(rows_of, features_of), [], 0
    for size in sizes:
        parts.append(block.slice(start, size))
        start += size
    found = {}
    for function in functions:
        to = os.path.join(folder, function.__name__)
        output = tft.analyze_data(
            [Blocks(parts)], features_of(tf), lambda inputs, f=function: f(tf, tft, inputs), to, workers=1
        )
        transformed = tft.transform_blocks(output)(block)
        for name in transformed.schema.names:
            found[f"{function.__name__}/{name}"] = transformed.column(name).to_pylist()
        found.update({f"{function.__name__}/{what}": value for what, value in _written(to).items()})
    return found
