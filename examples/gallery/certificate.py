"""The certificate: what a gap says about the model, and about its predictions.

Two numbers enclose the optimum at every step of a training. They close in on it, and training ends where
you said. From the gap follows, too, which predictions the exact optimum would make: those are settled,
whatever more training did.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale

import oneslack
from oneslack import viz
from oneslack.viz.look import tidy

TOLERANCES = (0.3, 0.1, 0.03, 0.01, 1e-3, 1e-4)


def main():
    X, y = load_breast_cancer(return_X_y=True)
    X = scale(X)
    optimum = oneslack.LinearSVC(C=0.1, tol=1e-9).fit(X, y)
    told = {"gaps": [], "settled": [], "same": []}
    for tol in TOLERANCES:
        model = oneslack.LinearSVC(C=0.1, tol=tol, solver="one_slack").fit(X, y)
        told["gaps"].append(model.duality_gap_)
        told["settled"].append(model.certain(X).mean())
        told["same"].append((model.predict(X) == optimum.predict(X)).mean())
        print(f"gap {model.duality_gap_:.1e}: {told['settled'][-1]:.1%} of the predictions are settled")
    print(oneslack.check_certificate(model, X, y))

    figure, (left, right) = plt.subplots(1, 2, figsize=(10.0, 3.8), layout="constrained")
    viz.plot_bounds(model, x="iteration", ax=left)
    right.plot(
        told["gaps"], told["same"], "s--", color="#d55e00", label="those of the optimum (known afterwards)"
    )
    right.plot(told["gaps"], told["settled"], "o-", color="#0072b2", label="settled (proven at once)")
    right.set(xscale="log", xlabel="relative duality gap", ylabel="share of the predictions", ylim=(0, 1.05))
    right.invert_xaxis()
    right.legend(frameon=False)
    tidy(right)
    return figure, told


if __name__ == "__main__":
    main()[0].savefig("certificate.png")
