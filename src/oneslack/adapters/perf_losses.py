"""SVM-perf's losses by QuaPy's names, as models: the program, the launchers and QuaPy's class share them."""

from functools import partial

from ..models import Binary
from ..models.measures import ContingencyLoss, FBeta
from ..models.measures import quantification as losses
from ..models.measures.prevalence import PrevalenceLoss
from ..models.measures.q_measure import QMeasure


def any_error(tp, fp, fn, tn):
    """1 unless every prediction is right, where other losses are 100: not in percent."""
    return losses.any_error(tp, fp, fn, tn) / 100.0


def kl_divergence(tp, fp, fn, tn):
    """The divergence itself: not in percent."""
    return losses.kl_divergence(tp, fp, fn, tn) / 100.0


_of_count = partial(partial, PrevalenceLoss, mistakes_only=True)

#: From a name to the model: QuaPy's names, and "error" for the error rate ("01" is 1 for any error at all).
MODELS = {
    "01": partial(ContingencyLoss, function=any_error, concave=True),
    "error": Binary,
    "f1": FBeta,
    "kld": _of_count(function=kl_divergence),
    "nkld": _of_count(function=losses.normalised_kl_divergence),
    "q": QMeasure,
    "qacc": partial(ContingencyLoss, function=losses.q_accuracy_loss),
    "qf1": partial(ContingencyLoss, function=losses.q_f1_loss),
    "qgm": partial(ContingencyLoss, function=losses.q_gmean_loss),
    "mae": _of_count(function=losses.absolute_error),
    "mrae": _of_count(function=losses.relative_absolute_error),
}
