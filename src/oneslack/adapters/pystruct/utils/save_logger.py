"""SaveLogger: writes a learner down while it trains, as a pickle."""

from __future__ import annotations

import pickle


class SaveLogger:
    """Pickles a learner now and then; load only what you wrote yourself, as a pickle runs code.

    Parameters
    ----------
    file_name : str
        With "%d" in it, of the iteration.
    save_every : int, default=10
        Iterations between two pickles; the last is always written.
    verbose : int, default=0

    Examples
    --------
    >>> SaveLogger("model.pickle", save_every=5)
    SaveLogger(file_name="model.pickle", save_every=5)
    """

    def __init__(self, file_name, save_every=10, verbose=0):
        self.file_name, self.save_every, self.verbose = file_name, save_every, verbose

    def __repr__(self):
        return f'{type(self).__name__}(file_name="{self.file_name}", save_every={self.save_every})'

    def __call__(self, learner, iteration=0):
        """Write the learner, at "final" and at every save_every-th iteration."""
        if iteration != "final" and iteration % self.save_every:
            return
        name = self.file_name.replace("%d", str(iteration))
        if self.verbose > 0:
            print(f"saving {learner} to file {name}")
        self.save(learner, name)

    def save(self, learner, file_name):
        """Write the learner to a file."""
        with open(file_name, "wb") as file:
            pickle.dump(learner, file, pickle.HIGHEST_PROTOCOL)

    def load(self):
        """The learner that was written last."""
        with open(self.file_name, "rb") as file:
            return pickle.load(file)
