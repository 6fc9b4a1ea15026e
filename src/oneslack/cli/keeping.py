"""Where a training is written down as it goes: --checkpoint, --every, --resume."""

from __future__ import annotations

from .output import Exit, Refusal


def keep_in(folder, every, resume):
    """A CheckpointFolder, or None where none is asked for."""
    if folder is None:
        if resume:
            raise Refusal("--resume needs --checkpoint FOLDER: where it was written down.", Exit.USAGE)
        return None
    from ..memory.checkpoint import CheckpointFolder

    return CheckpointFolder(folder, every, resume)
