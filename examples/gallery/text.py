"""Text: which library does a sentence of documentation come from?

Four libraries explain their functions in docstrings. Their first paragraphs, without the libraries' names,
are texts with four classes: as many as a machine has that runs this. Words and pairs of words become tf-idf
features; one model learns all classes at once, and its largest weights say what it goes by.
"""

import importlib
import inspect
import re

import matplotlib.pyplot as plt
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import f1_score
from sklearn.model_selection import train_test_split

import oneslack
from oneslack import viz

MODULES = {
    "NumPy": ("numpy", "numpy.linalg", "numpy.fft", "numpy.random", "numpy.ma"),
    "SciPy": ("scipy.stats", "scipy.signal", "scipy.special", "scipy.ndimage", "scipy.linalg"),
    "scikit-learn": ("sklearn.metrics", "sklearn.linear_model", "sklearn.datasets", "sklearn.preprocessing"),
    "matplotlib": ("matplotlib.pyplot", "matplotlib.axes", "matplotlib.patches", "matplotlib.colors"),
}
NAMES = re.compile("numpy|scipy|sklearn|scikit-learn|matplotlib|pyplot", re.IGNORECASE)


def first_paragraphs():
    """(texts, libraries), each text once; functions, classes and the methods of classes."""
    found = {}
    for library, modules in MODULES.items():
        for module in map(importlib.import_module, modules):
            for _, thing in inspect.getmembers(module):
                inner = vars(thing).values() if inspect.isclass(thing) else ()
                for one in (thing, *inner):
                    text = one.__doc__ if callable(one) else None
                    if isinstance(text, str) and len(text) > 40:
                        found.setdefault(NAMES.sub("", inspect.cleandoc(text).split("\n\n")[0]), library)
    return list(found), list(found.values())


def main():
    texts, libraries = first_paragraphs()
    train, test, y, y_test = train_test_split(texts, libraries, random_state=0, stratify=libraries)
    words = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True).fit(train)
    model = oneslack.LinearSVC(C=1.0).fit(words.transform(train), y)
    found = model.predict(words.transform(test))
    told = {
        "texts": len(train),
        "features": words.transform(train).shape[1],
        "right": model.score(words.transform(test), y_test),
        "macro_f1": f1_score(y_test, found, average="macro"),
        "gap": model.duality_gap_,
    }
    print("{texts} texts, {features} features, gap {gap:.1e}".format(**told))
    print("of other texts {right:.1%} are right, macro-F1 {macro_f1:.3f}".format(**told))

    figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4.2), layout="constrained")
    viz.plot_weights(model, 14, feature_names=words.get_feature_names_out(), output="SciPy", ax=left)
    left.set_title("Words that speak for SciPy", loc="left")
    viz.plot_confusion(y_test, found, ax=right)
    return figure, told


if __name__ == "__main__":
    main()[0].savefig("text.png")
