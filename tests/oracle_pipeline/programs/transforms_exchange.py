"""Transforms exchanged both ways: TFT reads Tideflow's output, Tideflow that of TFT under TF 1 and TF 2."""

import os

from transform_cases import block_of_rows, leave_at_once, spec, table

RTOL, ATOL = 2e-6, 2e-6
LEFT_OUT = "label"


def preprocess(tf, tft, inputs):
    return {
        "z": tft.scale_to_z_score(inputs["x"]),
        "ids": tft.compute_and_apply_vocabulary(inputs["name"], vocab_filename="names", num_oov_buckets=1),
        "tokens": tft.compute_and_apply_vocabulary(inputs["tokens"], top_k=3, vocab_filename="tokens"),
        "buckets": tft.bucketize(inputs["heavy"], 4),
        "label": inputs["label"],
    }


def given():
    """The files of a transform that Tideflow writes."""
    import tempfile

    import tideflow as tf
    import tideflow.pipeline.transform as tft
    from tideflow.pipeline.data.sources import Blocks

    with tempfile.TemporaryDirectory() as folder:
        to = os.path.join(folder, "output")
        source = Blocks([block_of_rows()])
        tft.analyze_data([source], spec(tf), lambda inputs: preprocess(tf, tft, inputs), to, workers=1)
        return _files(to)


def _files(folder):
    found = {}
    for there, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(there, name)
            with open(path, "rb") as file:
                found[os.path.relpath(path, folder)] = file.read()
    return found


def _write(folder, files):
    for name, content in files.items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content)
    return folder


def _rows(values):
    """Values of outputs as lists, those of sparse ones row by row."""
    found = {}
    for name, value in values.items():
        if hasattr(value, "indices"):
            rows = [[] for _ in range(int(value.dense_shape[0]))]
            for (row, _), each in zip(value.indices.tolist(), value.values.tolist()):
                rows[row].append(each)
            found[name] = rows
        else:
            found[name] = value.tolist()
    return found


def _apply(tf, output):
    """The transform of all rows without their label, by a graph and a session."""
    rows, features = table(), spec(tf)
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        inputs = {}
        for name, feature in features.items():
            if name == LEFT_OUT:
                continue
            values = [row[name] for row in rows]
            if isinstance(feature, tf.io.VarLenFeature):
                indices = [[i, j] for i, row in enumerate(values) for j in range(len(row))]
                flat = [each for row in values for each in row]
                width = max(map(len, values))
                inputs[name] = tf.SparseTensor(indices, tf.constant(flat, feature.dtype), [len(rows), width])
            else:
                inputs[name] = tf.constant(values, feature.dtype)
        outputs = output.transform_raw_features(inputs)
        session.run(tf.compat.v1.tables_initializer())
        return _rows(session.run({name: value for name, value in outputs.items() if name != LEFT_OUT}))


def original(folder, given):
    import tempfile

    import tensorflow as tf
    import tensorflow_transform as tft
    import tensorflow_transform.beam as tft_beam

    answers = {}
    output = tft.TFTransformOutput(_write(os.path.join(str(folder), "ours"), given))
    answers["TFT reads ours"] = _apply(tf, output)
    answers["TFT reads our spec"] = sorted(output.transformed_feature_spec())
    answers["TFT reads our vocabulary"] = output.vocabulary_by_name("names")
    metadata = tft.DatasetMetadata.from_feature_spec(spec(tf))
    for version in (1, 2):
        to = os.path.join(str(folder), f"tf{version}")
        temporary = tempfile.mkdtemp(dir=str(folder))
        with tft_beam.Context(temp_dir=temporary, force_tf_compat_v1=version == 1):
            analyze = tft_beam.AnalyzeDataset(lambda inputs: preprocess(tf, tft, inputs))
            (table(), metadata) | analyze | tft_beam.WriteTransformFn(to)
        answers[f"files of TF {version}"] = _files(to)
        answers[f"TF {version}"] = answers["TFT reads ours"]
    leave_at_once()
    return answers


def ours(folder, answers):
    import tideflow as tf
    import tideflow.pipeline.transform as tft

    found = {}
    own = tft.TFTransformOutput(_write(os.path.join(folder, "ours"), given()))
    found["TFT reads ours"] = _apply(tf, own)
    found["TFT reads our spec"] = sorted(own.transformed_feature_spec())
    found["TFT reads our vocabulary"] = own.vocabulary_by_name("names")
    for version in (1, 2):
        files = answers[f"files of TF {version}"]
        output = tft.TFTransformOutput(_write(os.path.join(folder, f"tf{version}"), files))
        found[f"files of TF {version}"] = files
        found[f"TF {version}"] = _apply(tf, output)
    return found
