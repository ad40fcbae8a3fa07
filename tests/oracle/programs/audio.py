"""WAV files, spectrograms and cepstral coefficients."""

import struct

from kit import cases, normal, product, raises, run


def _wav(channels=1, rate=8000, data=b"\0\1\2\3", bits=16, kind=1, size=16, **other):
    sample = other.get("sample_size", (bits * channels + 7) // 8)
    second = other.get("second_size", sample * rate)
    form = struct.pack("<IHHIIHH", size, kind, channels, rate, second, sample, bits)
    return (
        other.get("riff", b"RIFF")
        + struct.pack("<I", 36 + len(data))
        + other.get("wave", b"WAVE")
        + b"fmt "
        + form
        + other.get("before", b"")
        + other.get("name", b"data")
        + struct.pack("<I", len(data))
        + data
        + other.get("after", b"")
    )


@cases(*product([1, 2, 3], [-1, 0, 1, 2, 4], [-1, 0, 2, 9]))
def decode(tf, np, channels, wanted, samples):
    contents = _wav(channels, 16000, bytes(bytearray(range(36))))
    made = tf.audio.decode_wav(contents, wanted, samples)
    return [made, run(tf, made)]


@cases(
    {
        "empty": b"",
        "cut in the header": _wav()[:30],
        "no data": _wav()[:36],
        "cut in the data": _wav()[:-1],
        "odd data": _wav(data=b"\1\2\3"),
        "other file": _wav(riff=b"RIFX"),
        "other sound": _wav(wave=b"AIFF"),
        "long format": _wav(size=40),
        "float": _wav(kind=3),
        "8 bits": _wav(bits=8),
        "24 bits": _wav(bits=24),
        "no channels": _wav(0),
        "wrong second": _wav(second_size=7),
        "wrong sample": _wav(sample_size=4),
        "no data chunk": _wav(name=b"dada"),
        "long chunk": _wav(before=b"LIST" + struct.pack("<I", 1000)),
        "short end": _wav(after=b"junk"),
        "two data": _wav(after=b"data" + struct.pack("<I", 2) + b"\1\1"),
    }
)
def decode_refusals(tf, np, contents):
    return raises(run, tf, tf.audio.decode_wav(contents))


@cases(
    {
        "no samples": _wav(data=b""),
        "18 bytes of format": _wav(size=18, before=b"\0\0"),
        "other chunk": _wav(before=b"LIST" + struct.pack("<I", 3) + b"abc"),
        "chunk at the end": _wav(after=b"LIST" + struct.pack("<I", 3) + b"abc"),
        "no rate": _wav(rate=0),
    }
)
def decode_oddities(tf, np, contents):
    return run(tf, tf.audio.decode_wav(contents))


def decode_shapes(tf, np):
    contents = tf.placeholder(tf.string)
    return [
        tf.audio.decode_wav(contents, 2),
        tf.audio.decode_wav(contents, -1, 5),
        raises(tf.audio.decode_wav, [b"a"]),
        raises(tf.audio.decode_wav, contents, -3),
        raises(tf.audio.decode_wav, contents, 1, -3),
    ]


@cases(*product([1, 2, 5], [1, 8000, 44100]))
def encode(tf, np, channels, rate):
    sound = np.concatenate(
        [normal(np, 6, channels), [[1e-5] * channels, [1.0] * channels, [-1.0] * channels]]
    )
    made = tf.audio.encode_wav(sound, rate)
    return [made, run(tf, made)]


def encode_halves_and_beyond(tf, np):
    halves = np.arange(-5, 6)[:, None] / 65536.0
    return run(
        tf, tf.audio.encode_wav(np.concatenate([halves, [[np.inf], [-np.inf], [np.nan], [7.0]]]), 8000)
    )


def there_and_back(tf, np):
    sound = np.arange(-32768, 32768, 97)[:, None] / 32768.0
    return run(tf, tf.audio.decode_wav(tf.audio.encode_wav(sound, 16000)))


def encode_refusals(tf, np):
    sound = np.ones([3, 2])
    return [
        raises(tf.audio.encode_wav, sound[0], 8000),
        raises(tf.audio.encode_wav, sound, [8000]),
        raises(lambda: run(tf, tf.audio.encode_wav(sound[:0], 8000))),
        raises(lambda: run(tf, tf.audio.encode_wav(sound, 0))),
        raises(lambda: run(tf, tf.audio.encode_wav(sound, -4))),
    ]


@cases(*product([(8, 4), (7, 3), (16, 16), (2, 1), (40, 3), (33, 5)], [False, True]))
def spectrogram(tf, np, sizes, squared):
    made = tf.raw_ops.AudioSpectrogram(
        input=normal(np, 35, 1), window_size=sizes[0], stride=sizes[1], magnitude_squared=squared
    )
    return [made, run(tf, made)]


def spectrogram_of_the_unknown(tf, np):
    made = [
        tf.raw_ops.AudioSpectrogram(input=tf.placeholder(tf.float32, shape), window_size=9, stride=2)
        for shape in (None, [None, 2], [30, None], [3, 1])
    ]
    return [
        made,
        raises(tf.raw_ops.AudioSpectrogram, input=normal(np, 3), window_size=9, stride=2),
        raises(lambda: run(tf, tf.raw_ops.AudioSpectrogram(input=normal(np, 3, 1), window_size=1, stride=2))),
    ]


@cases(
    {
        "plain": {},
        "few": dict(filterbank_channel_count=5, dct_coefficient_count=5),
        "narrow": dict(lower_frequency_limit=300.0, upper_frequency_limit=3000.0),
        "low": dict(lower_frequency_limit=0.0),
        "beyond": dict(upper_frequency_limit=9000.0),
        "many": dict(filterbank_channel_count=100, dct_coefficient_count=60),
    }
)
def cepstra(tf, np, keywords):
    spectrogram = np.square(normal(np, 2, 3, 129)).astype("float32")
    made = [tf.raw_ops.Mfcc(spectrogram=spectrogram, sample_rate=rate, **keywords) for rate in (16000, 8000)]
    return [made, run(tf, made)]


@cases(1, 2, 10, 65, 257)
def cepstra_of_bins(tf, np, bins):
    spectrogram = np.square(normal(np, 1, 2, bins)).astype("float32")
    made = tf.raw_ops.Mfcc(spectrogram=spectrogram, sample_rate=16000)
    return raises(run, tf, made) if bins == 1 else run(tf, made)


@cases(0.0, -1.0, float("nan"))
def cepstra_of_silence(tf, np, value):
    spectrogram = np.full([1, 2, 65], value, "float32")
    return run(tf, tf.raw_ops.Mfcc(spectrogram=spectrogram, sample_rate=16000)) + 0.0


@cases(
    ("upper_frequency_limit", 10.0),
    ("lower_frequency_limit", -1.0),
    ("dct_coefficient_count", 0),
    ("dct_coefficient_count", 41),
    ("filterbank_channel_count", 0),
    ("sample_rate", 0),
)
def cepstra_refusals(tf, np, argument, value):
    keywords = dict({"sample_rate": 8000}, **{argument: value})
    return raises(lambda: run(tf, tf.raw_ops.Mfcc(spectrogram=np.ones([1, 2, 65]), **keywords)))


def cepstra_shapes(tf, np):
    return [
        tf.raw_ops.Mfcc(spectrogram=tf.placeholder(tf.float32, [2, None, 65]), sample_rate=8000),
        raises(tf.raw_ops.Mfcc, spectrogram=np.ones([2, 65]), sample_rate=8000),
        raises(tf.raw_ops.Mfcc, spectrogram=np.ones([1, 2, 65]), sample_rate=[8000]),
    ]


def no_slopes(tf, np):
    x = tf.constant(np.ones([1, 2, 65], "float32"))
    spectrogram = tf.raw_ops.AudioSpectrogram(input=x[0], window_size=2, stride=1)
    return [
        raises(tf.gradients, tf.raw_ops.Mfcc(spectrogram=x, sample_rate=8000), x),
        raises(tf.gradients, spectrogram, x),
    ]
