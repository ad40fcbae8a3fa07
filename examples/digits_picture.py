"""The picture that digits.py leaves: loss, accuracy, and a page of predictions with the mistakes marked."""

import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt

INK, MUTED, LINE = "#1f2933", "#6b7785", "#e4e7eb"
SEA, RIGHT, WRONG = "#0b7285", "#2f855a", "#c92a2a"
LOOK = {
    "text.color": INK,
    "axes.edgecolor": LINE,
    "axes.labelcolor": MUTED,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
}


def draw(path, summary, losses, accuracies, test, guesses):
    """Writes the picture of a training run to `path`, making its folder where there is none."""
    with plt.rc_context(LOOK):
        figure = plt.figure(figsize=(13, 7.2), facecolor="white")
        figure.text(0.055, 0.925, "Reading handwritten digits", fontsize=20, fontweight="bold")
        figure.text(0.055, 0.88, summary, fontsize=11.5, color=MUTED)
        left = figure.add_gridspec(2, 1, left=0.055, right=0.40, top=0.79, bottom=0.08, hspace=0.34)
        draw_loss(figure.add_subplot(left[0]), losses)
        draw_accuracy(figure.add_subplot(left[1]), accuracies)
        draw_predictions(figure, *test, guesses)
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, dpi=150)
        plt.close(figure)


def prepare(axes, title):
    axes.set_title(title, loc="left", fontsize=11.5, fontweight="bold", pad=10)
    axes.grid(axis="y", color=LINE, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(which="both", length=0, labelsize=9)
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.spines[["top", "right", "left"]].set_visible(False)


def draw_loss(axes, losses):
    prepare(axes, "Loss on the training batches")
    steps = np.arange(1, len(losses) + 1)
    window = min(25, len(losses))
    log_mean = np.convolve(np.log(np.maximum(losses, 1e-9)), np.ones(window) / window, mode="valid")
    axes.plot(steps, losses, color=SEA, alpha=0.28, linewidth=0.8, label="each batch")
    axes.plot(steps[window - 1 :], np.exp(log_mean), color=SEA, linewidth=2, label=f"mean of {window}")
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter("{x:g}")
    axes.set_xlim(0, len(losses) * 1.02)
    axes.legend(frameon=False, fontsize=9, loc="upper right", labelcolor=MUTED)


def draw_accuracy(axes, accuracies):
    prepare(axes, "Accuracy on unseen digits")
    steps, fractions = np.array(accuracies).T
    percent = 100 * fractions
    axes.plot(steps, percent, color=SEA, linewidth=2, clip_on=False)
    axes.plot(steps[-1], percent[-1], "o", color=SEA, markersize=6, clip_on=False)
    axes.annotate(
        f"{percent[-1]:.1f}%",
        (steps[-1], percent[-1]),
        (0, -20 if percent[-1] > 50 else 12),
        textcoords="offset points",
        ha="right",
        fontsize=11,
        fontweight="bold",
        color=SEA,
    )
    axes.set_ylim(min(80, percent.min() - 5), 100)
    axes.yaxis.set_major_formatter("{x:g}%")
    axes.set_xlim(0, steps[-1] * 1.02)
    axes.set_xlabel("step", fontsize=9)


def draw_predictions(figure, pictures, answers, guesses, rows=5, columns=8):
    """A grid of test pictures: the mistakes first, then some that were right."""
    wrong = np.flatnonzero(guesses != answers)
    right = np.flatnonzero(guesses == answers)
    shown = np.concatenate([wrong, right])[: rows * columns]
    mistakes = "1 mistake" if len(wrong) == 1 else f"{len(wrong)} mistakes"

    figure.text(0.455, 0.8095, "What it reads", fontsize=11.5, fontweight="bold")
    figure.text(0.98, 0.8095, f"{mistakes} in {len(answers)}", fontsize=10, color=MUTED, ha="right")
    grid = figure.add_gridspec(
        rows, columns, left=0.455, right=0.98, top=0.79, bottom=0.055, hspace=0.36, wspace=0.16
    )
    for cell, index in zip(grid, shown):
        draw_digit(figure.add_subplot(cell), pictures[index, :, :, 0], answers[index], guesses[index])


def draw_digit(axes, picture, answer, guess):
    axes.imshow(picture, cmap="gray_r", vmin=0, vmax=1)
    axes.set(xticks=[], yticks=[])
    if guess == answer:
        axes.set_xlabel(f"✓ {guess}", fontsize=10, labelpad=4, color=RIGHT)
    else:
        axes.set_xlabel(f"✗ {guess}, is {answer}", fontsize=10, labelpad=4, color=WRONG, fontweight="bold")
        for spine in axes.spines.values():
            spine.set(edgecolor=WRONG, linewidth=2.2)
