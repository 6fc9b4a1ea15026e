"""Pictures say what the models and their training say: lines, labels and patches, not pixels."""

import doctest
import importlib
import itertools
import subprocess
import sys
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.datasets import load_iris, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import precision_recall_curve, roc_curve

import oneslack
from oneslack import OneslackError, viz
from oneslack.datasets import make_checkers
from oneslack.memory.trace_keeping import from_header, joined, thinned, to_header
from oneslack.viz import look, thresholds
from oneslack.viz.named_weights import largest_weights, transitions_of
from oneslack.viz.trees import layout

X, Y = load_iris(return_X_y=True)


@pytest.fixture(autouse=True)
def close_figures():
    plt.switch_backend("Agg")
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def binary():
    points, y = make_classification(300, 6, flip_y=0.1, random_state=0)
    return oneslack.MetricSVC("f1", C=0.1).fit(points, y), points, y


@pytest.fixture(scope="module")
def tagger():
    words = [[{"w": "the"}, {"w": "cat"}], [{"w": "a"}, {"w": "dog"}, {"w": "barks"}]]
    return oneslack.SequenceTagger(C=10).fit(words, [["D", "N"], ["D", "N", "V"]])


# The course of a training.


def test_one_run_is_a_band():
    model = oneslack.LinearSVC(solver="one_slack", tol=1e-4).fit(X, Y)
    ax = viz.plot_bounds(model)
    trace = model.result_.trace
    upper, lower = ax.lines
    np.testing.assert_array_equal(upper.get_ydata()[:-1], trace.column("primal")[:-1])
    np.testing.assert_array_equal(lower.get_ydata()[:-1], trace.column("dual")[:-1])
    # The last row has the bounds that are proven, rounding included.
    assert (upper.get_ydata()[-1], lower.get_ydata()[-1]) == (model.objective_, model.dual_objective_)
    assert (upper.get_ydata() >= lower.get_ydata()).all()
    assert len(ax.collections) == 1
    assert len(ax.get_legend().texts) == 3
    assert viz.plot_bounds(model.result_, x="iteration").lines[0].get_xdata()[-1] == len(trace)


def test_several_runs_are_gaps():
    runs = [oneslack.LinearSVC(solver=name).fit(X, Y) for name in ("newton", "dual_cd")]
    ax = viz.plot_bounds(*runs)
    assert ax.get_yscale() == "log"
    assert [text.get_text() for text in ax.get_legend().texts] == ["1: newton", "2: dual_cd"]
    for line, run in zip(ax.lines, runs):
        assert line.get_ydata()[-1] == pytest.approx(run.duality_gap_)
    named = viz.plot_bounds(*runs, labels=["a", "b"])
    assert [text.get_text() for text in named.get_legend().texts] == ["a", "b"]


def test_a_run_of_one_step_is_seen():
    result = oneslack.LinearSVC(solver="one_slack").fit(X, Y).result_
    short = type(result.trace)([result.trace[-1]])
    assert all(line.get_marker() == "o" for line in viz.plot_bounds(short).lines[2:])
    assert len(viz.plot_bounds(short).lines) == 4
    assert viz.plot_bounds(short, short).lines[0].get_marker() == "o"


def test_problems_of_one_model_are_added_up():
    model = oneslack.LinearSVC(multi_class="ovr", tol=1e-3).fit(X, Y)
    trace = model.trace_
    assert len(model.result_.parts) == 3
    assert trace[-1].primal == pytest.approx(model.objective_)
    assert trace[-1].dual == pytest.approx(model.dual_objective_)
    assert (np.diff(trace.column("seconds")) > 0).all()
    assert (np.diff(trace.column("primal")) <= 1e-9).all()
    assert (np.diff(trace.column("dual")) >= -1e-9).all()
    assert viz.plot_bounds(model).lines[0].get_ydata()[-1] == pytest.approx(model.objective_)


def test_joined_bounds_at_each_time():
    from oneslack.result import Trace, TraceRow

    first = Trace([TraceRow(1, 1.0, 10.0, -1.0, 1.0, 1), TraceRow(2, 3.0, 8.0, 7.0, 0.1, 2)])
    second = Trace([TraceRow(1, 0.5, np.inf, 0.0, np.inf, 1), TraceRow(2, 2.0, 5.0, 4.0, 0.2, 1)])
    both = joined([first, second])
    assert [(row.seconds, row.primal, row.dual) for row in both] == [(2.0, 15.0, 4.0), (3.0, 13.0, 11.0)]
    assert joined([first, Trace()]) == []


def test_a_kept_trace_is_short_and_ends_where_the_training_ended(tmp_path):
    with pytest.warns(ConvergenceWarning):
        model = oneslack.LinearSVC(solver="dual_cd", tol=1e-9, max_iter=500).fit(X[:, :2], Y)
    assert len(model.trace_) > 100
    short = thinned(model.trace_)
    assert len(short) <= 100
    assert short[0] == model.trace_[0]
    assert short[-1] == model.trace_[-1]
    assert (np.diff(short.column("seconds")) > 0).all()
    model.save(tmp_path / "model")
    again = oneslack.load(tmp_path / "model")
    assert again.trace_[-1].primal == pytest.approx(model.objective_, rel=1e-9)
    assert again.trace_[-1].dual == pytest.approx(model.dual_objective_, rel=1e-9)
    assert from_header(to_header(again.trace_)) == again.trace_
    viz.plot_bounds(again)


def test_runs_that_are_none():
    with pytest.raises(OneslackError, match="at least one run"):
        viz.plot_bounds()
    with pytest.raises(OneslackError, match="got int"):
        viz.plot_bounds(3)
    result = oneslack.minimize(lambda w: (abs(w[0]), np.sign(w)), 1)
    with pytest.raises(OneslackError, match="2 labels"):
        viz.plot_bounds(result, labels=["a", "b"])
    with pytest.raises(OneslackError, match="'steps'"):
        viz.plot_bounds(result, x="steps")


# Weights.


def test_weights_are_the_largest_and_have_names():
    names = ["sepal length", "sepal width", "petal length", "petal width"]
    model = oneslack.LinearSVC().fit(X, Y)
    ax = viz.plot_weights(model, 5, feature_names=names)
    widths = [bar.get_width() for bar in ax.patches]
    size = np.sort(np.abs(model.coef_).ravel())[::-1]
    np.testing.assert_allclose(np.sort(np.abs(widths))[::-1], size[:5])
    assert widths == sorted(widths, reverse=True)
    row, column = np.unravel_index(np.argmax(model.coef_), model.coef_.shape)
    assert ax.get_yticklabels()[0].get_text() == f"{names[column]}  [{row}]"
    only = largest_weights(model, 10, names, output=1)
    assert {one.output for one in only} == {"1"}
    np.testing.assert_allclose([one.value for one in only], np.sort(model.coef_[1])[::-1])


def test_weights_without_names_and_of_two_classes(binary):
    weights = largest_weights(binary[0], 3)
    assert all(one.feature.startswith("feature ") and one.output == "" for one in weights)
    with pytest.raises(OneslackError, match="drop output"):
        viz.plot_weights(binary[0], output=1)
    with pytest.raises(OneslackError, match="6 features but 2 names"):
        viz.plot_weights(binary[0], feature_names=["a", "b"])
    with pytest.raises(OneslackError, match="choose from 0, 1, 2"):
        viz.plot_weights(oneslack.LinearSVC().fit(X, Y), output="rose")


def test_weights_of_a_tagger_by_feature_and_label(tagger):
    found = {(one.feature, one.output): one.value for one in largest_weights(tagger, 100)}
    column = tagger._indexer.column("w=dog")
    for label, name in enumerate(tagger.classes_):
        value = tagger.coef_[column * 3 + label]
        assert found.get(("w=dog", name), 0.0) == value
    noun = largest_weights(tagger, 100, output="N")
    assert {one.output for one in noun} == {"N"}
    assert max(noun, key=lambda one: one.value).feature in ("w=cat", "w=dog")


def test_weights_of_a_tagger_with_a_kernel_have_numbers():
    tagger = oneslack.SequenceTagger(kernel="rbf").fit(
        [np.eye(3)[:2], np.eye(3)[1:]], [["a", "b"], ["b", "a"]]
    )
    assert all(one.feature.startswith("feature ") for one in largest_weights(tagger))
    assert viz.plot_weights(tagger).patches


def test_weights_of_a_parser_are_rules():
    trees = ["(S (NP (PRP I)) (VP (VBP see) (NP (NNS stars))))", "(S (NP (NNS eyes)) (VP (VBP see)))"]
    parser = oneslack.GrammarParser(C=1.0, min_count=1, frequencies=False).fit(trees)
    parser.coef_ = 1.0 + np.arange(parser.model_.n_params)  # each rule is told by its weight
    found = {one.feature: one.value for one in largest_weights(parser, 1000)}
    for tree in map(oneslack.Tree.parse, trees):
        rules = [
            f"{n.label} → {' '.join(str(getattr(c, 'label', c)) for c in n.children)}" for n in tree.nodes()
        ]
        top = [name for name in found if name.endswith(" → S")]
        z = parser.grammar_.encode(tree)
        score = parser.model_.joint_feature(tree.words(), z) @ parser.coef_
        assert sum(found[name] for name in [*rules, *top]) == pytest.approx(float(np.squeeze(score)))


def test_a_model_without_weights():
    points, y = make_checkers(50, random_state=0)
    with pytest.raises(OneslackError, match="not linear"):
        viz.plot_weights(oneslack.KernelSVC().fit(points, y))


# Matrices.


def test_long_labels_of_few_classes_do_not_collide():
    names = ["a rather long name", "another long name", "one more long name", "x"]
    ax = viz.plot_confusion(names, names)
    ax.figure.canvas.draw()
    boxes = [label.get_window_extent() for label in ax.get_xticklabels()]
    assert not any(a.overlaps(b) for a, b in pairwise(boxes))
    assert all(label.get_rotation() == 0 for label in viz.plot_confusion("ab", "ab").get_xticklabels())


def test_confusion_counts():
    truth, guess = ["a", "b", "b", "c"], ["a", "a", "b", "b"]
    ax = viz.plot_confusion(truth, guess)
    np.testing.assert_array_equal(ax.images[0].get_array(), [[1, 0, 0], [1, 1, 0], [0, 1, 0]])
    assert [label.get_text() for label in ax.get_xticklabels()] == ["a", "b", "c"]
    shares = viz.plot_confusion(truth, guess, normalise=True).images[0].get_array()
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    of_tokens = viz.plot_confusion([["a", "b"], ["b", "c"]], [["a", "a"], ["b", "b"]])
    np.testing.assert_array_equal(of_tokens.images[0].get_array(), ax.images[0].get_array())
    some = viz.plot_confusion(np.array(truth), np.array(guess), labels=["b", "a"])
    np.testing.assert_array_equal(some.images[0].get_array(), [[1, 1], [0, 1]])
    with pytest.raises(OneslackError, match="4 true labels but 1"):
        viz.plot_confusion(truth, ["a"])


def test_transitions(tagger):
    ax = viz.plot_transitions(tagger)
    np.testing.assert_array_equal(ax.images[0].get_array(), transitions_of(tagger))
    D, N, V = range(3)
    weights = transitions_of(tagger)
    assert weights[D, N] > weights[D, V]
    # The same by the definition: what psi counts for the labels alone.
    for a, b in ((D, N), (V, V)):
        x = np.zeros((2, tagger.model_.n_features))
        assert tagger.model_.joint_feature(x, [a, b]) @ tagger.coef_ == pytest.approx(weights[a, b])
    with pytest.raises(OneslackError, match="LinearSVC"):
        viz.plot_transitions(oneslack.LinearSVC().fit(X, Y))


# Curves.


def test_roc_is_scikit_learns(binary):
    model, points, y = binary
    scores = model.decision_function(points)
    expected = roc_curve(y, scores, drop_intermediate=False)
    found = thresholds.rates(y == 1, scores)
    np.testing.assert_allclose(found.false_alarms, expected[0])
    np.testing.assert_allclose(found.recall, expected[1])
    ax = viz.plot_roc(model, points, y)
    curve, point, _chance = ax.lines
    np.testing.assert_allclose(curve.get_ydata(), expected[1])
    predicted = model.predict(points)
    assert point.get_ydata() == pytest.approx(predicted[y == 1].mean())
    assert point.get_xdata() == pytest.approx(predicted[y == 0].mean())
    assert "trained for f1" in point.get_label()
    viz.plot_roc(model, points, y, label="again", ax=ax)
    assert len(ax.lines) == 5


def test_points_of_several_curves_have_their_colours(binary):
    model, points, y = binary
    ax = viz.plot_precision_recall(model, points, y)
    viz.plot_precision_recall(model, points, y, label="again", ax=ax)
    first, its_point, second, its_other = ax.lines
    assert first.get_color() == its_point.get_color() != second.get_color() == its_other.get_color()
    told = [text.get_text() for text in ax.get_legend().get_texts()]
    assert told == [first.get_label(), second.get_label()]  # one line a curve


def test_precision_recall_is_scikit_learns(binary):
    model, points, y = binary
    scores = np.round(model.decision_function(points), 1)  # with ties
    precision, recall, _ = precision_recall_curve(y, scores)
    found = thresholds.rates(y == 1, scores)
    np.testing.assert_allclose(found.precision, precision[::-1])
    np.testing.assert_allclose(found.recall, recall[::-1])
    _curve, point = viz.plot_precision_recall(model, points, y).lines
    predicted = model.predict(points)
    assert point.get_ydata() == pytest.approx((y[predicted == 1] == 1).mean())


def test_curves_of_what_has_none(binary):
    model, points, _ = binary
    with pytest.raises(OneslackError, match="both classes"):
        viz.plot_roc(model, points, np.ones(len(points)))
    with pytest.raises(OneslackError, match="LinearSVC has 3"):
        viz.plot_roc(oneslack.LinearSVC().fit(X, Y), X, Y)


# Sentences and trees.


def test_tagged_html_shows_errors_and_escapes():
    html = viz.tagged_html([["<b>", "sat"], ["."]], [["B-NP", "B-VP"], ["O"]], [["B-NP", "I-VP"], ["O"]])
    assert "<b>" not in html
    assert "&lt;b&gt;" in html
    assert html.count("border-bottom") == 1
    assert "B-VP ≠ I-VP" in html
    assert html.count("background") == 2  # O has no colour
    assert html._repr_html_() == html
    with pytest.raises(OneslackError, match="sentence 1: has 1 tokens but 2 in labels"):
        viz.tagged_html([["a"], ["b"]], [["x"], ["x", "y"]])
    with pytest.raises(OneslackError, match="2 sentences but 1 in truth"):
        viz.tagged_html([["a"], ["b"]], [["x"], ["y"]], [["x"]])


def test_tags_on_axes():
    ax = viz.plot_tags(["He", "sat"], ["B-NP", "B-VP"], ["B-NP", "O"])
    assert [text.get_text() for text in ax.texts] == ["He", "B-NP", "sat", "B-VP (O)"]
    assert len(ax.patches) == 2


def test_tree_layout():
    tree = oneslack.Tree.parse("(S (NP (D the) (N cat)) (VP (V sat)))")
    nodes = layout(tree)
    places = {node.text: (node.x, node.y) for node in nodes}
    assert places["the"] == (0, 0)
    assert places["cat"] == (1, 0)
    assert places["NP"] == (0.5, 2)
    assert places["VP"] == (2, 2)
    assert places["S"] == (1.25, 3)
    assert [node.parent for node in nodes].count(None) == 1
    ax = viz.plot_tree(tree)
    assert len(ax.lines) == len(nodes) - 1


def test_wrong_phrases_of_a_tree_are_red():
    guess, truth = "(S (NP (D a) (N b)) (VP (V c)))", "(S (NP (D a)) (VP (N b) (V c)))"
    red = [text.get_text() for text in viz.plot_tree(guess, truth).texts if text.get_color() == look.NEGATIVE]
    assert sorted(red) == ["NP", "VP"]
    assert all(text.get_color() != look.NEGATIVE for text in viz.plot_tree(guess, guess).texts)


def test_a_very_deep_tree():
    text = "(A " * 3000 + "(T x)" + ")" * 3000
    assert layout(oneslack.Tree.parse(text))[-1].y == 3001


# Regions.


def test_regions_are_the_predictions():
    model = oneslack.LinearSVC().fit(X[:, :2], Y)
    ax = viz.plot_regions(model, X[:, :2], Y)
    image = ax.images[0]
    left, right, low, high = image.get_extent()
    corners = [[left, low], [right, low], [left, high], [right, high]]
    codes = image.get_array()
    assert [codes[0, 0], codes[0, -1], codes[-1, 0], codes[-1, -1]] == model.predict(corners).tolist()
    assert len(ax.get_legend().texts) == 3
    with pytest.raises(OneslackError, match=r"\(150, 4\)"):
        viz.plot_regions(model, X)


# Colours, and what is imported when.


@pytest.mark.parametrize("colour", look.PALETTE)
@pytest.mark.parametrize("ground", [0.0, 1.0])
def test_colours_stand_out_on_black_and_on_white(colour, ground):
    light, dark = sorted([look.luminance(colour), ground], reverse=True)
    assert (light + 0.05) / (dark + 0.05) >= 3.0


def test_ink_is_readable():
    assert look.ink_on("#ffffff") == "black"
    assert look.ink_on("#000080") == "white"


def test_matplotlib_is_not_imported_before_a_picture_is_asked_for():
    code = "import sys; from oneslack import viz; print('matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_a_missing_matplotlib_gets_a_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    for name in ("matplotlib.colors", "matplotlib.patches"):
        monkeypatch.setitem(sys.modules, name, None)
    points, y = make_checkers(50, random_state=0)
    model = oneslack.KernelSVC().fit(points, y)
    for draw in (
        lambda: viz.plot_tree("(S (N x))"),
        lambda: viz.plot_tags(["He"], ["N"]),
        lambda: viz.plot_regions(model, points),
    ):
        with pytest.raises(OneslackError, match=r"oneslack\[plot\]"):
            draw()


def test_an_unknown_picture():
    with pytest.raises(AttributeError, match="no attribute 'plot_nothing'"):
        _ = viz.plot_nothing


@pytest.mark.parametrize("name", sorted({*viz._HOME.values()}))
def test_examples_of_the_docstrings(name):
    module = importlib.import_module(f"oneslack.viz.{name}")
    outcome = doctest.testmod(module)
    assert outcome.failed == 0
    assert outcome.attempted > 0
    for public in (public for public, home in viz._HOME.items() if home == name):
        assert ">>>" in getattr(viz, public).__doc__


def _segments(ax):
    """Horizontal and vertical pieces of the lines of a tree."""
    for line in ax.lines:
        points = list(zip(*line.get_data(), strict=True))
        yield from itertools.pairwise(points)


def test_lines_of_a_tree_do_not_cross_and_words_are_inside():
    text = "(S (NP (DT the) (NN internationalisation)) (VP (VBD was) (PP (IN in) (NP (NN view)))) (. .))"
    ax = viz.plot_tree(text)
    pieces = list(_segments(ax))
    flat = [(a, b) for a, b in pieces if a[1] == b[1] and a[0] != b[0]]
    upright = [(a, b) for a, b in pieces if a[0] == b[0]]
    assert len(flat) + len(upright) == len(pieces)
    for (x0, y), (x1, _) in flat:
        for (x, y0), (_, y1) in upright:
            crosses = min(x0, x1) < x < max(x0, x1) and min(y0, y1) < y < max(y0, y1)
            assert not crosses
    ax.figure.canvas.draw()
    inside = ax.figure.bbox
    for word in ax.texts:
        box = word.get_window_extent()
        assert inside.x0 <= box.x0
        assert box.x1 <= inside.x1
    words = sorted((t for t in ax.texts if t.get_style() == "italic"), key=lambda t: t.get_position()[0])
    boxes = [word.get_window_extent() for word in words]
    assert all(a.x1 <= b.x0 for a, b in itertools.pairwise(boxes))


def test_sentences_on_the_same_axes_stand_below_each_other():
    ax = viz.plot_tags(["He", "sat"], ["B-NP", "B-VP"])
    viz.plot_tags(["The", "old", "cat", "ran"], ["B-NP", "I-NP", "I-NP", "B-VP"], ax=ax)
    tops = sorted({patch.get_y() for patch in ax.patches})
    assert len(tops) == 2
    assert tops[1] - tops[0] > 1
    assert ax.get_ylim()[0] <= tops[0]
    ends = [patch.get_x() + patch.get_width() for patch in ax.patches]
    assert max(ends) <= ax.get_xlim()[1]


def test_many_labels_keep_their_names_apart():
    labels = [f"B-LABEL{k}" for k in range(20)]
    X = [[{"a": 1.0 + k} for k in range(20)]]
    tagger = oneslack.SequenceTagger(C=0.01).fit(X, [labels])
    ax = viz.plot_transitions(tagger)
    ax.figure.canvas.draw()
    boxes = [label.get_window_extent() for label in ax.get_yticklabels()]
    boxes.sort(key=lambda box: box.y0)
    assert all(a.y1 <= b.y0 for a, b in itertools.pairwise(boxes))
    assert not ax.texts
