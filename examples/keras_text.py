"""An LSTM that tells whether a sentence is about the sea or the mountains, with tf.keras.

The sentences are made at random from two vocabularies that share most of their words.
"""

import argparse
import random

import numpy as np

import tideflow as tf

SHARED = (
    "the a we saw old new near far light wind stone path and of in was still cold morning evening".split()
)
SEA = "tide wave harbour sail salt gull".split()
MOUNTAIN = "peak ridge valley snow goat summit".split()


def sentences(number: int, length: int = 12, seed: int = 0) -> tuple[list[str], np.ndarray]:
    """Sentences, and 1 for those about the sea."""
    chance = random.Random(seed)
    texts, labels = [], []
    for _ in range(number):
        about_sea = chance.random() < 0.5
        words = [chance.choice(SHARED) for _ in range(chance.randint(4, length))]
        words[chance.randrange(len(words))] = chance.choice(SEA if about_sea else MOUNTAIN)
        texts.append(" ".join(words))
        labels.append(about_sea)
    return texts, np.array(labels, np.float32)


def build(words: int, length: int) -> tf.keras.Model:
    """Embedding, LSTM, and one probability."""
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Embedding(words, 16, mask_zero=True, input_length=length),
            tf.keras.layers.LSTM(16),
            tf.keras.layers.Dense(1, activation="sigmoid"),
        ]
    )
    model.compile(tf.keras.optimizers.Adam(0.02), "binary_crossentropy", metrics=["accuracy"])
    return model


def main() -> float:
    """Trains the model and returns its accuracy on sentences that it has not seen."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=2000)
    parser.add_argument("--epochs", type=int, default=3)
    arguments = parser.parse_args()
    texts, labels = sentences(arguments.samples)
    tokens = tf.keras.preprocessing.text.Tokenizer(oov_token="?")
    tokens.fit_on_texts(texts)
    pad = tf.keras.preprocessing.sequence.pad_sequences
    x = pad(tokens.texts_to_sequences(texts), maxlen=12, padding="post")
    model = build(len(tokens.word_index) + 1, 12)
    model.summary()
    stop = tf.keras.callbacks.EarlyStopping("val_loss", patience=2)
    model.fit(x, labels, epochs=arguments.epochs, validation_split=0.1, callbacks=[stop], verbose=2)
    new, truth = sentences(200, seed=1)
    _, accuracy = model.evaluate(
        pad(tokens.texts_to_sequences(new), maxlen=12, padding="post"), truth, verbose=0
    )
    print(f"accuracy on new sentences: {accuracy:.2f}")
    return float(accuracy)


if __name__ == "__main__":
    main()
