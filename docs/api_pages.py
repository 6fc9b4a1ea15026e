"""The reference: a page for each public name, from its docstring."""

import inspect
import re

#: Which names belong together, by the module that holds them; the first pattern that fits counts.
GROUPS = (
    ("Estimators", ("estimators",)),
    ("Pictures", ("viz",)),
    ("Training", ("driver", "result", "tuning", "regularisation_path")),
    (
        "Problems",
        (
            "problem",
            "kernel_problem",
            "kernel_chains",
            "constraint_problem",
            "sharded_problem",
            "split",
            "mercer",
        ),
    ),
    ("Solvers", ("solvers",)),
    ("Engines", ("engines",)),
    ("Models", ("models", "trees", "check", "brute")),
    ("The rest", ("",)),
)
HEADING = re.compile(r"^(\w[\w ]*)\n-{3,}$", re.MULTILINE)


def pages():
    """{path: Markdown} of each name."""
    names = public_names()
    return {path_of(name): page_of(name, value) for name, value in names.items()}


def path_of(name):
    return f"api/{name.replace('.', '_')}.md"


def public_names():
    """{name as users write it after `oneslack.`: what it is}."""
    import oneslack
    from oneslack import viz

    names = {name: getattr(oneslack, name) for name in oneslack.__all__ if name != "__version__"}
    return names | {f"viz.{name}": getattr(viz, name) for name in viz.__all__}


def index():
    """The list of all names with their first sentences, in groups."""
    names, lines = public_names(), []
    rows = {heading: [] for heading, _ in GROUPS}
    for name, value in names.items():
        row = f"| [`{name}`]({path_of(name)}) | {in_a_table(summary(value))} |"
        rows[group_of(value)].append(row)
    for heading, found in rows.items():
        if found:
            lines += [f"## {heading}", "", "| name | what it is |", "|---|---|", *sorted(found), ""]
    return "\n".join(lines)


def group_of(value):
    home = value.__module__.removeprefix("oneslack.")
    return next(heading for heading, starts in GROUPS if home.startswith(starts))


def summary(value):
    """The first sentence of a docstring."""
    text = inspect.getdoc(value) or ""
    return " ".join(text.split("\n\n")[0].split())


def page_of(name, value):
    """Signature, docstring and public methods of one name."""
    lines = [f"# {name}", "", f"```text\n{signature(name, value)}\n```", "", docstring(value)]
    for method, function in methods(value):
        lines += [
            "",
            f"## {method}",
            "",
            f"```text\n{signature(method, function)}\n```",
            "",
            docstring(function),
        ]
    return "\n".join(lines) + "\n"


def signature(name, value):
    """As it is called, a long one with a line for each argument."""
    if inspect.isclass(value) and issubclass(value, Exception):
        return f"oneslack.{name}"
    try:
        found = inspect.signature(value)
    except (TypeError, ValueError):
        return name
    parameters = [one.replace(annotation=inspect.Parameter.empty) for one in found.parameters.values()]
    parameters = [one for one in parameters if one.name != "self"]
    found = inspect.Signature(parameters)
    text = f"{name}{found}"
    return text if len(text) <= 90 else f"{name}(\n    " + str(found)[1:-1].replace(", ", ",\n    ") + ",\n)"


def methods(value):
    """(name, function) of the public methods that are oneslack's own and have a docstring."""
    if not inspect.isclass(value):
        return []
    found = {}
    for one in reversed(value.__mro__):
        if one.__module__.startswith("oneslack"):
            for name, function in vars(one).items():
                if not name.startswith("_") and inspect.isfunction(function) and function.__doc__:
                    found[name] = function
    return list(found.items())


def docstring(value):
    """A docstring in numpydoc's sections, or plain, as Markdown."""
    text = inspect.getdoc(value) or ""
    parts = HEADING.split(text)
    lines = [plain(parts[0])]
    for heading, body in zip(parts[1::2], parts[2::2]):
        lines += ["", f"**{heading}**", ""]
        if heading == "Examples":
            lines.append(f"```pycon\n{body.strip()}\n```")
        elif heading in ("Parameters", "Returns", "Attributes", "Raises"):
            lines.append(entries(body))
        else:
            lines.append(plain(body))
    return "\n".join(lines)


def plain(text):
    """Paragraphs; what is indented is shown as it stands, and examples as code."""
    out = []
    for block in re.split(r"\n\s*\n", text.strip("\n")):
        kept = block.startswith((" ", ">>>")) or "\n  " in block
        out.append(f"```text\n{block}\n```" if kept else escaped(block))
    return "\n\n".join(out)


def entries(body):
    """A list of names with what they are."""
    lines, out = body.strip("\n").splitlines(), []
    for line in lines:
        if line and not line.startswith(" "):
            name, _, kind = line.partition(" : ")
            out.append(f"- `{name}`" + (f" ({escaped(kind)})" if kind else "") + ":")
        elif line.strip():
            out.append(f"    {escaped(line.strip())}")
    return "\n".join(out)


def escaped(text):
    """Text in which Markdown finds no links or tags."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(
        part if part.startswith("`") else re.sub(r"([\[\]*_])", r"\\\1", part.replace("<", "&lt;"))
        for part in parts
    )


def in_a_table(text):
    return escaped(text).replace("|", "\\|")
