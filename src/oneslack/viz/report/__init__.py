"""A model on one page: HTML that needs nothing but itself, for the screen and for paper.

`oneslack report MODEL -o report.html` gathers the facts; here they become a page.
"""

from .html import page

__all__ = ["page"]
