"""Training watched in programs that people have open anyway: TensorBoard and MLflow."""

from .by_name import logger_from
from .mlflow import MLflowLogger
from .rows import RowLogger
from .tensorboard import TensorBoardLogger

__all__ = ["MLflowLogger", "RowLogger", "TensorBoardLogger", "logger_from"]
