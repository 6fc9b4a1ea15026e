"""What oneslack raises: each message is one sentence that says what is wrong and what to do."""


class OneslackError(ValueError):
    """Something the caller can put right: a bad argument, a bad file, an incomplete model.

    >>> import oneslack
    >>> try:
    ...     oneslack.load("absent.model")
    ... except oneslack.OneslackError as error:
    ...     print(error)
    absent.model: there is no such file; check the path.
    """


class FormatError(OneslackError):
    """A file that cannot be read or written as asked; the message names the file and the line.

    >>> import oneslack
    >>> from oneslack.formats import read_trees
    >>> try:
    ...     read_trees("absent.trees")
    ... except oneslack.FormatError as error:
    ...     print(str(error).split(":")[0])
    absent.trees
    """
