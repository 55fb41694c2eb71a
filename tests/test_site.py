"""The site: it builds without a warning, its start page shows the way, and every page fits a phone."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import equipoise as eq

DOCS = Path(__file__).parents[1] / "docs"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site as `make docs` builds it, with what Sphinx complained about; links between pages are checked."""
    for package in ("sphinx", "furo", "myst_parser", "sphinx_copybutton"):
        pytest.importorskip(package, reason="needs the extra `docs`")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", DOCS, folder]
    quiet = os.environ | {"MPLBACKEND": "Agg"}
    built = subprocess.run(command, capture_output=True, text=True, check=False, env=quiet)
    assert (built.returncode, built.stderr) == (0, "")
    return folder


def test_the_start_page_has_version_install_line_and_six_doors(site):
    page = (site / "index.html").read_text(encoding="utf-8").partition('<article role="main"')[2]
    top, _, rest = page.partition("<img")
    assert f"Version {eq.__version__}" in top
    assert "$ pip install" in re.sub("<[^>]+>", "", top)
    doors = re.search(r'<ul class="cards[^>]*>(.*?)</ul>', rest, re.DOTALL)[1]
    assert doors.count("<li>") == doors.count("<code") == doors.count('class="reference internal"') == 6


def test_the_reference_lists_packages_not_a_thousand_names(site):
    page = (site / "api" / "index.html").read_text(encoding="utf-8").partition('<article role="main"')[2]
    assert 10 < page.count("toctree-l1") < 30
    assert "toctree-l2" not in page


def test_pages_fit_a_phone_and_commands_can_be_copied_there(site):
    """At 390 pixels nothing is wider than the screen but what scrolls inside its own frame."""
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")
    seen = pytest.importorskip("seen", reason="needs playwright")
    if seen.CHROMIUM is None:
        pytest.skip("needs a browser: apt-get install chromium")
    too_wide = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
    scrolls = "[...document.querySelectorAll('div.highlight-console pre')].some(e => e.scrollWidth > e.clientWidth + 1)"
    with playwright.sync_playwright() as session:
        browser = session.chromium.launch(executable_path=seen.CHROMIUM, args=seen.ARGUMENTS)
        context = browser.new_context(viewport=seen.PHONE, has_touch=True, is_mobile=True)
        context.set_default_timeout(seen.PATIENCE)
        page = context.new_page()
        wide = []
        for path in sorted(site.rglob("*.html")):
            page.goto(path.as_uri())
            if page.evaluate(too_wide) or page.evaluate(scrolls):
                wide.append(path.relative_to(site).as_posix())
        page.goto((site / "install.html").as_uri())
        page.wait_for_selector("button.copybtn")
        opacity = page.evaluate("getComputedStyle(document.querySelector('button.copybtn')).opacity")
        browser.close()
    assert wide == []
    assert opacity == "1"


def test_a_table_breaks_no_line_inside_a_number(site):
    """On a phone and in a wide table alike; code keeps its spaces."""
    page = (site / "evidence.html").read_text(encoding="utf-8")
    assert "7.9\u00a0±\u00a03.3 (20)" in page
    assert "18\u00a0±\u00a01.9 (0,\u00a00)" in page
    assert "\u00a0" not in "".join(re.findall(r"<pre>.*?</pre>", page, re.DOTALL))


def test_the_names_a_user_types_have_sections(site):
    page = (site / "api" / "equipoise.html").read_text(encoding="utf-8").partition('<article role="main"')[2]
    headings = [re.sub("<[^>]+>|¶", "", each) for each in re.findall(r"<h2>(.*?)</h2>", page)]
    assert headings[0] == "Studies"
    assert len(headings) == 7
    assert page.index('id="equipoise.Optimizer"') < page.index('id="equipoise.Space"')
