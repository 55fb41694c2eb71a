"""How fast the operator's page is: a reading to the next setting, a page to its first use, and twenty watchers.

A study of three knobs with everything learned gets 200 readings by the page's form, while a screen looks on: every
reply must come within 250 ms. Then a real Chromium uses it. Processor time is that of the server until the reply: what
a machine without other work would take.
    python benchmarks/serve.py --readings 200 --watchers 20
"""

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import equipoise as eq
from equipoise.lab.environments import Simulator
from equipoise.web.beginning import begin_demo

ARGUMENTS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync"]


def started(path: Path) -> tuple[subprocess.Popen[str], str]:
    """Start the server; return it and the address for its operator."""
    words = [sys.executable, "-m", "equipoise", "serve", str(path), "--port", "0"]
    server = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    lines = [server.stdout.readline() for _ in range(3)]
    return server, lines[1].split()[-1]


def replied(server: "subprocess.Popen[str]", address: str, path: Path, readings: int) -> list[tuple[float, float]]:
    """Tell readings by the form; return how long each reply with the next setting took, wall and processor, in ms."""
    place, ending, read = urlsplit(address), threading.Event(), Simulator(seed=0, seconds=0.0)
    origin = {"Origin": f"http://{place.netloc}", "Content-Type": "application/x-www-form-urlencoded"}
    headers = {"Cookie": cookie(address), "HX-Request": "true"} | origin
    threading.Thread(target=watch, args=(address, path, ending), daemon=True).start()
    line = HTTPConnection(place.hostname or "", place.port or 80, timeout=120)
    study, found, form = eq.resume(path), [], {"do": "ask"}
    for _ in range(readings + 1):
        begun, before = time.perf_counter(), _cpu(server.pid)
        line.request("POST", f"/study/{path.name}/", urlencode(form), headers)
        text = line.getresponse().read().decode()
        found.append((1000 * (time.perf_counter() - begun), 1000 * (_cpu(server.pid) - before)))
        trial = int(re.findall(r'name="trial" value="(\d+)"', text)[0])
        study.study.follow()
        x = next(record.x for record in study.records(aside=False) if record.trial == trial)
        form = {"do": "answer", "trial": str(trial), "value": repr(read(x))}
        time.sleep(0.05)
    ending.set()
    return found[1:]


def opened(browser: Any, address: str, times: int) -> list[float]:
    """Load the screen; return how long it took until it could be used, in ms."""
    found, page = [], browser.new_page(viewport={"width": 1280, "height": 800})
    page.goto(address)
    page.wait_for_url("**/study/**")
    for _ in range(times):
        page.goto(page.url, wait_until="load")
        found.append(page.evaluate("performance.getEntriesByType('navigation')[0].domInteractive"))
    page.close()
    return found


def entered(browser: Any, address: str, times: int) -> list[float]:
    """Enter readings; return how long it took from the key to the next setting on the screen, in ms."""
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.goto(address)
    page.wait_for_url("**/study/**")
    page.wait_for_selector("#value")
    watch = """() => new Promise(done => {
        const before = document.getElementById("now").dataset.version, begun = performance.now();
        document.querySelector("form.tell button").click();
        const look = () => {
            const now = document.getElementById("now");
            if (now && now.dataset.version !== before && document.getElementById("value")) {
                done(performance.now() - begun);
            } else { requestAnimationFrame(look); }
        };
        look();
    })"""
    found = []
    for k in range(times):
        page.fill("#value", f"{20 + 0.1 * k:.2f}")
        found.append(page.evaluate(watch))
        time.sleep(0.5)
    page.close()
    return found


def cookie(address: str) -> str:
    place = urlsplit(address)
    line = HTTPConnection(place.hostname or "", place.port or 80)
    line.request("GET", f"/?{place.query}")
    return (line.getresponse().headers["set-cookie"] or "").split(";")[0]


def watch(address: str, path: Path, ending: threading.Event) -> None:
    """Listen as a screen does, and fetch what is new."""
    place, headers = urlsplit(address), {"Cookie": cookie(address)}
    line = HTTPConnection(place.hostname or "", place.port or 80, timeout=60)
    line.request("GET", f"/study/{path.name}/events", headers=headers)
    stream = line.getresponse()
    while not ending.is_set():
        text = stream.readline().decode()
        if text.startswith("event: "):
            part = HTTPConnection(place.hostname or "", place.port or 80, timeout=60)
            part.request("GET", f"/study/{path.name}/{text[7:].strip()}", headers=headers)
            part.getresponse().read()
            part.close()


def watched(server: "subprocess.Popen[str]", address: str, path: Path, watchers: int, seconds: float) -> float:
    """Let watchers look on while a worker reads once a second; return the share of a core that the server takes."""
    ending = threading.Event()
    threads = [threading.Thread(target=watch, args=(address, path, ending), daemon=True) for _ in range(watchers)]
    for thread in threads:
        thread.start()
    opt = eq.resume(path)
    time.sleep(2.0)
    before, begun = _cpu(server.pid), time.monotonic()
    while time.monotonic() - begun < seconds:
        opt.tell(opt.ask(worker="other"), 20.0 + opt.readings % 7)
        time.sleep(max(1.0 - (time.monotonic() - begun) % 1.0, 0.0))
    share = (_cpu(server.pid) - before) / (time.monotonic() - begun)
    ending.set()
    return share


def _cpu(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--readings", type=int, default=200)
    parser.add_argument("--watchers", type=int, default=20)
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=20.0)
    options = parser.parse_args()
    path = Path(tempfile.mkdtemp()) / "study.jsonl"
    begin_demo(path)
    server, address = started(path)
    try:
        replies = replied(server, address, path, options.readings)
        for name, times in zip(("wall", "processor"), zip(*replies, strict=True), strict=True):
            print(f"reading to reply, {name}: median {statistics.median(times):.0f} ms, largest {max(times):.0f} ms")
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=ARGUMENTS)
            for name, found in (
                ("page until it can be used", opened(browser, address, options.times)),
                ("reading to next setting", entered(browser, address, options.times)),
            ):
                print(f"{name}: median {statistics.median(found):.0f} ms, largest {max(found):.0f} ms of {len(found)}")
            browser.close()
        share = watched(server, address, path, options.watchers, options.seconds)
        print(f"{options.watchers} watchers, a reading a second: {share:.2f} of a core")
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
