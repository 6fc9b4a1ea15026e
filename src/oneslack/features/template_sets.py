"""Templates that are known to work, by name."""

from ..errors import OneslackError
from .templates import parse_templates

SETS = {
    # The 19 templates that are usual for the chunks of CoNLL-2000.
    "chunking": """
        w[-2..2]
        ngram(w[-1..1], 2)
        pos[-2..2]
        ngram(pos[-2..2], 2..3)
    """,
    "tagging": """
        bias
        w[-2..2]
        ngram(w[-1..1], 2)
        lower(w[0])
        prefix(w[0], 1..4)
        suffix(w[0], 1..4)
        suffix(w[-1], 2..3)
        suffix(w[1], 2..3)
        squeeze(shape(w[-1..1]))
        shape(w[0])
        digit(w[0])
        hyphen(w[0])
        capital(w[0])
    """,
    "ner": """
        bias
        w[-2..2]
        ngram(w[-1..1], 2)
        lower(w[-2..2])
        prefix(lower(w[0]), 1..4)
        suffix(lower(w[0]), 1..4)
        squeeze(shape(w[-2..2]))
        ngram(squeeze(shape(w[-1..1])), 2..3)
        shape(w[0])
        lower(w[-1]) & capital(w[0])
        digit(w[0])
        hyphen(w[0])
        capital(w[0])
        caps(w[0])
        punct(w[0])
    """,
}


def template_set(name):
    """The templates called "chunking" (columns w and pos), "tagging" or "ner" (column w).

    >>> from oneslack.features import template_set
    >>> sorted({part.column for template in template_set("chunking") for part in template.parts})
    ['pos', 'w']
    """
    if name not in SETS:
        raise OneslackError(f"there is no template set {name!r}; choose from {', '.join(SETS)}.")
    return parse_templates(SETS[name])


def as_templates(source):
    """A tuple of templates from the name of a set, from a text of templates, or from templates."""
    if isinstance(source, str):
        # One bare word is a name, if a mistyped one: templates have brackets, but for `bias`.
        is_name = source in SETS or (source.isidentifier() and source != "bias")
        return template_set(source) if is_name else parse_templates(source)
    return tuple(source)
