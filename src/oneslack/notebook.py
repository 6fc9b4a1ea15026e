"""What a notebook shows of a training: its certificate, in a line above whatever else there is."""

from __future__ import annotations

from html import escape


def distance(primal, dual) -> str:
    """How far above the optimum, at most, in words."""
    if not dual > 0:
        return "no lower bound above zero yet" if primal > 0 else "at the optimum"
    return f"at most {100 * max(primal / dual - 1, 0.0):.3g} % above the optimum"


def certificate_html(primal, dual, certified, details) -> str:
    """The line; details are words such as the solver's name and its steps."""
    kind = "certified" if certified else "estimated, not proved"
    words = f"objective {primal:.6g}, lower bound {dual:.6g}; {', '.join(details)}"
    return (
        "<div style='border-left:4px solid #0072b2;padding:0.2em 0.8em;margin:0.3em 0'>"
        f"<b>{escape(distance(primal, dual))}</b> ({kind})<br><small>{escape(words)}</small></div>"
    )
