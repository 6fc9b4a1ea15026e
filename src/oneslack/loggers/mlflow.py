"""Rows as metrics of an MLflow run, in a database file of a folder."""

from __future__ import annotations

import logging
import os
import time
from os import PathLike
from pathlib import Path
from typing import Any

from .rows import RowLogger, need

#: Seconds that rows are kept back: a transaction takes longer than most steps.
INTERVAL = 2.0
#: Metrics of one call: MLflow takes no more.
BATCH = 1000


class MLflowLogger(RowLogger):
    """A callback that writes bounds, gap, scores and seconds as a run of MLflow, into FOLDER/mlflow.db.

    Needs `pip install "oneslack[mlflow]"`; `mlflow ui --backend-store-uri sqlite:///FOLDER/mlflow.db` shows
    it.  Nothing is sent anywhere: MLflow's telemetry is switched off before MLflow is loaded.

    Parameters
    ----------
    folder : path
        Made where it is not there; every logger of a folder is a run of its own.
    experiment : str
    run_name : str or None
    params : dict or None
        What the run was started with, such as `model.get_params()`.

    Examples
    --------
    >>> import oneslack
    >>> with oneslack.MLflowLogger("runs", params={"C": 1.0}) as log:  # doctest: +SKIP
    ...     model = oneslack.LinearSVC().fit([[0.0], [1.0]], [0, 1], callbacks=[log])
    >>> oneslack.MLflowLogger.__name__
    'MLflowLogger'
    """

    def __init__(
        self, folder: str | PathLike[str], *, experiment: str = "oneslack", run_name: Any = None,
        params: Any = None,
    ) -> None:  # fmt: skip
        need("mlflow", "mlflow")
        need("sqlalchemy", "mlflow")
        super().__init__()
        self.folder, self.experiment, self.run_name, self.params = folder, experiment, run_name, params or {}
        self._client, self._kept, self._next = None, [], 0.0

    def write(self, values: dict[str, float], step: int) -> None:
        moment = int(time.time() * 1000)
        self._kept += [(name, value, moment, step) for name, value in values.items()]
        if time.monotonic() >= self._next:
            self.flush()

    def flush(self) -> None:
        if not self._kept:
            return
        if self._client is None:
            self._begin()
        from mlflow.entities import Metric

        metrics = [Metric(*one) for one in self._kept]
        for first in range(0, len(metrics), BATCH):
            self._client.log_batch(self.run_id, metrics=metrics[first : first + BATCH])
        self._kept, self._next = [], time.monotonic() + INTERVAL

    def close(self) -> None:
        self.flush()
        if self._client is not None:
            self._client.set_terminated(self.run_id)
            self._client = None

    def _begin(self):
        """A new run, in an experiment that is there or made."""
        os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"
        from mlflow.entities import Param
        from mlflow.tracking import MlflowClient

        for name in ("mlflow.store", "alembic"):  # which tell of every table that they make
            logging.getLogger(name).setLevel(logging.WARNING)
        folder = Path(self.folder).absolute()
        folder.mkdir(parents=True, exist_ok=True)
        self._client = MlflowClient(tracking_uri=f"sqlite:///{folder.as_posix()}/mlflow.db")
        known = self._client.get_experiment_by_name(self.experiment)
        there = (folder / "artifacts").as_uri()
        number = known.experiment_id if known else self._client.create_experiment(self.experiment, there)
        self.run_id = self._client.create_run(number, run_name=self.run_name).info.run_id
        params = [Param(str(name), str(value)) for name, value in self.params.items()]
        self._client.log_batch(self.run_id, params=params)
