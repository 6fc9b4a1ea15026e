"""scikit-learn's own tests of LinearSVC and LinearSVR, with ours in their place.

Its file sklearn/svm/tests/test_svm.py is read with `svm.LinearSVC` and `svm.LinearSVR` being ours; every test
that uses one of them is run here, under its own name, with its own parameters.
"""

import importlib.util
import inspect
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
import sklearn.svm

import oneslack

OURS = {"LinearSVC": oneslack.LinearSVC, "LinearSVR": oneslack.LinearSVR}
THEIRS = Path(sklearn.svm.__file__).parent / "tests" / "test_svm.py"
if not THEIRS.exists():
    pytest.skip("scikit-learn is installed without its tests", allow_module_level=True)
if tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 9):
    pytest.skip("the signature is that of scikit-learn 1.9, and so are the tests", allow_module_level=True)

#: Tests that may fail, and why; docs/coming_from_sklearn.md holds the same list.
EXPECTED = {
    "test_linearsvc_crammer_singer": "asks that the default differ from Crammer and Singer's; ours is theirs",
    "test_dense_liblinear_intercept_handling": "asks for an intercept that is penalised by default",
    "test_linear_svm_convergence_warnings": "asks for a sentence about Liblinear",
}
DOCS = Path(__file__).parents[2] / "docs" / "coming_from_sklearn.md"

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def their_tests():
    """{name: test} of those that use what is ours here."""
    spec = importlib.util.spec_from_file_location("sklearn_tests_of_svm", THEIRS)
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        for name, ours in OURS.items():
            patch.setattr(sklearn.svm, name, ours)
        spec.loader.exec_module(module)
        module.svm = SimpleNamespace(**vars(sklearn.svm))
    named = re.compile(rf"\b({'|'.join(OURS)})\b")
    tests = {name: value for name, value in vars(module).items() if name.startswith("test_")}
    return {name: test for name, test in tests.items() if named.search(_code(test))}


def _code(test):
    """Its source without comments."""
    return re.sub(r"#.*", "", inspect.getsource(test))


TESTS = their_tests()
globals().update(TESTS)


@pytest.fixture
def global_random_seed():
    """scikit-learn's own one in a plain run."""
    return 42


@pytest.fixture(autouse=True)
def expected_to_fail(request):
    if request.node.name in EXPECTED:
        request.node.add_marker(pytest.mark.xfail(reason=EXPECTED[request.node.name], strict=True))


def test_most_of_them_are_here():
    assert {"test_linearsvc", "test_linearsvr", "test_linearsvm_liblinear_sample_weight"} <= set(TESTS)
    assert len(TESTS) >= 15


def test_the_list_is_short_and_told():
    assert len(EXPECTED) <= 3
    assert set(re.findall(r"`(test_\w+)`", DOCS.read_text(encoding="utf-8"))) == set(EXPECTED)
