"""The whole page: style and script stand in it, and nothing is fetched from anywhere."""

from __future__ import annotations

import re
from html import escape
from importlib.resources import files

_SECTION = re.compile(r'<section id="([^"]+)"><h2>([^<]*)</h2>')


def page(title, subtitle, sections, footer) -> str:
    """HTML of a title, words below it, sections (HTML, empty ones are left out) and words at the end."""
    here = files(__package__)
    style, script = (here.joinpath(name).read_text("utf-8") for name in ("page.css", "page.js"))
    body = "\n".join(section for section in sections if section)
    links = "".join(f'<li><a href="#{name}">{words}</a></li>' for name, words in _SECTION.findall(body))
    # The policy lets nothing in from outside, whatever a name in the data tries.
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:">
<link rel="icon" href="data:,">
<title>{escape(title)}</title>
<style>
{style}</style>
</head>
<body>
<a class="skip" href="#main">To the report</a>
<header><h1>{escape(title)}</h1><p class="soft">{escape(subtitle)}</p></header>
<nav aria-label="Sections"><ul>{links}</ul></nav>
<main id="main">
{body}
</main>
<footer>{escape(footer)}</footer>
<div id="tip" role="status" aria-live="polite" hidden></div>
<script>
{script}</script>
</body>
</html>
"""
