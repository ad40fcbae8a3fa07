"""Fourier and cosine transforms, frames, windows, spectrograms."""

from kit import Close, cases, differentiated, graph, names, normal, product, raises, run


def _complex(np, *shape):
    return (normal(np, *shape) + 1j * normal(np, *shape)[::-1]).astype("complex64")


_SHAPES = {1: [[8], [7], [1], [2, 5], [0, 4], [2, 3, 4]], 2: [[3, 4], [1, 1], [2, 3, 5], [0, 2, 2]]}
_SHAPES[3] = [[2, 3, 4], [1, 1, 1], [2, 2, 3, 5]]
_RANKS = {"": 1, "2d": 2, "3d": 3}


@cases(*[(way + s, shape) for way in ("fft", "ifft") for s, r in _RANKS.items() for shape in _SHAPES[r]])
def complex_transform(tf, np, name, shape):
    return differentiated(tf, np, getattr(tf, name), _complex(np, *shape))


@cases(*product(["fft", "ifft2d", "fft3d"], ["complex64", "complex128"]))
def complex_types(tf, np, name, dtype):
    # TensorFlow 1.15 has no double precision on the CPU.
    x = tf.placeholder(dtype, [2, 3, 4]) if dtype == "complex64" else np.ones([2, 3, 4], dtype)
    return getattr(tf.signal, name)(x)


@cases("fft", "ifft", "fft2d", "ifft2d", "fft3d", "ifft3d")
def three_names(tf, np, name):
    y = [getattr(space, name)(np.ones([2, 2, 2])) for space in (tf, tf.signal, tf.spectral)]
    return [graph(tf), run(tf, y)]


@cases(("fft", 0), ("fft2d", 1), ("ifft3d", 2), ("rfft", 0), ("irfft2d", 1), ("rfft3d", 2))
def too_low_a_rank(tf, np, name, rank):
    dtype = "float32" if name.startswith("rfft") else "complex64"
    return raises(getattr(tf.signal, name), tf.placeholder(dtype, [3] * rank))


_REAL = [("", 1, [8]), ("", 1, [7]), ("", 1, [1]), ("", 1, [2]), ("", 1, [2, 5]), ("", 1, [3, 0, 4])]
_REAL += [("2d", 2, [3, 4]), ("2d", 2, [2, 3, 5]), ("2d", 2, [4, 1]), ("2d", 2, [0, 3, 4])]


@cases(*_REAL)
def real_transform(tf, np, suffix, rank, shape):
    return differentiated(tf, np, getattr(tf.signal, "rfft" + suffix), normal(np, *shape).astype("float32"))


@cases(*[row for row in _REAL if row[2][-1] > 1])
def real_inverse(tf, np, suffix, rank, shape):
    return differentiated(tf, np, getattr(tf.signal, "irfft" + suffix), _complex(np, *shape))


@cases([2, 3, 4], [1, 1, 2], [2, 2, 3, 5])
def real_transforms_in_space(tf, np, shape):
    forward = tf.signal.rfft3d(normal(np, *shape))
    back = tf.signal.irfft3d(forward, fft_length=shape[-3:])
    inverse = tf.signal.irfft3d(_complex(np, *shape))
    return [forward, back, inverse, run(tf, [forward, back, inverse])]


@cases(*product([3, 4, 5, 6, 9], [[4], [5], [2, 6]]))
def lengths(tf, np, length, shape):
    forward = tf.signal.rfft(normal(np, *shape), [length])
    inverse = tf.signal.irfft(_complex(np, *shape), [length])
    return [forward, inverse, run(tf, [forward, inverse]), graph(tf)]


@cases(*product([[3, 5], [4, 4], [2, 2], [5, 3]], [[4, 5], [2, 3, 4]]))
def lengths_in_the_plane(tf, np, length, shape):
    forward = tf.signal.rfft2d(normal(np, *shape), length)
    inverse = tf.signal.irfft2d(_complex(np, *shape), length)
    return [forward, inverse, run(tf, [forward, inverse]), graph(tf)]


@cases(*product([7, 8, 9, 12], [[7], [2, 7]]))
def gradient_of_longer_transforms(tf, np, length, shape):
    return differentiated(tf, np, lambda x: tf.signal.rfft(x, [length]), normal(np, *shape).astype("float32"))


@cases(*product([13, 14], [[7], [2, 7]]))
def gradient_of_inverse_lengths(tf, np, length, shape):
    return differentiated(tf, np, lambda x: tf.signal.irfft(x, [length]), _complex(np, *shape))


@cases(*product([[4, 6], [5, 7], [4, 8]], [[4, 6], [2, 4, 6]]))
def gradient_in_the_plane(tf, np, length, shape):
    return differentiated(tf, np, lambda x: tf.signal.rfft2d(x, length), normal(np, *shape).astype("float32"))


@cases(*product(["rfft", "rfft2d", "rfft3d"], [[None, 3, 4], [2, None, None], [None, None, None]]))
def unknown_shapes(tf, np, name, shape):
    x = tf.placeholder(tf.float32, shape)
    y = getattr(tf.signal, name)(x)
    rank = {"rfft": 1, "rfft2d": 2, "rfft3d": 3}[name]
    z = getattr(tf.signal, name)(x, [6] * rank)
    lengths = tf.placeholder(tf.int32, [rank])
    w = getattr(tf.signal, name)(x, lengths)
    v = getattr(tf.signal, "i" + name)(y)
    values = run(tf, [y, z, w, v], {x: normal(np, 2, 3, 4), lengths: [5] * rank})
    return [values, names(tf)]


def slopes_of_unknown_shapes(tf, np):
    x = tf.placeholder(tf.float32, [None, None])
    y = tf.signal.rfft(x)
    z = tf.signal.irfft(y)
    slopes = tf.gradients(tf.abs(y), x) + tf.gradients(z, x)
    return run(tf, slopes, {x: normal(np, 2, 6)})


def lengths_that_do_not_fit(tf, np):
    x = np.ones([2, 3], "float32")
    with tf.Session() as session:
        return [
            raises(tf.signal.rfft, x, 3),
            raises(tf.signal.rfft, x, [3, 3]),
            raises(tf.signal.rfft2d, x, [3]),
            raises(lambda: session.run(tf.raw_ops.RFFT(input=x, fft_length=[5]))),
            raises(lambda: session.run(tf.raw_ops.IRFFT(input=x.astype("complex64"), fft_length=[7]))),
            raises(tf.signal.fft, tf.constant([1, 2])),
            raises(tf.signal.rfft, tf.constant([1, 2])),
            raises(tf.signal.irfft, tf.constant([1.0, 2.0])),
        ]


def second_derivative(tf, np):
    x = tf.constant(normal(np, 6).astype("float32"))
    energy = tf.reduce_sum(tf.square(tf.abs(tf.signal.rfft(x))) ** 2)
    slope = tf.gradients(energy, x)[0]
    return run(tf, [slope, tf.gradients(slope, x)[0]])


@cases(*product(["fftshift", "ifftshift"], [None, 0, -1, (0, 1), [1], (2, 0)], [[4, 5, 3], [1, 2, 7]]))
def shifted(tf, np, name, axes, shape):
    y = getattr(tf.signal, name)(normal(np, *shape), axes)
    return [y, run(tf, y), graph(tf)]


@cases(*product([1, 2, 3], [None, "ortho"], [None, 4, 6, 9], [[6], [2, 3, 6]]))
def cosine(tf, np, kind, norm, n, shape):
    if kind == 1 and norm == "ortho":
        return raises(tf.signal.dct, np.ones(shape, "float32"), kind, norm=norm)
    x = normal(np, *shape).astype("float32")
    y, z = tf.signal.dct(x, kind, n, norm=norm), tf.spectral.idct(x, kind, n, norm=norm)
    return [y, z, run(tf, [y, z]), graph(tf)]


@cases(*product([1, 2, 3], [None, "ortho"]))
def slope_of_cosine(tf, np, kind, norm):
    x = normal(np, 2, 7).astype("float32")
    norm = None if kind == 1 else norm
    return differentiated(tf, np, lambda v: tf.signal.dct(v, kind, norm=norm), x)


@cases(1, 2, 3)
def cosine_of_unknown_shapes(tf, np, kind):
    x = tf.placeholder(tf.float32, [None, None])
    y = tf.signal.dct(x, kind)
    return [y.shape, run(tf, y, {x: normal(np, 2, 5)})]


def cosine_refusals(tf, np):
    x = np.ones([2, 3], "float32")
    return [
        raises(tf.signal.dct, x, 5),
        raises(tf.signal.dct, x, 2, axis=0),
        raises(tf.signal.dct, x, 2, n=0),
        raises(tf.signal.dct, x, 2, norm="unit"),
        raises(tf.signal.dct, x[:, :1], 1),
        raises(tf.signal.idct, x, 4),
    ]


# -------------------------------------------------------------------------------- frames

_CUTS = [(4, 2), (3, 3), (5, 2), (2, 5), (7, 1), (9, 4), (1, 1), (6, 4)]


@cases(*[(*cut, pad_end, shape) for cut in _CUTS for pad_end in (False, True) for shape in ([9], [2, 8])])
def frame(tf, np, length, step, pad_end, shape):
    x = normal(np, *shape)
    return differentiated(tf, np, lambda v: tf.signal.frame(v, length, step, pad_end), x)


@cases(*product([0, 1, -1, -2, 2], [False, True], [(3, 2), (4, 4)]))
def frame_of_an_axis(tf, np, axis, pad_end, cut):
    x = tf.constant(np.arange(5 * 6 * 7).reshape(5, 6, 7))
    y = tf.signal.frame(x, *cut, pad_end=pad_end, pad_value=-3, axis=axis)
    return [y.shape, run(tf, y)]


@cases(*product([False, True], [[7], [2, 0], [0, 5], [1]]))
def frame_of_little(tf, np, pad_end, shape):
    y = tf.signal.frame(np.ones(shape, "float32"), 3, 2, pad_end=pad_end)
    return [y.shape, run(tf, y)]


@cases(False, True)
def frame_of_placeholders(tf, np, pad_end):
    x, length, step = (tf.placeholder(t, s) for t, s in (("float32", None), ("int32", []), ("int32", [])))
    axis = tf.placeholder(tf.int32, [])
    framed = [
        tf.signal.frame(x, 4, 2, pad_end),
        tf.signal.frame(x, length, step, pad_end),
        tf.signal.frame(x, length, step, pad_end, axis=axis),
    ]
    values = run(tf, framed, {x: normal(np, 8, 9), length: 4, step: 3, axis: 0})
    return [[y.shape for y in framed], values]


def frame_refusals(tf, np):
    x = np.ones([4, 4])
    return [
        raises(tf.signal.frame, 3.0, 2, 1),
        raises(tf.signal.frame, x, [2], 1),
        raises(tf.signal.frame, x, 2, [1]),
        raises(tf.signal.frame, x, 2, 1, axis=[0]),
        raises(tf.signal.frame, x, 2, 1, axis=4),
        raises(tf.signal.frame, x, 2, 1, pad_end=True, pad_value=[1.0]),
        raises(tf.signal.overlap_and_add, x[0], 2),
        raises(tf.signal.overlap_and_add, x, 2.0),
        raises(tf.signal.overlap_and_add, x, [2]),
    ]


@cases(*product([1, 2, 3, 4, 6], [[1, 4], [5, 4], [2, 3, 4], [0, 4], [2, 2, 3, 4]]))
def overlap_and_add(tf, np, step, shape):
    return differentiated(tf, np, lambda v: tf.signal.overlap_and_add(v, step), normal(np, *shape))


def overlap_and_add_of_placeholders(tf, np):
    x, step = tf.placeholder(tf.float32, [None, None, None]), tf.placeholder(tf.int32, [])
    y = tf.signal.overlap_and_add(x, step)
    return [y.shape, run(tf, y, {x: normal(np, 2, 4, 5), step: 2})]


# -------------------------------------------------------------------------------- windows


@cases(*product(["hann_window", "hamming_window"], [1, 2, 5, 8], [True, False], ["float32", "float64"]))
def window(tf, np, name, length, periodic, dtype):
    y = getattr(tf.signal, name)(length, periodic, getattr(tf, dtype))
    return [y, run(tf, y), graph(tf)]


@cases(*product(["hann_window", "hamming_window"], [1, 6, 7]))
def window_of_a_placeholder(tf, np, name, length):
    n, periodic = tf.placeholder(tf.int32, []), tf.placeholder(tf.bool, [])
    y = getattr(tf.signal, name)(n, periodic)
    return [run(tf, y, {n: length, periodic: flag}) for flag in (False, True)]


def window_refusals(tf, np):
    return [
        raises(tf.signal.hann_window, 4, dtype=tf.int32),
        raises(tf.signal.hann_window, [4]),
        raises(tf.signal.hamming_window, 4.5),
    ]


# -------------------------------------------------------------------------------- spectrograms


@cases(*product([(8, 4, None), (7, 3, None), (8, 8, 16), (5, 2, 6)], [False, True], [[32], [2, 21]]))
def stft(tf, np, sizes, pad_end, shape):
    x = normal(np, *shape).astype("float32")
    return differentiated(tf, np, lambda v: tf.signal.stft(v, *sizes, pad_end=pad_end), x)


@cases("hamming_window", "none")
def stft_windows(tf, np, name):
    y = tf.signal.stft(normal(np, 32).astype("float32"), 8, 4, window_fn=getattr(tf.signal, name, None))
    return [y.shape, run(tf, y)]


@cases(*product([(8, 4, None), (7, 3, None), (8, 8, 16), (12, 4, 10)], [[5], [2, 3]]))
def inverse_stft(tf, np, sizes, shape):
    bins = (sizes[2] or 8) // 2 + 1
    return differentiated(tf, np, lambda v: tf.signal.inverse_stft(v, *sizes), _complex(np, *shape, bins))


@cases(*product([(8, 4), (9, 3), (16, 8), (10, 4)], ["hann_window", "hamming_window"]))
def there_and_back(tf, np, sizes, window):
    forward = getattr(tf.signal, window)
    x = normal(np, 40).astype("float32")
    spectra = tf.signal.stft(x, *sizes, window_fn=forward, pad_end=True)
    back = tf.signal.inverse_stft_window_fn(sizes[1], forward)
    return run(tf, [back(sizes[0], tf.float32), tf.signal.inverse_stft(spectra, *sizes, window_fn=back)])


def spectrograms_of_placeholders(tf, np):
    length, step = tf.placeholder(tf.int32, []), tf.placeholder(tf.int32, [])
    flat = tf.placeholder(tf.float32, [None, None])
    y = tf.signal.stft(flat, length, step)
    z = tf.signal.inverse_stft(y, length, step)
    w = tf.signal.inverse_stft(tf.signal.stft(flat, 8, 4), 8, 4)
    return run(tf, [y, z, w], {flat: normal(np, 2, 30), length: 8, step: 4})


@cases(
    {
        "plain": {},
        "music": dict(num_mel_bins=40, num_spectrogram_bins=257, sample_rate=16000, upper_edge_hertz=7600.0),
        "double": dict(dtype="float64", num_mel_bins=4),
        "low": dict(lower_edge_hertz=0.0, num_spectrogram_bins=20),
    }
)
def mel_matrix(tf, np, keywords):
    if "dtype" in keywords:
        keywords = dict(keywords, dtype=tf.float64)
    y = tf.signal.linear_to_mel_weight_matrix(**keywords)
    return [y, Close(run(tf, y), 1e-4, 1e-5)]


def mel_matrix_of_tensors(tf, np):
    y = tf.signal.linear_to_mel_weight_matrix(5, tf.constant(20), tf.constant(8000))
    return [y.shape, run(tf, y)]


@cases(
    ("num_mel_bins", 0),
    ("sample_rate", 0.0),
    ("lower_edge_hertz", -1.0),
    ("lower_edge_hertz", 4000.0),
    ("upper_edge_hertz", 5000.0),
)
def mel_refusals(tf, np, argument, value):
    return raises(tf.signal.linear_to_mel_weight_matrix, **{argument: value})


@cases([3, 20], [5], [2, 3, 13])
def cepstra(tf, np, shape):
    x = normal(np, *shape).astype("float32")
    return differentiated(tf, np, tf.signal.mfccs_from_log_mel_spectrograms, x)


def cepstra_of_nothing(tf, np):
    return raises(tf.signal.mfccs_from_log_mel_spectrograms, np.ones([3, 0]))


def speech_features(tf, np):
    x = normal(np, 2, 4000).astype("float32")
    spectra = tf.abs(tf.signal.stft(x, 400, 160))
    mel = tf.tensordot(spectra, tf.signal.linear_to_mel_weight_matrix(30, 257), 1)
    features = tf.signal.mfccs_from_log_mel_spectrograms(tf.log(mel + 1e-6))[..., :13]
    return Close(run(tf, features), 1e-4, 1e-4)
