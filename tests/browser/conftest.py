"""A headless Chromium, or a reason why there is none."""

import shutil

import pytest

FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-dev-shm-usage", "--hide-scrollbars", "--force-device-scale-factor=1",
)  # fmt: skip


@pytest.fixture(scope="session")
def start_browser(tmp_path_factory):
    """A function that starts a browser with more flags; all of them are ended with the tests."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    programs = [shutil.which(name) for name in ("chromium", "chromedriver")]
    if not all(programs):
        pytest.skip("chromium or chromedriver is not installed: see tests/browser/install_chromium.sh")
    from selenium.webdriver.chrome.service import Service

    started = []

    def start(*more):
        options = webdriver.ChromeOptions()
        options.binary_location = programs[0]
        profile = tmp_path_factory.mktemp("profile")
        for flag in (*FLAGS, *more, f"--user-data-dir={profile}", "--window-size=1100,900"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        started.append(webdriver.Chrome(options, Service(programs[1])))
        return started[-1]

    yield start
    for one in started:
        one.quit()


@pytest.fixture(scope="session")
def browser(start_browser):
    return start_browser()
