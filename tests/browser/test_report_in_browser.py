"""Reports in a real browser: no complaints, tables that sort, charts that tell by pointer and by key."""

import os
from pathlib import Path

import pytest
from report_kinds import KINDS, train, write_data

from oneslack.cli import main


@pytest.fixture(scope="module")
def folder_of_kinds(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kinds")
    write_data(folder)
    return folder


@pytest.fixture
def kinds(folder_of_kinds, monkeypatch):
    """The current folder, with data for each kind of model."""
    monkeypatch.chdir(folder_of_kinds)
    return folder_of_kinds


def opened(browser, name, folder, data=True):
    """The report of a model of that kind, in the browser."""
    train(name, folder)
    given = ["--data", KINDS[name][1]] if data and KINDS[name][1] else []
    assert main(["report", f"{name}.model", *given, "-o", f"{name}.html"]) == 0
    browser.get_log("browser")  # forget those of the last page
    browser.get((folder / f"{name}.html").as_uri())
    return browser


def by(browser, selector):
    return browser.find_elements("css selector", selector)


@pytest.mark.parametrize("name", KINDS)
def test_opens_without_a_complaint(name, browser, kinds):
    opened(browser, name, kinds)
    assert browser.get_log("browser") == []
    assert browser.title == f"{name}.model"
    for section in by(browser, "section"):
        assert section.size["height"] > 30
    wide = browser.execute_script("return document.documentElement.scrollWidth > innerWidth")
    assert not wide
    fetched = browser.execute_script("return performance.getEntriesByType('resource').map(one => one.name)")
    assert [one for one in fetched if not one.startswith("data:")] == []
    picture = browser.get_screenshot_as_png()
    assert picture.startswith(b"\x89PNG")
    assert len(picture) > 10_000
    if folder := os.environ.get("ONESLACK_SCREENSHOTS"):
        Path(folder, f"{name}.png").write_bytes(picture)


def test_tables_sort_by_click_and_by_key(browser, kinds):
    opened(browser, "regress", kinds)
    table = by(browser, "#errors table.sortable")[0]
    button = table.find_elements("css selector", "th button")[1]

    def column():
        cells = table.find_elements("css selector", "tbody tr td:nth-child(2)")
        return [float(cell.text.replace(",", "")) for cell in cells]

    before = column()
    button.click()
    assert column() == sorted(before) != before
    assert table.find_elements("css selector", "th")[1].get_attribute("aria-sort") == "ascending"
    button.send_keys("\ue007")  # Enter
    assert column() == sorted(before, reverse=True)
    assert table.find_elements("css selector", "th")[1].get_attribute("aria-sort") == "descending"
    assert len(table.find_elements("css selector", "[aria-sort]")) == 1


def test_words_sort_as_words(browser, kinds):
    opened(browser, "tag", kinds)
    table = by(browser, "#quality table.sortable")[1]
    button = table.find_elements("css selector", "th button")[0]
    for down in (False, True):
        button.click()
        words = [cell.text for cell in table.find_elements("css selector", "tbody td:first-child")]
        assert words == sorted(words, reverse=down)


def test_charts_tell_by_keyboard(browser, kinds):
    opened(browser, "binary", kinds, data=False)
    chart, tip = by(browser, "#certainty svg.chart")[0], by(browser, "#tip")[0]
    assert not tip.is_displayed()
    browser.execute_script("arguments[0].focus()", chart)
    for key, words in (
        ("\ue010", "step"),
        ("\ue011", "step 1,"),
        ("\ue014", "step 2,"),
        ("\ue012", "step 1,"),
    ):
        browser.switch_to.active_element.send_keys(key)  # End, Home, right, left
        assert tip.is_displayed()
        assert tip.text.startswith(words)
    browser.switch_to.active_element.send_keys("\ue00c")  # Escape
    assert not tip.is_displayed()


def test_charts_tell_by_pointer(browser, kinds):
    from selenium.webdriver import ActionChains

    opened(browser, "multi", kinds)
    chart, tip = by(browser, "#quality svg.chart")[0], by(browser, "#tip")[0]
    ActionChains(browser).move_to_element(chart).perform()
    assert tip.is_displayed()
    assert "were taken for" in tip.text
    place = tip.rect
    assert place["x"] >= 0
    assert place["x"] + place["width"] <= browser.execute_script("return innerWidth")


def test_everything_can_be_reached_by_tab(browser, kinds):
    opened(browser, "binary", kinds)
    seen = set()
    for _ in range(60):
        browser.switch_to.active_element.send_keys("\ue004")
        seen.add(browser.switch_to.active_element.tag_name)
    assert {"a", "button", "svg", "summary", "pre"} <= seen


def test_paper_is_light_and_has_no_navigation(start_browser, kinds):
    browser = start_browser("--force-dark-mode")
    opened(browser, "binary", kinds)
    ground = "return getComputedStyle(document.body).backgroundColor"
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", dark := {"features": [
        {"name": "prefers-color-scheme", "value": "dark"}]})  # fmt: skip
    assert browser.execute_script(ground) == "rgb(20, 24, 31)"
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print", **dark})
    assert browser.execute_script(ground) == "rgb(255, 255, 255)"
    assert not by(browser, "nav")[0].is_displayed()
    page = browser.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})["data"]
    assert len(page) > 10_000
