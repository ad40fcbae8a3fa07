"""Models of scikit-learn's digits, as people train them, and models that only wait."""

from functools import lru_cache
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier


@lru_cache(maxsize=1)
def digits() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Inputs to train on and to ask, and their labels: pictures of 8 x 8, put into 28 x 28 as MNIST has."""
    data = load_digits()
    pictures = np.zeros((len(data.images), 28, 28), np.float32)
    pictures[:, 2:26, 2:26] = np.kron(data.images / 16, np.ones((3, 3)))
    return tuple(train_test_split(pictures.reshape(-1, 784), data.target, test_size=0.5, random_state=0))


def linear_svm(folder: Path) -> Path:
    """The paper's model of many queries a second: a linear SVM."""
    train, _, labels, _ = digits()
    return saved(LinearSVC(dual=False, max_iter=50).fit(train[:400], labels[:400]), folder)


def kernel_svm(folder: Path) -> Path:
    """The paper's model of few queries a second: an SVM with an RBF kernel."""
    train, _, labels, _ = digits()
    return saved(SVC(gamma=0.02).fit(train[:400], labels[:400]), folder)


def saved(estimator: object, folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    joblib.dump(estimator, folder / "model.joblib")
    return folder


def waiting(folder: Path, batch_ms: float, row_ms: float) -> Path:
    """A model that computes on a device of its own, as this process sees it: it waits, and needs no core."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.py").write_text(
        "import time\n\nimport numpy as np\n\n"
        'INPUTS = {"inputs": ("float32", [None, 784])}\nOUTPUTS = {"outputs": ("float32", [None])}\n\n\n'
        "def predict_batch(rows):\n"
        f"    time.sleep(({batch_ms} + {row_ms} * len(rows)) / 1000)\n"
        "    return np.zeros(len(rows), np.float32)\n"
    )
    return folder


def five_unlike() -> dict[str, Any]:
    """Five models, one of them much better than the others."""
    return _trained(
        {
            "logistic regression": (LogisticRegression(max_iter=200), slice(800)),
            "linear SVM": (LinearSVC(dual=False, max_iter=50), slice(100)),
            "nearest neighbour": (KNeighborsClassifier(1), slice(60)),
            "naive Bayes": (GaussianNB(var_smoothing=0.02), slice(60)),
            "decision tree": (DecisionTreeClassifier(max_depth=8, random_state=0), slice(300)),
        }
    )


def five_alike() -> dict[str, Any]:
    """Five models of about the same quality, each with errors of its own."""
    return _trained(
        {
            "logistic regression": (LogisticRegression(max_iter=200), slice(0, 150)),
            "linear SVM": (LinearSVC(dual=False, max_iter=50), slice(150, 300)),
            "nearest neighbour": (KNeighborsClassifier(1), slice(300, 420)),
            "naive Bayes": (GaussianNB(var_smoothing=0.02), slice(420, 600)),
            "random forest": (RandomForestClassifier(12, random_state=0), slice(600, 800)),
        }
    )


def _trained(models: dict[str, tuple[Any, slice]]) -> dict[str, Any]:
    train, _, labels, _ = digits()
    return {name: model.fit(train[rows], labels[rows]) for name, (model, rows) in models.items()}
