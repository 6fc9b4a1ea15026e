"""The functions of the template language: a string in, a string out, or None for no value."""

import re

#: The value of a flag that is set; a flag that is not set has none.
YES = "yes"
LETTERS_AND_DIGITS = re.compile(r"[^\W_]")
RUN = re.compile(r"(.)\1+", re.DOTALL)


def lower(text):
    """In small letters."""
    return text.lower()


def shape(text):
    """Capitals as X, other letters as x, digits as d, the rest as it is: McCoy-88 is XxXxx-dd."""
    return "".join(map(_sign, text))


def squeeze(text):
    """Each run of one character as one: Xxxx-dd is Xx-d."""
    return RUN.sub(r"\1", text)


def prefix(text, n):
    """The first n characters; no value if there are fewer."""
    return text[:n] if len(text) >= n else None


def suffix(text, n):
    """The last n characters; no value if there are fewer."""
    return text[-n:] if len(text) >= n else None


def digit(text):
    """There is a digit."""
    return YES if any(map(str.isdigit, text)) else None


def hyphen(text):
    """There is a hyphen."""
    return YES if "-" in text else None


def capital(text):
    """The first character is a capital."""
    return YES if text[:1].isupper() else None


def caps(text):
    """All letters are capitals, and there is one."""
    return YES if text.isupper() else None


def punct(text):
    """There is no letter and no digit."""
    return None if LETTERS_AND_DIGITS.search(text) else YES


def _sign(character):
    if character.isupper():
        return "X"
    if character.isalpha():
        return "x"
    return "d" if character.isdigit() else character


#: From the name to the function and how many numbers it takes after the string.
FUNCTIONS = {
    "lower": (lower, 0),
    "shape": (shape, 0),
    "squeeze": (squeeze, 0),
    "prefix": (prefix, 1),
    "suffix": (suffix, 1),
    "digit": (digit, 0),
    "hyphen": (hyphen, 0),
    "capital": (capital, 0),
    "caps": (caps, 0),
    "punct": (punct, 0),
}


def apply(functions, text):
    """The text after functions such as (("lower",), ("prefix", 3)), the first one first."""
    for name, *numbers in functions:
        if text is None:
            return None
        text = FUNCTIONS[name][0](text, *numbers)
    return text
