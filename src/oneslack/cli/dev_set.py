"""`--dev FILE`: examples that training is stopped by; the model that does best on them is kept."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from types import SimpleNamespace
from typing import Annotated

import typer

from .output import Exit, Refusal

#: Measures of phrases and tokens, which only taggers have.
OF_TAGS = ("phrase_f1", "token_accuracy")


@dataclass(frozen=True)
class DevOptions:
    """A development set, and what is looked at on it."""

    dev: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Examples that are not learned from: keep the model that does best on them, and stop when "
            "no better one comes.",
        ),
    ] = None
    dev_metric: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="With --dev: a scorer of scikit-learn, as f1_macro; phrase_f1 or token_accuracy to tag. "
            "(default: what is trained for; to tag phrases, where labels are IOB)",
        ),
    ] = None
    patience: Annotated[
        int | None,
        typer.Option(min=1, help="With --dev: stop after so many looks without a better one. (default: 10)"),
    ] = None

    def check(self, *beside):
        """Refuse its options without it, and it beside the (option, is given) that do not go with it."""
        for name, value in (("--dev-metric", self.dev_metric), ("--patience", self.patience)):
            if value is not None and self.dev is None:
                raise Refusal(f"{name} is about a development set; add --dev FILE, or drop it.", Exit.USAGE)
        for option, is_given in beside:
            if is_given and self.dev is not None:
                raise Refusal(f"--dev and {option} do not go together; drop one of them.", Exit.USAGE)
        if self.dev_metric is not None and self.dev_metric not in OF_TAGS:
            from .tune_report import check_scorer

            check_scorer(self.dev_metric, "--dev-metric")

    def rows(self, model, examples):
        """The Validation of a table, read as the training data were; None without one."""
        if self.dev is None:
            return None
        from .data import read_for_model

        if self.dev_metric in OF_TAGS:
            raise Refusal(f"--dev-metric {self.dev_metric} is for taggers; choose another.", Exit.USAGE)
        if examples.is_streamed:
            raise Refusal(
                f"{examples.path}: is learned from where it lies, which --dev is not for.", Exit.USAGE
            )
        reading = SimpleNamespace(
            path=examples.path, source=examples.source, n_features=examples.X.shape[1],
            feature_names=examples.source.feature_names, header={"kind": type(model).__name__},
            kind=SimpleNamespace(by_shards=False),
        )  # fmt: skip
        table = read_for_model(self.dev, reading, None, None, need_labels=True)
        return self._validation(table.X, table.y, self.dev_metric, table.qid)

    def sentences(self, examples):
        """The same of tagged text; `examples` are those of the file itself."""
        from ..kinds.tag import is_iob
        from .tag_columns import LABEL

        X, y = examples.X, examples.y
        if y == LABEL:
            flat = X.columns[LABEL].strings().tolist()
            y = [flat[lo:hi] for lo, hi in pairwise(X.offsets)]
        scoring = self.dev_metric or ("phrase_f1" if is_iob(examples.labels) else None)
        return self._validation(X, y, scoring)

    def _validation(self, X, y, scoring, groups=None):
        from ..estimators.validation import Validation

        return Validation(X, y, scoring=scoring, patience=self.patience or 10, groups=groups)


def facts_of(model, dev) -> dict:
    """What a report says of it."""
    if dev is None:
        return {}
    step = max(model.validation_scores_, key=lambda look: (look[1], look[0]))[0]
    return {
        "dev_score": model.best_validation_score_,
        "dev_metric": dev.scoring or "score",
        "dev_step": step,
        "dev_looks": len(model.validation_scores_),
    }


def words_of(facts) -> str:
    """The same as a line."""
    return (
        f"  on the development set {facts['dev_metric'].replace('_', ' ')} {facts['dev_score']:.4f}, the "
        f"best of {facts['dev_looks']} looks, at step {facts['dev_step']:,}\n"
    )
