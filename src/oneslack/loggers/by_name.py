"""A logger by a word and a folder, as the command line is told: `tensorboard:runs/first`."""

from __future__ import annotations

from typing import Any

from .mlflow import MLflowLogger
from .rows import RowLogger
from .tensorboard import TensorBoardLogger

LOGGERS = {"tensorboard": TensorBoardLogger, "mlflow": MLflowLogger}


def logger_from(text: str, **options: Any) -> RowLogger:
    """The logger that `text` names.

    Parameters
    ----------
    text : "tensorboard:FOLDER" or "mlflow:FOLDER"
    options : run_name and params, where the logger takes them

    Examples
    --------
    >>> from oneslack.loggers import logger_from
    >>> logger_from("wandb:runs")
    Traceback (most recent call last):
    ValueError: 'wandb:runs' is no place to log to; write tensorboard:FOLDER or mlflow:FOLDER
    """
    name, _, folder = text.partition(":")
    if name not in LOGGERS or not folder:
        places = " or ".join(f"{known}:FOLDER" for known in LOGGERS)
        raise ValueError(f"{text!r} is no place to log to; write {places}")
    return MLflowLogger(folder, **options) if name == "mlflow" else TensorBoardLogger(folder)
