"""What users say of single weights (prior mean, scale, which are held >= 0), as arrays.

Values are given as one array, or by groups: pairs (index, value), index being a slice, numbers or a mask; or
a dict from the names that the model has for its blocks of weights (`model.blocks`, a dict from name to
index).
"""

from __future__ import annotations

from numbers import Real

import numpy as np

from ..objective import Regulariser


def regulariser_of(model, prior=None, scale=None, nonnegative=None) -> Regulariser:
    """The regulariser of a model's weights: intercepts are free, all else is as given."""
    free, blocks = getattr(model, "free", ()), getattr(model, "blocks", None)
    return make_regulariser(model.n_params, free, blocks, prior=prior, scale=scale, nonnegative=nonnegative)


def make_regulariser(n_params, free=(), blocks=None, *, prior=None, scale=None, nonnegative=None):
    """Likewise, of n_params weights."""
    free = np.asarray(free, dtype=int)
    prior = weight_values("prior", prior, n_params, 0.0, blocks)
    scale = weight_values("scale", scale, n_params, 1.0, blocks)
    mask = weight_mask(nonnegative, n_params, free, blocks)
    if scale is not None:
        _check_scale(scale)
    if prior is not None and len(free):
        prior[free] = 0.0
    return Regulariser(n_params, prior, mask, free if len(free) else None, scale)


def _check_scale(scale):
    """Raise unless each is > 0, and so is its square, by which weights are divided."""
    with np.errstate(over="ignore", under="ignore"):
        bad = np.flatnonzero(~((scale > 0) & (scale**2 > 0) & (scale**2 < np.inf)))
    if len(bad):
        raise ValueError(
            f"scale of weight {bad[0]} is {scale[bad[0]]}, expected a number > 0 between 1e-150 and 1e150"
        )


def weight_values(name, value, n_params, default, blocks=None):
    """(n_params,) float64, a copy; None where nothing is given."""
    if value is None:
        return None
    if isinstance(value, Real):
        out = np.full(n_params, float(value))
    elif is_grouped(value):
        out = np.full(n_params, default)
        for index, part in pairs_of(name, value, blocks):
            _set(name, out, index, part)
    else:
        out = _numbers(name, value)
        if out.shape != (n_params,):
            raise ValueError(
                f"{name} has shape {out.shape}, expected ({n_params},): a number for each weight"
            )
    if not np.isfinite(out).all():
        bad = int(np.flatnonzero(~np.isfinite(out))[0])
        raise ValueError(f"{name} of weight {bad} is {out[bad]}, expected a finite number")
    return out


def is_grouped(value) -> bool:
    """Whether values are given as a dict, or as pairs (index, value)."""
    if isinstance(value, dict):
        return True
    is_list = isinstance(value, list | tuple) and len(value) > 0
    return is_list and all(isinstance(item, tuple) and len(item) == 2 for item in value)


def pairs_of(name, value, blocks):
    """Pairs (index, value) of what is given by groups."""
    return (
        [(_block(name, key, blocks), part) for key, part in value.items()]
        if isinstance(value, dict)
        else value
    )


def _block(name, key, blocks):
    if blocks is None:
        raise ValueError(
            f"{name} is given by names, but the model names no blocks of weights (`blocks`); give an array, "
            "or pairs (index, value)"
        )
    if key not in blocks:
        known = ", ".join(map(repr, blocks))
        raise ValueError(f"{name}: the model has no block of weights {key!r}; it has {known}")
    return blocks[key]


def _set(name, out, index, part):
    try:
        out[index if isinstance(index, slice) else np.asarray(index)] = _numbers(name, part)
    except (IndexError, ValueError) as error:
        raise ValueError(
            f"{name}: the group {index!r} of {len(out)} weights does not fit ({error})"
        ) from None


def _numbers(name, value):
    try:
        return np.array(value, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be numbers, one for each weight; got {value!r}") from None


def weight_mask(nonnegative, n_params, free=(), blocks=None):
    """(n_params,) of bool, or None where no weight is held >= 0; True is all but the free ones."""
    if nonnegative is None or nonnegative is False:
        return None
    mask, free = np.zeros(n_params, bool), np.asarray(free, dtype=int)
    if nonnegative is True:
        mask[:] = True
        mask[free] = False
        return mask
    if isinstance(nonnegative, str):
        nonnegative = [nonnegative]
    if isinstance(nonnegative, list | tuple) and any(isinstance(item, str) for item in nonnegative):
        for key in nonnegative:
            mask[_block("nonnegative", key, blocks)] = True
    else:
        _mark(mask, nonnegative)
    if mask[free].any():
        bad = int(free[mask[free]][0])
        raise ValueError(f"nonnegative: weight {bad} is an intercept, which is not penalised; leave it out")
    return mask if mask.any() else None


def _mark(mask, nonnegative):
    chosen = np.asarray(nonnegative)
    if chosen.dtype == bool and chosen.shape != mask.shape:
        raise ValueError(f"nonnegative has shape {chosen.shape}, expected ({len(mask)},)")
    try:
        mask[chosen if chosen.size else slice(0)] = True
    except IndexError:
        raise ValueError(
            f"nonnegative must be a mask, or indices below {len(mask)}; got {nonnegative!r}"
        ) from None
