"""Wide and deep: who earns more than 50,000 dollars a year? Trained, evaluated, exported and served.

The people are made up, like those of a census: age, education, occupation and hours decide the income, with
some luck. A linear model learns which pairs of categories matter, a deep one generalizes over embeddings,
and both are trained together by tf.estimator.

Run: python examples/census_estimator.py [--model_dir=DIR] [--people=4000] [--steps=600]
On a cluster, by train_and_evaluate:
  tideflow launch --ps 1 --chief --workers 2 --evaluator examples/census_estimator.py --model_dir=DIR
"""

import os
import tempfile

import numpy as np
from absl import app, flags

import tideflow as tf

FLAGS = flags.FLAGS
flags.DEFINE_string("model_dir", None, "where the model is kept; a temporary directory if not given")
flags.DEFINE_integer("people", 4000, "how many people to make up")
flags.DEFINE_integer("steps", 600, "how many steps to train")

EDUCATION = ["school", "college", "bachelors", "masters", "doctorate"]
OCCUPATION = ["farming", "sales", "craft", "clerical", "technology", "executive"]
LABELS = ["<=50K", ">50K"]


def people(count, seed):
    """Features by name, and labels."""
    random = np.random.RandomState(seed)
    age = random.uniform(17, 80, count)
    education = random.randint(len(EDUCATION), size=count)
    occupation = random.randint(len(OCCUPATION), size=count)
    hours = np.clip(random.normal(40, 10, count), 5, 80)
    pay = -3.5 + 0.9 * education + 0.5 * occupation + 0.05 * (hours - 40) - 0.002 * (age - 50) ** 2
    pay += 2.0 * ((education >= 3) & (occupation == 5))  # a pair that matters: what crossed columns are for
    rich = pay + random.logistic(size=count) > 0
    features = {
        "age": age.astype(np.float32),
        "hours": hours.astype(np.float32),
        "education": np.array(EDUCATION)[education],
        "occupation": np.array(OCCUPATION)[occupation],
    }
    return features, np.array(LABELS)[rich.astype(int)]


def input_fn(count, seed, training):
    def dataset():
        made = tf.data.Dataset.from_tensor_slices(people(count, seed))
        return made.shuffle(count, seed).repeat().batch(100) if training else made.batch(500)

    return dataset


def columns():
    """The columns of the linear model, and those of the deep one."""
    column = tf.feature_column
    age = column.numeric_column("age", normalizer_fn=lambda x: (x - 45) / 20)
    hours = column.numeric_column("hours", normalizer_fn=lambda x: (x - 40) / 10)
    education = column.categorical_column_with_vocabulary_list("education", EDUCATION)
    occupation = column.categorical_column_with_hash_bucket("occupation", 50)
    buckets = column.bucketized_column(age, [-1.0, -0.5, 0.0, 0.5, 1.0])
    crossed = column.crossed_column(["education", "occupation"], 100)
    wide = [education, occupation, buckets, crossed]
    deep = [age, hours, column.indicator_column(education), column.embedding_column(occupation, 4)]
    return wide, deep


def example(features, number):
    """One person as a tf.train.Example message."""
    message = tf.train.Example()
    for name, values in features.items():
        if values.dtype.kind == "f":
            message.features.feature[name].float_list.value.append(values[number])
        else:
            message.features.feature[name].bytes_list.value.append(values[number].encode())
    return message.SerializeToString()


def serve(path):
    """Asks the SavedModel about three people."""
    features, labels = people(3, seed=7)
    with tf.Session(graph=tf.Graph()) as session:
        model = tf.saved_model.loader.load(session, ["serve"], os.fsdecode(path))
        signature = model.signature_def["serving_default"]
        scores = session.run(
            signature.outputs["scores"].name,
            {signature.inputs["inputs"].name: [example(features, number) for number in range(3)]},
        )
    for number in range(3):
        who = f"{features['education'][number]}, {features['occupation'][number]}"
        print(f"{who}: more than 50K with probability {scores[number][1]:.2f} (in truth {labels[number]})")


def main(_):
    wide, deep = columns()
    config = tf.estimator.RunConfig(
        FLAGS.model_dir or tempfile.mkdtemp(),
        tf_random_seed=1,
        save_checkpoints_steps=max(1, FLAGS.steps // 3),
    )
    estimator = tf.estimator.DNNLinearCombinedClassifier(
        config=config,
        linear_feature_columns=wide,
        dnn_feature_columns=deep,
        dnn_hidden_units=[32, 16],
        dnn_optimizer=lambda: tf.train.AdagradOptimizer(0.05),
        label_vocabulary=LABELS,
        loss_reduction=tf.losses.Reduction.MEAN,
    )
    receiver = tf.estimator.export.build_parsing_serving_input_receiver_fn(
        tf.feature_column.make_parse_example_spec(wide + deep)
    )
    trained = tf.estimator.train_and_evaluate(
        estimator,
        tf.estimator.TrainSpec(input_fn(FLAGS.people, 0, training=True), max_steps=FLAGS.steps),
        tf.estimator.EvalSpec(
            input_fn(FLAGS.people // 4, 1, training=False),
            steps=None,
            exporters=tf.estimator.FinalExporter("census", receiver),
            start_delay_secs=0,
            throttle_secs=0 if not config.cluster_spec else 5,
        ),
    )
    if trained:  # on a cluster, the evaluator has the results
        metrics, exports = trained
        print("accuracy {accuracy:.3f} (baseline {accuracy_baseline:.3f}), AUC {auc:.3f}".format(**metrics))
        serve(exports[0])


if __name__ == "__main__":
    app.run(main)
