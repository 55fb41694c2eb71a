"""A real browser on a page: Chromium, driven by Playwright.

Debian's chromium is used, or any that is found by name; EQUIPOISE_CHROMIUM names another one. Without a browser these
tests are skipped, and say so; in CI `.ci/run` makes sure that there is one.
"""

import os
import shutil
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from served import home

sync_api = pytest.importorskip("playwright.sync_api", reason="these tests need playwright: pip install playwright")
expect = sync_api.expect
PATIENCE = 120_000
"""Milliseconds: a busy machine takes long; a test ends as soon as there is what it waits for."""

expect.set_options(timeout=PATIENCE)

FOUND = [os.environ.get("EQUIPOISE_CHROMIUM"), *map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))]
CHROMIUM = next(filter(None, FOUND), None)
NEEDS_BROWSER = pytest.mark.skipif(CHROMIUM is None, reason="these tests need a browser: apt-get install chromium")
QUIET = "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking"
ARGUMENTS = [*QUIET.split(), "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"]
AXE = Path(__file__).parent / "axe" / "axe.min.js"
DESK, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}


@contextmanager
def screen(browser, server, study="", role="operator", size=DESK, refusals=("409", "503"), **options):
    """Its own window on a study; nothing may go wrong in it, and nobody else be asked for anything."""
    context = browser.new_context(viewport=size, **options)
    context.set_default_timeout(PATIENCE)
    page, wrong, asked = context.new_page(), [], set()
    page.on("console", lambda message: wrong.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("dialog", lambda dialog: wrong.append("a dialog") or dialog.dismiss())
    page.on("request", lambda request: asked.add(urlsplit(request.url).netloc))
    page.goto(getattr(server, role))
    page.wait_for_url(lambda address: "token" not in address)
    if study:
        page.goto(f"http://{server.host}{home(study)}")
    try:
        yield page
    finally:
        context.close()
    assert asked == {server.host}
    expected = (*refusals, "ERR_", "htmx:")  # and a server that was out of reach for a while
    unexpected = [text for text in wrong if not any(each in text for each in expected)]
    assert unexpected == [], unexpected


def exhibits(page, kind):
    """Wait until both sides of the pair can be looked at or listened to."""
    sides, shown = page.locator(f"#now {kind}"), {"img": "naturalWidth", "audio": "readyState"}[kind]
    expect(sides).to_have_count(2)
    for side in sides.all():
        expect(side).not_to_have_js_property(shown, 0)


def violations(page):
    """What axe-core finds wrong with a page: labels, contrast, order of headings, names of controls and so on."""
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("axe.run().then(result => result.violations)")
    return [f"{each['id']}: {node['html'][:120]}" for each in found for node in each["nodes"]]
