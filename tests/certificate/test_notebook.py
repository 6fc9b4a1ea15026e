"""What notebooks show: the certificate, above scikit-learn's own view."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

import oneslack
from oneslack.certificate.words import distance

X, Y = load_iris(return_X_y=True)


def test_a_result_shows_its_certificate():
    result = oneslack.minimize(lambda w: (abs(w[0] - 2), np.sign(w - 2)), 1, tol=1e-6)
    html = result._repr_html_()
    assert f"objective {result.primal:.6g}" in html
    assert f"lower bound {result.dual:.6g}" in html
    assert "(certified)" in html
    assert result.solver in html


@pytest.mark.parametrize("multi_class", ["crammer_singer", "ovr"])
def test_an_estimator_shows_it_above_its_parameters(multi_class, tmp_path):
    model = oneslack.LinearSVC(C=0.25, multi_class=multi_class).fit(X, Y)
    line = model._certificate_html()
    assert distance(model.objective_, model.dual_objective_) in line
    for html in (model._repr_html_(), model._repr_mimebundle_()["text/html"]):
        assert html.startswith(line)
        assert html.count(line) == 1
        assert "0.25" in html[len(line) :]
    model.save(tmp_path / "model")
    assert (
        distance(model.objective_, model.dual_objective_) in oneslack.load(tmp_path / "model")._repr_html_()
    )


def test_before_the_fit_there_is_none():
    assert "optimum" not in oneslack.LinearSVC()._repr_html_()


def test_what_is_not_proved_says_so(tmp_path):
    words = [[{"w": "the"}, {"w": "cat"}], [{"w": "a"}, {"w": "dog"}]]
    tagger = oneslack.SequenceTagger(C=1).fit(words, [["D", None], ["D", "N"]])
    assert not tagger.result_.certified
    assert "not proved" in tagger._repr_html_()
    tagger.save(tmp_path / "tagger")
    assert "not proved" in oneslack.load(tmp_path / "tagger")._repr_html_()
