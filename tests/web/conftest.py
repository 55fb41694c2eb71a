"""One browser for all tests of a module."""

import pytest


@pytest.fixture(scope="module")
def browser():
    from seen import ARGUMENTS, CHROMIUM, sync_api

    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()
