"""Whole programs as people wrote them in 2019, in eager mode: models of text, attention, GANs and VAEs."""

from keras_models import close, recorded, seeded, sentences

EAGER = True


def text_classification(tf, np):
    seeded(tf, np)
    l = tf.keras.layers
    words, labels = sentences(np)
    model = tf.keras.Sequential(
        [
            l.Embedding(20, 8, mask_zero=True),
            l.Bidirectional(l.LSTM(6, return_sequences=True)),
            l.LSTM(5),
            l.Dense(8, activation="relu"),
            l.Dropout(0.0),
            l.Dense(1),
        ]
    )
    model.compile(
        loss=tf.keras.losses.BinaryCrossentropy(from_logits=True),
        optimizer=tf.keras.optimizers.SGD(0.5),
        metrics=["accuracy"],
    )
    data = tf.data.Dataset.from_tensor_slices((words, labels)).shuffle(30, seed=2).batch(8)
    history = model.fit(data, epochs=3, verbose=0, validation_data=data.take(1))
    return [recorded(history), close(model.predict(words[:3])), close(model.evaluate(data, verbose=0))]


def tokenized_text(tf, np):
    seeded(tf, np)
    texts = ["The cat sat.", "A dog barked at the cat!", "Birds sing", "the dog sat and sat"]
    tokenizer = tf.keras.preprocessing.text.Tokenizer(num_words=9, oov_token="<OOV>")
    tokenizer.fit_on_texts(texts)
    sequences = tokenizer.texts_to_sequences(texts)
    padded = tf.keras.preprocessing.sequence.pad_sequences(sequences, padding="post", maxlen=5)
    l = tf.keras.layers
    model = tf.keras.Sequential(
        [
            l.Embedding(9, 4, input_length=5),
            l.Conv1D(6, 3, activation="relu"),
            l.GlobalAveragePooling1D(),
            l.Dense(1, activation="sigmoid"),
        ]
    )
    model.compile("adam", "binary_crossentropy", metrics=["acc"])
    history = model.fit(padded, np.array([0, 1, 0, 1]), epochs=3, verbose=0, shuffle=False)
    return [tokenizer.word_index, padded, recorded(history)]


def attention_seq2seq(tf, np):
    """Bahdanau's attention with a loop of the program's own, teacher forcing and a masked loss."""
    seeded(tf, np)
    k = tf.keras

    class Encoder(k.Model):
        def __init__(self, vocabulary, size, units):
            super(Encoder, self).__init__()
            self.units = units
            self.embedding = k.layers.Embedding(vocabulary, size)
            self.gru = k.layers.GRU(
                units, return_sequences=True, return_state=True, recurrent_initializer="glorot_uniform"
            )

        def call(self, x, hidden):
            x = self.embedding(x)
            output, state = self.gru(x, initial_state=hidden)
            return output, state

        def initialize_hidden_state(self, n):
            return tf.zeros((n, self.units))

    class Attention(k.Model):
        def __init__(self, units):
            super(Attention, self).__init__()
            self.W1 = k.layers.Dense(units)
            self.W2 = k.layers.Dense(units)
            self.V = k.layers.Dense(1)

        def call(self, query, values):
            score = self.V(tf.nn.tanh(self.W1(values) + self.W2(tf.expand_dims(query, 1))))
            weights = tf.nn.softmax(score, axis=1)
            return tf.reduce_sum(weights * values, axis=1), weights

    class Decoder(k.Model):
        def __init__(self, vocabulary, size, units):
            super(Decoder, self).__init__()
            self.embedding = k.layers.Embedding(vocabulary, size)
            self.gru = k.layers.GRU(units, return_sequences=True, return_state=True)
            self.fc = k.layers.Dense(vocabulary)
            self.attention = Attention(units)

        def call(self, x, hidden, enc_output):
            context, weights = self.attention(hidden, enc_output)
            x = tf.concat([tf.expand_dims(context, 1), self.embedding(x)], axis=-1)
            output, state = self.gru(x)
            return self.fc(tf.reshape(output, (-1, output.shape[2]))), state, weights

    encoder, decoder = Encoder(12, 4, 6), Decoder(10, 4, 6)
    optimizer = k.optimizers.Adam()
    loss_object = k.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="none")

    def loss_function(real, pred):
        mask = tf.math.logical_not(tf.math.equal(real, 0))
        found = loss_object(real, pred)
        return tf.reduce_mean(found * tf.cast(mask, dtype=found.dtype))

    @tf.function
    def train_step(inp, targ, enc_hidden):
        loss = 0.0
        with tf.GradientTape() as tape:
            enc_output, enc_hidden = encoder(inp, enc_hidden)
            dec_hidden = enc_hidden
            dec_input = tf.expand_dims([1] * 4, 1)
            for t in range(1, targ.shape[1]):
                predictions, dec_hidden, _ = decoder(dec_input, dec_hidden, enc_output)
                loss += loss_function(targ[:, t], predictions)
                dec_input = tf.expand_dims(targ[:, t], 1)
        batch_loss = loss / int(targ.shape[1])
        variables = encoder.trainable_variables + decoder.trainable_variables
        gradients = tape.gradient(loss, variables)
        optimizer.apply_gradients(zip(gradients, variables))
        return batch_loss

    r = np.random.RandomState(1)
    source = tf.constant(r.randint(1, 12, (8, 5)), tf.int32)
    target = tf.constant(r.randint(0, 10, (8, 4)), tf.int32)
    losses = []
    for _ in range(3):
        for inp, targ in tf.data.Dataset.from_tensor_slices((source, target)).batch(4, drop_remainder=True):
            losses.append(train_step(inp, targ, encoder.initialize_hidden_state(4)))
    out, state = encoder(source[:1], encoder.initialize_hidden_state(1))
    logits, _, weights = decoder(tf.constant([[1]]), state, out)
    return [close([float(v) for v in losses]), close(logits), close(weights)]


def transformer(tf, np):
    """Multi-head attention with masks, feed-forward blocks, a learning rate schedule of the program's own."""
    seeded(tf, np)
    k = tf.keras

    class MultiHead(k.layers.Layer):
        def __init__(self, d_model, heads):
            super(MultiHead, self).__init__()
            self.heads, self.d_model, self.depth = heads, d_model, d_model // heads
            self.wq, self.wk, self.wv, self.dense = (k.layers.Dense(d_model) for _ in range(4))

        def split(self, x, batch_size):
            x = tf.reshape(x, (batch_size, -1, self.heads, self.depth))
            return tf.transpose(x, perm=[0, 2, 1, 3])

        def call(self, v, keys, q, mask):
            n = tf.shape(q)[0]
            q, keys, v = self.split(self.wq(q), n), self.split(self.wk(keys), n), self.split(self.wv(v), n)
            logits = tf.matmul(q, keys, transpose_b=True) / tf.math.sqrt(tf.cast(self.depth, tf.float32))
            if mask is not None:
                logits += mask * -1e9
            weights = tf.nn.softmax(logits, axis=-1)
            joined = tf.transpose(tf.matmul(weights, v), perm=[0, 2, 1, 3])
            return self.dense(tf.reshape(joined, (n, -1, self.d_model))), weights

    class Block(k.layers.Layer):
        def __init__(self, d_model, heads, dff, rate=0.0):
            super(Block, self).__init__()
            self.mha = MultiHead(d_model, heads)
            self.ffn = k.Sequential([k.layers.Dense(dff, activation="relu"), k.layers.Dense(d_model)])
            self.norm1 = k.layers.LayerNormalization(epsilon=1e-6)
            self.norm2 = k.layers.LayerNormalization(epsilon=1e-6)
            self.drop = k.layers.Dropout(rate)

        def call(self, x, training, mask):
            attended, _ = self.mha(x, x, x, mask)
            out = self.norm1(x + self.drop(attended, training=training))
            return self.norm2(out + self.drop(self.ffn(out), training=training))

    class Net(k.Model):
        def __init__(self):
            super(Net, self).__init__()
            self.embedding = k.layers.Embedding(15, 8)
            self.blocks = [Block(8, 2, 12) for _ in range(2)]
            self.final = k.layers.Dense(15)

        def call(self, x, training=None):
            mask = tf.cast(tf.math.equal(x, 0), tf.float32)[:, tf.newaxis, tf.newaxis, :]
            x = self.embedding(x) * tf.math.sqrt(8.0)
            for block in self.blocks:
                x = block(x, training, mask)
            return self.final(x)

    class Schedule(k.optimizers.schedules.LearningRateSchedule):
        def __init__(self, d_model, warmup_steps=4):
            super(Schedule, self).__init__()
            self.d_model = tf.cast(d_model, tf.float32)
            self.warmup_steps = warmup_steps

        def __call__(self, step):
            return tf.math.rsqrt(self.d_model) * tf.math.minimum(
                tf.math.rsqrt(step), step * (self.warmup_steps**-1.5)
            )

    model = Net()
    optimizer = k.optimizers.Adam(Schedule(8), beta_1=0.9, beta_2=0.98, epsilon=1e-9)
    loss_metric = k.metrics.Mean(name="train_loss")
    accuracy = k.metrics.SparseCategoricalAccuracy(name="train_accuracy")
    crossentropy = k.losses.SparseCategoricalCrossentropy(from_logits=True)

    @tf.function(input_signature=[tf.TensorSpec((None, None), tf.int64)] * 2)
    def train_step(inp, tar):
        with tf.GradientTape() as tape:
            logits = model(inp, training=True)
            loss = crossentropy(tar, logits)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        loss_metric(loss)
        accuracy(tar, logits)

    words, _ = sentences(np, 16, 6, 15)
    found = []
    for _ in range(3):
        loss_metric.reset_states()
        accuracy.reset_states()
        for batch in tf.data.Dataset.from_tensor_slices(words).batch(8):
            train_step(batch, batch)
        found.append([float(loss_metric.result()), float(accuracy.result())])
    return [close(found), len(model.trainable_variables), close(model(tf.constant(words[:1])))]


def gan(tf, np):
    seeded(tf, np)
    l = tf.keras.layers
    generator = tf.keras.Sequential(
        [
            l.Dense(3 * 3 * 4, use_bias=False, input_shape=(5,)),
            l.BatchNormalization(),
            l.LeakyReLU(),
            l.Reshape((3, 3, 4)),
            l.Conv2DTranspose(2, 3, strides=2, padding="same", use_bias=False),
            l.BatchNormalization(),
            l.LeakyReLU(),
            l.Conv2DTranspose(1, 3, strides=1, padding="same", activation="tanh"),
        ]
    )
    discriminator = tf.keras.Sequential(
        [
            l.Conv2D(4, 3, strides=2, padding="same", input_shape=[6, 6, 1]),
            l.LeakyReLU(),
            l.Flatten(),
            l.Dense(1),
        ]
    )
    entropy = tf.keras.losses.BinaryCrossentropy(from_logits=True)
    optimizers = tf.keras.optimizers.Adam(1e-3), tf.keras.optimizers.Adam(1e-3)

    @tf.function
    def train_step(images):
        noise = tf.random.normal([4, 5], seed=1)
        with tf.GradientTape() as gen_tape, tf.GradientTape() as disc_tape:
            made = generator(noise, training=True)
            real, fake = discriminator(images, training=True), discriminator(made, training=True)
            gen_loss = entropy(tf.ones_like(fake), fake)
            disc_loss = entropy(tf.ones_like(real), real) + entropy(tf.zeros_like(fake), fake)
        for tape, loss, net, optimizer in (
            (gen_tape, gen_loss, generator, optimizers[0]),
            (disc_tape, disc_loss, discriminator, optimizers[1]),
        ):
            grads = tape.gradient(loss, net.trainable_variables)
            optimizer.apply_gradients(zip(grads, net.trainable_variables))
        return gen_loss, disc_loss

    images = np.random.RandomState(2).rand(8, 6, 6, 1).astype(np.float32)
    losses = []
    for _ in range(2):
        for batch in tf.data.Dataset.from_tensor_slices(images).batch(4):
            losses.append([float(v) for v in train_step(batch)])
    return [close(losses), close(generator(tf.ones([1, 5]), training=False))]


def vae_with_add_loss(tf, np):
    seeded(tf, np)
    l = tf.keras.layers

    class Sampling(l.Layer):
        def call(self, inputs):
            mean, log_var = inputs
            return mean + tf.exp(0.5 * log_var) * 0.3

    class Encoder(l.Layer):
        def __init__(self, latent_dim=2, hidden=6, **kwargs):
            super(Encoder, self).__init__(**kwargs)
            self.proj = l.Dense(hidden, activation="relu")
            self.mean, self.log_var, self.sampling = l.Dense(latent_dim), l.Dense(latent_dim), Sampling()

        def call(self, inputs):
            x = self.proj(inputs)
            mean, log_var = self.mean(x), self.log_var(x)
            return mean, log_var, self.sampling((mean, log_var))

    class VAE(tf.keras.Model):
        def __init__(self, original, **kwargs):
            super(VAE, self).__init__(**kwargs)
            self.encoder = Encoder()
            self.decoder = tf.keras.Sequential(
                [l.Dense(6, activation="relu"), l.Dense(original, activation="sigmoid")]
            )

        def call(self, inputs):
            mean, log_var, z = self.encoder(inputs)
            self.add_loss(-0.5 * tf.reduce_mean(log_var - tf.square(mean) - tf.exp(log_var) + 1))
            return self.decoder(z)

    x = np.random.RandomState(6).rand(16, 5).astype(np.float32)
    vae = VAE(5)
    optimizer, mse = tf.keras.optimizers.Adam(1e-2), tf.keras.losses.MeanSquaredError()
    losses = []
    for _ in range(2):
        for batch in tf.data.Dataset.from_tensor_slices(x).batch(8):
            with tf.GradientTape() as tape:
                loss = mse(batch, vae(batch)) + sum(vae.losses)
            grads = tape.gradient(loss, vae.trainable_weights)
            optimizer.apply_gradients(zip(grads, vae.trainable_weights))
            losses.append(float(loss))
    other = VAE(5)
    other.compile(tf.keras.optimizers.Adam(1e-2), loss=mse)
    history = other.fit(x, x, epochs=2, batch_size=8, shuffle=False, verbose=0)
    return [close(losses), recorded(history), close(vae(x[:2]))]
