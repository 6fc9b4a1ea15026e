"""Ways to the optimum: one method a file."""

from .dual_cd import DualCD
from .n_slack import NSlack
from .newton import Newton
from .one_slack import OneSlack
from .proximal_newton import ProximalNewton
from .streaming.reader import Streaming

__all__ = ["DualCD", "NSlack", "Newton", "OneSlack", "ProximalNewton", "Streaming"]
