"""Command lines of the older programs: `program -c 1 -e 0.1 --b 0 FILE MODEL`.

All of them take options before files, one letter each, with the value in the next word (LIBLINEAR: some
without a value, and `-wLABEL`).  A table of `Option`s says what each of them means here; where it can mean
nothing, why.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import Any

from ...errors import OneslackError


class Mistake(OneslackError):
    """A command line that cannot be understood or honoured: one sentence."""


class Help(Exception):
    """The user asked for help."""


@dataclass(frozen=True)
class Option:
    """One option.

    flag     as typed, "-c" or "--b"; "-w*" takes the rest of the word as a key, as LIBLINEAR's -wi does
    type     float, int or str; bool where no value follows
    help     what it does
    unused   why it has no effect here: said when it is given
    only     values that can be honoured; other values are refused, with `refusal`
    """

    flag: str
    type: type
    default: Any
    help: str
    unused: str = ""
    only: tuple = ()
    refusal: str = ""

    def value_of(self, text):
        try:
            value = self.type(text) if self.type is not int else _whole(text)
            if value != value:
                raise ValueError(text)
            return value
        except (ValueError, OverflowError):
            wanted = {float: "a number", int: "a whole number"}[self.type]
            raise Mistake(f"{self.flag} {text}: {wanted} was expected.") from None


def _whole(text):
    """3 of "3" and of "3.0", as scripts write what they compute."""
    value = float(text)
    if value != int(value):
        raise ValueError(text)
    return int(value)


@dataclass
class Arguments:
    """What was typed: `values` by flag (defaults filled in), the flags that were `given`, and the `files`."""

    values: dict
    given: set = field(default_factory=set)
    files: list = field(default_factory=list)

    def __getitem__(self, flag):
        return self.values[flag]

    def positive(self, flag):
        """The value, which must be above 0."""
        if not self[flag] > 0:
            raise Mistake(f"{flag} {self[flag]:g}: it must be above 0.")
        return self[flag]


def parse(words, options, files) -> Arguments:
    """Read a command line; `files` names the files, those in brackets may be left out.

    Raises Mistake for what cannot be honoured, and says on stderr what has no effect.
    """
    words, by_flag = list(words), {option.flag: option for option in options}
    got = Arguments({flag: {} if flag.endswith("*") else option.default for flag, option in by_flag.items()})
    while words and words[0].startswith("-") and words[0] != "-":
        word = words.pop(0)
        if word in ("-?", "--help") or (word == "-h" and "-h" not in by_flag):
            raise Help
        option, key = _named(word, by_flag)
        if option.type is not bool and not words:
            raise Mistake(f"{word}: a value was expected after it.")
        value = True if option.type is bool else option.value_of(words.pop(0))
        if option.only and value not in option.only:
            raise Mistake(f"{word} {value}: {option.refusal}")
        if option.unused:
            print(f"{word}: no effect, {option.unused}.", file=sys.stderr)
        if key is None:
            got.values[option.flag] = value
        else:
            got.values[option.flag][key] = value
        got.given.add(option.flag)
    needed = [name for name in files if not name.startswith("[")]
    if not len(needed) <= len(words) <= len(files):
        raise Mistake(f"{len(words)} files were named, expected: {' '.join(files)}.")
    got.files = words
    return got


def _named(word, by_flag):
    if word in by_flag:
        return by_flag[word], None
    for flag, option in by_flag.items():
        if flag.endswith("*") and word.startswith(flag[:-1]) and len(word) > len(flag) - 1:
            return option, word[len(flag) - 1 :]
    flag, rest = word[:2], word[2:]
    if flag in by_flag and rest:
        raise Mistake(f"{word}: a value stands apart from its option; write {flag} {rest}.")
    raise Mistake(f"{word}: this option is not known; -? lists those that are.")


def help_text(program, options, files) -> str:
    """The usage, an option a line."""
    lines = [f"usage: {program} [options] {' '.join(files)}", ""]
    for option in options:
        default = "" if option.default in (None, False, "") else f" (default {option.default})"
        told = option.help + default
        if option.unused:
            told += f" [no effect: {option.unused}]"
        if option.only:
            told += f" [only {', '.join(map(str, option.only))}: {option.refusal}]"
        lines.append(f"  {option.flag:<5} {told}")
    return "\n".join(lines)


#: Of SVM-light's solver, which is not the one here.
_OTHER_SOLVER = "the solver here has no such setting"

KERNELS = (
    Option("-t", int, 0, "kernel: 0 linear, 1 polynomial (s a*b+r)^d, 2 rbf exp(-g |a-b|^2)", only=(0, 1, 2),
           refusal="the sigmoid is no positive kernel, and 4 is compiled into a program; use 0, 1 or 2."),
    Option("-d", int, 3, "degree d of the polynomial kernel"),
    Option("-g", float, 1.0, "gamma of the rbf kernel"),
    Option("-s", float, 1.0, "s of the polynomial kernel"),
    Option("-r", float, 1.0, "r of the polynomial kernel"),
    Option("-u", str, "", "text for a kernel of your own", unused="it belongs to -t 4"),
)  # fmt: skip
LINEAR_ALONE = (
    Option("-t", int, 0, "kernel: 0 linear", only=(0,),
           refusal="this program trains linear models here; svm_learn has kernels."),
    *(Option(f"-{letter}", str, "", "of the kernels", unused="the model is linear") for letter in "dgsru"),
)  # fmt: skip
QP = (
    Option("-n", int, 0, "new variables a step of the QP", unused=_OTHER_SOLVER),
    Option("-q", int, 10, "size of the QP", unused=_OTHER_SOLVER),
    Option("-m", int, 40, "cache for kernel values in MB", unused="memory is planned by itself"),
    Option("-h", int, 100, "iterations before shrinking", unused=_OTHER_SOLVER),
    Option("-#", int, 100_000, "iterations without progress", unused="training stops at its certificate"),
    Option("-a", str, "", "file for the dual variables", unused="the certificate is printed instead"),
)
#: What all `..._classify` of SVM-struct know.
CLASSIFY = (
    Option("-v", int, 1, "how much is printed, 0 to 3"),
    Option("-y", int, 0, "how much the QP prints", unused="there is none"),
)
VERBOSITY = Option("-v", int, 1, "how much is printed, 0 to 3")


#: Of SVM-struct; svm_multiclass_learn knows the other, too.
MARGIN = Option("-o", int, 2, "rescaling: 2 margin", only=(2,), refusal="the margin is rescaled; use 2.")


def struct_options(*, epsilon, loss, algorithm, rescaling=MARGIN):
    """Options that all programs on SVM-struct share; `loss` and `rescaling` are their own -l and -o."""
    return (
        VERBOSITY,
        Option("-y", int, 0, "how much the QP prints", unused="there is none"),
        Option("-c", float, None, "C, the weight of the slack"),
        Option("-p", int, 1, "norm of the slacks", only=(1,), refusal="slacks are not squared here; use 1."),
        rescaling,
        loss,
        Option("-w", int, algorithm, "algorithm: 0, 1 n-slack; 2, 3 one-slack; 4 with a cache; 9 the fastest",
               only=(0, 1, 2, 3, 4, 9), refusal="use 0 to 4 or 9."),
        Option("-e", float, epsilon, "epsilon: no constraint is violated by more"),
        Option("-k", int, 100, "constraints before a new QP", unused=_OTHER_SOLVER),
        Option("-f", int, 5, "constraints in the cache of an example", unused="the cache plans itself"),
        Option("-b", float, 100, "share of the cache that is refreshed", unused="the cache plans itself"),
        *QP,
    )  # fmt: skip


def weight_of_slack(got):
    """-c, which the programs on SVM-struct insist on."""
    if got["-c"] is None:
        raise Mistake("-c is missing: give C, a number above 0.")
    return got.positive("-c")
