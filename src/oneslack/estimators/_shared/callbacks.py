"""What scikit-learn has for callbacks, from its version 1.9 on."""

from __future__ import annotations

__all__ = ["CallbackSupportMixin", "with_callbacks"]

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn before 1.9

    class CallbackSupportMixin:
        """Nothing to support."""

    def with_callbacks(method):
        """The method itself."""
        return method
