"""What every estimator has to be written to one safe file, and to come back."""

from __future__ import annotations

from importlib import import_module

from sklearn.utils.validation import check_is_fitted


class Saved:
    """The method `save`; `oneslack.load` is the way back."""

    #: The file of `_saving/` that knows how; an estimator may have the two methods below of its own instead.
    _saving = "linear"

    def save(self, path):
        """Write the model with its certificate to one safe file; `oneslack.load` reads it.

        Parameters
        ----------
        path : str or path
            The file appears whole or not at all.  It holds no code: a StructuralSVM is saved with a built-in
            model only, and what has latent values needs its model again: `oneslack.load(path, model=...)`.
        """
        from ...formats import save_model

        save_model(path, *self._to_file())

    def _to_file(self):
        """(header, arrays) of a fitted estimator."""
        check_is_fitted(self)
        return _room(self).to_file(self)

    @classmethod
    def _from_file(cls, header, arrays, *model):
        """The estimator; a ValueError, TypeError or KeyError where something is missing or wrong."""
        return _room(cls).from_file(cls, header, arrays, *model)


def _room(estimator):
    """Read when it is needed: most estimators are not saved, and files of one need nothing of the others."""
    return import_module(f".._saving.{estimator._saving}", __package__)
