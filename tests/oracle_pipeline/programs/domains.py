"""What TFDV and Tideflow take values for: text, images, times."""

RTOL = 1e-6

SENTENCES = [b"the cat sat on mat number %d" % n for n in range(120)]
STRINGS = {
    "language": SENTENCES,
    "words": [b"word%d" % (n % 7) for n in range(120)],
    "few": SENTENCES[:99],
    "long_words": [
        b"incomprehensibilities antidisestablishmentarianism %d floccinaucinihilipilification" % n
        for n in range(120)
    ],
    "not_text": [b"\xff\xfe\xfd", *SENTENCES[:119]],  # TFDV looks at the first hundred for it
    "day": [b"2018-11-%02d" % (n % 30 + 1) for n in range(120)],
    "either_way": [b"%02d-%02d-2018" % (n % 12 + 1, n % 12 + 1) for n in range(120)],
    "short_years": [b"18/%d/%d" % (n % 12 + 1, n % 28 + 1) for n in range(120)],
    "digits": [b"201811%02d" % (n % 30 + 1) for n in range(120)],
    "clock": [b"%d:%02d" % (n % 24, n % 60) for n in range(120)],
    "moment": [b"2018-11-30T%02d:59:%02d.%d" % (n % 24, n % 60, n) for n in range(120)],
    "with_space": [b"11/30/2018 %02d:10:05" % (n % 24) for n in range(120)],
    "months": [b"%d-November-2018" % (n % 30 + 1) for n in range(120)],
    "c_time": [b"Fri Nov %2d 10:47:%02d 2018" % (n % 30 + 1, n % 60) for n in range(120)],
    "days_mostly": [b"2018-11-30" if n % 10 else b"unknown" for n in range(120)],
    "days_often": [b"2018-11-30" if n % 3 else b"unknown" for n in range(120)],
    "days_and_empty": [b"2018-11-30" if n else b"" for n in range(120)],
    "images": [
        [b"\x89PNG\r\n\x1a\nx", b"GIF89a", b"\xff\xd8\xff\xe0", b"BMx", b"no"][n % 5 if n % 2 else 0]
        + b"%d" % n
        for n in range(120)
    ],
    "few_images": [b"GIF89a" if n % 2 else b"x" for n in range(120)],
}
INTEGERS = {
    "days": [17_000 + n for n in range(120)],
    "seconds": [1_500_000_000 + n for n in range(120)],
    "milliseconds": [1_500_000_000_000 + n for n in range(120)],
    "microseconds": [1_500_000_000_000_000 + n for n in range(120)],
    "nanoseconds": [1_500_000_000_000_000_000 + n for n in range(120)],
    "numbers": list(range(120)),
    "seconds_mostly": [1_500_000_000 if n % 10 else 5 for n in range(120)],
}


def batches():
    import pyarrow as pa

    for name, values in STRINGS.items():
        yield (
            name,
            pa.RecordBatch.from_arrays(
                [pa.array([[value] for value in values], pa.list_(pa.binary()))], ["x"]
            ),
        )
    for name, values in INTEGERS.items():
        yield (
            name,
            pa.RecordBatch.from_arrays(
                [pa.array([[value] for value in values], pa.list_(pa.int64()))], ["x"]
            ),
        )


def custom(statistics):
    from messages import fields

    (feature,) = statistics.datasets[0].features
    return [fields(each) for each in feature.custom_stats]


def original(folder):
    import tensorflow_data_validation as tfdv
    from tensorflow_data_validation.statistics import stats_impl

    options = tfdv.StatsOptions(enable_semantic_domain_stats=True)
    return {
        name: custom(stats_impl.generate_statistics_in_memory(batch, options)) for name, batch in batches()
    }


def ours(folder, answers):
    from tideflow.pipeline.data.sources import Blocks
    from tideflow.pipeline.statistics import StatsOptions, generate_statistics

    options = StatsOptions(enable_semantic_domain_stats=True)
    found = {}
    for name, batch in batches():
        sources = [Blocks([batch[:50]]), Blocks([batch[50:]])]
        found[name] = custom(generate_statistics(sources, options))
    return found
