"""`tensorflow.contrib.rnn.python.tools.checkpoint_convert`: names that cells had before TensorFlow 1.2."""

from __future__ import annotations

from collections import OrderedDict

import tideflow as tf

# Cells whose variables were `weights` and `biases`, with the scopes between cell and variable.
_CELLS = {
    "basic_rnn_cell": ("",),
    "gru_cell": ("", "gates/", "candidate/"),
    "basic_lstm_cell": ("",),
    "lstm_cell": ("", "projection/"),
    "output_projection_wrapper": ("",),
    "input_projection_wrapper": ("",),
    "lstm_block_wrapper": ("",),
    "layer_norm_basic_lstm_cell": ("",),
    "ugrnn_cell": ("",),
    "intersection_rnn_cell": ("", "in_projection/"),
    "phased_lstm_cell": ("mask_gates/", "new_input/", "output_gate/"),
    "attention_cell_wrapper": ("", "attn_output_projection/", "attention/"),
    "attention_decoder": ("", "Attention_0/", "AttnOutputProjection/"),
}
# Names that are older still, or of no `weights` and `biases`.
_OTHERS = {
    "nas_rnn/weights": "nas_rnn/kernel",
    "nas_rnn/recurrent_weights": "nas_rnn/recurrent_kernel",
    **{
        f"attention_decoder/{scope}{old}": f"attention_decoder/{scope.removesuffix('Linear/')}{new}"
        for scope in ("Attention_0/Linear/", "AttnOutputProjection/Linear/", "Linear/")
        for old, new in (("Bias", "bias"), ("Matrix", "kernel"))
    },
    "attention_decoder/LSTMCell/B": "attention_decoder/lstm_cell/bias",
    "attention_decoder/LSTMCell/W_0": "attention_decoder/lstm_cell/kernel",
}
RNN_NAME_REPLACEMENTS = OrderedDict(
    {
        f"{cell}/{scope}{old}": f"{cell}/{scope}{new}"
        for cell, scopes in _CELLS.items()
        for scope in scopes
        for old, new in (("weights", "kernel"), ("biases", "bias"))
    }
    | _OTHERS
)


def convert_names(
    checkpoint_from_path: str, checkpoint_to_path: str, write_v1_checkpoint: bool = False
) -> tuple[dict[str, tf.Variable], dict[str, str]]:
    """Writes a checkpoint again, with the names that cells' variables have now.

    Returns:
      The variables by new name, and the new names by old one, of those that differ.
    """
    with tf.Graph().as_default():
        reader = tf.train.NewCheckpointReader(checkpoint_from_path)
        variables, changed = {}, {}
        for name in reader.get_variable_to_shape_map():
            new = _replaced(name)
            variables[new] = tf.Variable(reader.get_tensor(name), name=name)
            if new != name:
                tf.logging.info("Converted: %s --> %s", name, new)
                changed[name] = new
        version = tf.train.SaverDef.V1 if write_v1_checkpoint else tf.train.SaverDef.V2
        saver = tf.train.Saver(variables, write_version=version)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            saver.save(session, checkpoint_to_path)
    return variables, changed


def _replaced(name: str) -> str:
    for old, new in RNN_NAME_REPLACEMENTS.items():
        if old in name:
            return name.replace(old, new)
    return name
