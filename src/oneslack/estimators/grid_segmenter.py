"""GridSegmenter: a label for every cell of a picture."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ._shared.callbacks import with_callbacks
from ._shared.described import described
from ._shared.fitting import Watch
from ._shared.given import check_parameters
from ._shared.graph_labels import GraphLabels
from ._shared.grid_input import contrast_scale, grids_of, pictures_of


@described
class GridSegmenter(GraphLabels):
    """Labels for the cells of pictures: a pairwise model on a grid, with a large margin.

    What `GraphTagger` is for graphs, without listing edges: cells are joined to their neighbours, and
    pictures may be of different sizes.  With two labels and `attractive=True` inference is exact, by
    minimum cuts.

    Parameters
    ----------
    C : float, default=0.1
        Weight of the sum over pictures.
    neighbours : {4, 8}, default=4
        Of a cell; diagonal ones have weights of their own.
    contrast : bool, default=True
        Whether edges have a second feature, exp(-|x_a - x_b|^2 / 2 s) with s the mean square: labels may then
        change more easily where the picture does.
    attractive : bool, default=True
        Whether edges may only like their ends to have the same label: one weight >= 0 for each label.
        Without it each pair of labels has a weight of any sign.
    class_weight : dict, "balanced" or None, default=None
        Multiplies what cells of a class cost in the loss.

    Attributes
    ----------
    contrast_scale_ : float or None
        s, as learned from the pictures.

    Examples
    --------
    >>> import numpy as np, oneslack
    >>> rng = np.random.default_rng(0)
    >>> Y = [np.pad(np.ones((4, 4), int), 2), np.pad(np.ones((3, 6), int), 3)]
    >>> X = [y[:, :, None] + 0.4 * rng.normal(size=(*y.shape, 1)) for y in Y]
    >>> segmenter = oneslack.GridSegmenter(C=1.0).fit(X, Y)
    >>> bool(segmenter.score(X, Y) > 0.95), segmenter.result_.certified
    (True, True)
    """

    def __init__(
        self, C: float | str = 0.1, *, neighbours: int = 4, contrast: bool = True, attractive: bool = True,
        class_weight: Any = None, passes: int = 60, backtracks: int = 0, relaxed: bool = False,
        kernel: Any = None, gamma: float | str = "scale", degree: float = 3, coef0: float = 0.0,
        n_basis: int = 500, solver: Any = "auto", tol: float = 1e-2, epsilon: float | None = None,
        n_jobs: int | None = None, engine: Any = None, max_iter: int = 100_000,
        time_limit: float | None = None, warm_start: bool = False, random_state: Any = None, verbose: int = 0,
    ) -> None:  # fmt: skip
        self._keep(locals())

    @with_callbacks
    def fit(
        self, X: Any, Y: Any, sample_weight: Any = None, *, callbacks: Any = (), checkpoint: Any = None,
        resume: bool = False, validation: Any = None,
    ) -> Self:  # fmt: skip
        """Learn from labelled pictures.

        Parameters
        ----------
        X : list of arrays (rows, columns, channels), or (rows, columns)
            Numbers of any type; scale them so that channels are about as large as 1.
        Y : list of arrays (rows, columns) of labels
            Labels of any one type that sorts; None, in an array of objects, where a label is not known: see
            `GraphTagger.fit`.
        sample_weight : array-like of shape (n,) or None
            Weights >= 0 of the pictures.

        Returns
        -------
        self : GridSegmenter
        """
        check_parameters(self)
        watch = Watch(callbacks, checkpoint, resume, validation)
        pictures = pictures_of(X)
        if not pictures:
            raise ValueError("X has no picture: there is nothing to learn from")
        Y = _checked(pictures, Y)
        scale = contrast_scale(pictures, self.neighbours) if self.contrast else None
        data = grids_of(pictures, self.neighbours, scale, pictures[0].shape[2])
        self._fit(data, Y, sample_weight, (X, Y, sample_weight), watch, directed=False)
        self.contrast_scale_ = scale
        return self

    def predict(self, X: Any) -> list[Any]:
        """The labels of each picture's cells.

        Returns
        -------
        Y : list of ndarrays (rows, columns)
        """
        check_is_fitted(self)
        codes = self.predict_codes(X)
        shapes = [np.shape(x)[:2] for x in X]
        return [self.classes_[codes[i]].reshape(shape) for i, shape in enumerate(shapes)]

    def _graphs(self, X):
        pictures = pictures_of(X)
        channels = self._width - 1
        for i, picture in enumerate(pictures):
            if picture.shape[2] != channels:
                raise ValueError(
                    f"picture {i} has {picture.shape[2]} channels, expected {channels} as in fit"
                )
        return grids_of(pictures, self.neighbours, self.contrast_scale_, channels)

    def score(self, X: Any, Y: Any) -> float:
        """The share of cells with the right label, of those whose label is known.

        Returns
        -------
        accuracy : float
        """
        return super().score(X, _checked(pictures_of(X), Y))


def _checked(pictures, Y):
    """The labels of pictures, flat, once their shapes fit."""
    Y = [np.asarray(y) for y in Y]
    if len(Y) != len(pictures):
        raise ValueError(f"X has {len(pictures)} pictures but Y has {len(Y)}")
    for i, (picture, y) in enumerate(zip(pictures, Y, strict=True)):
        if y.shape != picture.shape[:2]:
            raise ValueError(f"picture {i} has {picture.shape[:2]} cells but labels of shape {y.shape}")
    return [y.ravel() for y in Y]
