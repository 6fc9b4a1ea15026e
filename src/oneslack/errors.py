"""What oneslack raises: each message is one sentence that says what is wrong and what to do."""


class OneslackError(ValueError):
    """Something the caller can put right: a bad argument, a bad file, an incomplete model."""


class FormatError(OneslackError):
    """A file that cannot be read or written as asked; the message names the file and the line."""
