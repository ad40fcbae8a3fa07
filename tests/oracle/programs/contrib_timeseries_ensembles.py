"""tf.contrib.timeseries: state space models of level, trend, cycles and noise with a memory."""

from kit import cases
from supervised import folder_of_its_own
from time_series import batch_of, evaluated, trained


def _regressor(tf, folder, **options):
    return tf.contrib.timeseries.StructuralEnsembleRegressor(model_dir=folder, **options)


@cases(
    {
        "two features": (
            dict(periodicities=[6.5], num_features=2, cycle_num_latent_values=3, moving_average_order=1),
        ),
        "anomalies": (
            dict(periodicities=None, num_features=1, moving_average_order=1, anomaly_prior_probability=0.05),
        ),
    }
)
def learned(tf, np, options):
    with folder_of_its_own() as folder:
        regressor = _regressor(tf, folder, **options)
        return trained(tf, np, regressor, batch_of(tf, np, options["num_features"], window=12), steps=2)


def two_cycles(tf, np):
    with folder_of_its_own() as folder:
        regressor = _regressor(
            tf,
            folder,
            periodicities=[9, 4.25],
            num_features=1,
            cycle_num_latent_values=[3, 5],
            moving_average_order=0,
            autoregressive_order=2,
        )
        return evaluated(tf, np, regressor, batch_of(tf, np, batch=1, window=12))


def with_gaps(tf, np):
    times = np.array([[0, 1, 4, 9, 30, 31], [2, 3, 5, 8, 13, 21]])
    batch = {"times": tf.constant(times), "values": tf.constant(np.sin(times / 3.0)[..., None])}
    with folder_of_its_own() as folder:
        regressor = _regressor(tf, folder, periodicities=8, num_features=1, cycle_num_latent_values=7)
        return trained(tf, np, regressor, batch, steps=2)


def features_beside(tf, np):
    def condition(times, features):
        return tf.equal(times % 2, 0)

    with folder_of_its_own() as folder:
        regressor = _regressor(
            tf,
            folder,
            periodicities=6,
            num_features=1,
            cycle_num_latent_values=3,
            moving_average_order=0,
            exogenous_feature_columns=[tf.feature_column.numeric_column("beside")],
            exogenous_update_condition=condition,
        )
        return trained(tf, np, regressor, batch_of(tf, np, beside=True), steps=2)
