"""What scikit-learn has for callbacks, from its version 1.9 on."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

__all__ = ["CallbackSupportMixin", "with_callbacks"]

if TYPE_CHECKING:  # scikit-learn has no types: a method would lose its own

    class CallbackSupportMixin: ...

    Method = TypeVar("Method")

    def with_callbacks(method: Method) -> Method: ...

else:
    try:
        from sklearn.callback import CallbackSupportMixin, with_callbacks
    except ImportError:  # scikit-learn before 1.9

        class CallbackSupportMixin:
            """Nothing to support."""

        def with_callbacks(method):
            """The method itself."""
            return method
