"""What a notebook shows of a training: its certificate, in a line above whatever else there is."""

from __future__ import annotations

from html import escape

from .words import distance


def certificate_html(primal, dual, certified, details) -> str:
    """The line; details are words such as the solver's name and its steps."""
    kind = "certified" if certified else "estimated, not proved"
    words = f"objective {primal:.6g}, lower bound {dual:.6g}; {', '.join(details)}"
    return (
        "<div style='border-left:4px solid #0072b2;padding:0.2em 0.8em;margin:0.3em 0'>"
        f"<b>{escape(distance(primal, dual))}</b> ({kind})<br><small>{escape(words)}</small></div>"
    )
