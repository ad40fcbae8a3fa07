"""Examples of tf.contrib.learn."""

import tideflow as tf

# %% tf.contrib.learn.ModeKeys
print(tf.contrib.learn.ModeKeys.TRAIN, tf.contrib.learn.ModeKeys.EVAL, tf.contrib.learn.ModeKeys.INFER)

# %% tf.contrib.learn.TaskType, tf.contrib.learn.ProblemType, tf.contrib.learn.PredictionKey
learn = tf.contrib.learn
print(learn.TaskType.WORKER, learn.ProblemType.CLASSIFICATION, learn.PredictionKey.PROBABILITIES)

# %% tf.contrib.learn.preprocessing.VocabularyProcessor, tf.contrib.learn.preprocessing.tokenizer
texts = ["the tide comes in", "the tide goes out"]
print(list(tf.contrib.learn.preprocessing.tokenizer(texts)))
processor = tf.contrib.learn.preprocessing.VocabularyProcessor(max_document_length=5)
rows = list(processor.fit_transform(texts))
print(rows, list(processor.reverse(rows)))

# %% tf.contrib.learn.preprocessing.ByteProcessor
processor = tf.contrib.learn.preprocessing.ByteProcessor(max_document_length=6)
print(list(processor.transform(["tide", "flow"])))

# %% tf.contrib.learn.preprocessing.CategoricalVocabulary
vocabulary = tf.contrib.learn.preprocessing.CategoricalVocabulary()
vocabulary.add("red")
vocabulary.freeze()
print(vocabulary.get("red"), vocabulary.get("blue"), vocabulary.reverse(1))

# %% tf.contrib.learn.preprocessing.CategoricalProcessor
processor = tf.contrib.learn.preprocessing.CategoricalProcessor()
print(list(processor.fit_transform([["red", "small"], ["blue", "small"]])))

# %% tf.contrib.learn.datasets.base.load_csv_with_header,
# %% tf.contrib.learn.datasets.base.load_csv_without_header
with open("with_header.csv", "w") as file:
    file.write("2,3\n1.0,2.0,3.0,0\n4.0,5.0,6.0,1\n")
table = tf.contrib.learn.datasets.base.load_csv_with_header("with_header.csv", "int64", "float32")
print(table.data, table.target)
with open("without_header.csv", "w") as file:
    file.write("1.0,2.0,0\n4.0,5.0,1\n")
print(tf.contrib.learn.datasets.base.load_csv_without_header("without_header.csv", "int64", "float32").data)
