"""Forgers: each changes a copy of a model file or of the data, and knows the formats well."""

import numpy as np


def of_dual(name, change, key="proof.0.duals"):
    def forge(header, arrays, A, b):
        change(arrays[key])
        return header, arrays, A, b

    return name, forge


def set_at(place, value):
    def change(array):
        array[place] = value

    return change


def of_largest(function):
    """Change the dual that is largest."""

    def change(array):
        k = int(np.argmax(np.abs(array)))
        array[k] = function(array[k])

    return change


def of_array(name, key, function):
    def forge(header, arrays, A, b):
        arrays[key] = function(arrays[key])
        return header, arrays, A, b

    return name, forge


def of_header(name, change):
    def forge(header, arrays, A, b):
        change(header)
        return header, arrays, A, b

    return name, forge


def of_data(name, function):
    def forge(header, arrays, A, b):
        return header, arrays, *function(A, b)

    return name, forge


def claim(k, value):
    def change(header):
        header["proof"]["claims"][0][k] = value(header["proof"]["claims"][0][k])

    return change


def smaller_gap(header):
    primal, dual = header["proof"]["claims"][0]
    header["proof"]["claims"][0][1] = better = primal - 0.9 * (primal - dual)
    header["certificate"] |= {"dual": better, "relative_gap": (primal - better) / primal}


def other_C(factor):
    def change(header):
        header["parameters"]["C"] *= factor
        header["proof"]["C"] *= factor

    return change


def parameter(name, value):
    return lambda header: header["parameters"].__setitem__(name, value)


def other_labels(A, b):
    b = b.copy()
    b[5] = b[np.flatnonzero(b != b[5])[0]]
    return A, b


def sentences(function):
    return lambda A, b: (A, [function(list(labels)) if i == 3 else labels for i, labels in enumerate(b)])


def negated(array):
    k = int(np.argmax(array))
    array[k] = -array[k]


def smaller_objective(header):
    header["certificate"] |= {"primal": 1.0, "dual": 0.999, "relative_gap": 0.001}
    header["proof"]["claims"] = [[1.0, 0.999]]


def smaller_ball(header):
    header["certificate"]["radius"] = [0.99 * radius for radius in header["certificate"]["radius"]]


def with_array(key, make):
    def forge(header, arrays, A, b):
        return header, arrays | {key: make()}, A, b

    return forge


def other_centre(header, arrays, A, b):
    coef, bias = arrays["coef"] + 1.0, arrays["intercept"]
    return header, arrays | {"optimum.coef": coef, "optimum.intercept": bias}, A, b


def any_weights(header, arrays, A, b):
    """With the prior w - v any w is the best, v being the slope of its risk."""
    s, w = np.where(b > 0, 1.0, -1.0), np.linspace(-2.0, 2.0, A.shape[1])
    duals = 0.5 * ((1.0 - s * (A @ w)) > 0) * s
    v = A.T @ duals
    value = 0.5 * v @ v + 0.5 * np.maximum(0.0, 1.0 - s * (A @ w)).sum()
    header["certificate"] |= {"primal": value, "dual": value * (1 - 1e-9), "relative_gap": 1e-9}
    header["proof"]["claims"] = [[value, value * (1 - 1e-9)]]
    more = {"coef": w[None], "proof.0.duals": duals, "proof.prior": (w - v)[None]}
    return header, arrays | more, A, b


def support_twice(header, arrays, A, b):
    arrays["support"][1], arrays["vectors"][1] = arrays["support"][0], arrays["vectors"][0]
    return header, arrays, A, b


#: x' z - 1 is below 0 for x = z = 0.
POLYNOMIAL = {"name": "poly", "gamma": 1.0, "coef0": -1.0, "degree": 3.0}


def fewer_sequences(header, arrays, A, b):
    del header["model"]["fields"]["allowed"]
    return header, arrays | {"model.allowed": np.ones((3, 3), bool) & ~np.eye(3, k=2, dtype=bool)}, A, b
