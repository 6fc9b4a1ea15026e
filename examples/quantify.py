"""How many of these digits are 7, 8 or 9?  QuaPy's quantifiers on top of oneslack.

python examples/quantify.py            needs QuaPy: pip install 'oneslack[quapy]'
"""

import time

import quapy as qp
from quapy.data import LabelledCollection
from quapy.method import aggregative
from sklearn.datasets import load_digits

from oneslack.adapters.quapy import SVMperf, install


def main(n_train=900, C=1.0):
    X, digit = load_digits(return_X_y=True)
    data = LabelledCollection(X / 16, (digit >= 7).astype(int))
    train, test = data.split_stratified(n_train / len(data), random_state=0)

    with install():  # QuaPy's constructors, without SVMPERF_HOME
        quantifiers = {
            "SVM(Q)": aggregative.newSVMQ(C=C),
            "SVM(KLD)": aggregative.newSVMKLD(C=C),
            "SVM(NKLD)": aggregative.newSVMNKLD(C=C),
            "SVM(AE)": aggregative.newSVMAE(C=C),
            "SVM(RAE)": aggregative.newSVMRAE(C=C),
        }
    quantifiers["SVM, error rate"] = aggregative.CC(SVMperf(loss="error", C=C))

    # Samples of 100 test digits with prevalences from 0 to 1.
    protocol = qp.protocol.APP(test, sample_size=100, n_prevalences=11, repeats=10, random_state=0)
    errors = {}
    for name, quantifier in quantifiers.items():
        begin = time.perf_counter()
        quantifier.fit(*train.Xy)
        seconds = time.perf_counter() - begin
        errors[name] = qp.evaluation.evaluate(quantifier, protocol=protocol, error_metric="mae")
        gap = quantifier.classifier.duality_gap_
        print(f"{name:16} mae {errors[name]:.3f}   trained in {seconds:.2f} s to a gap of {gap:.1e}")
    return errors


if __name__ == "__main__":
    main()
