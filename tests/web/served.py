"""A real server in its own process, what talks to it, and small studies for it."""

import http.client
import re
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import equipoise as eq
from invoking import interruptible

IMPATIENT = """
import equipoise.web.guard as guard, equipoise.web.server as server
guard.FAILURE_SECONDS, guard.BODY_SECONDS, server.HEAD_SECONDS = 0.4, 2.0, 2.0
guard.MOST_WAITING = 3
from equipoise.cli.main import main
main()
"""
"""Starts `equipoise` with less patience, so that nobody has to wait for it."""

SPACE = eq.Space(
    focus=eq.Int(0, 6, unit="mm"),
    angle=eq.Int(-3, 3, unit="mrad"),
    filter=eq.Choice(["open", "thin"]),
)
START = {"focus": 0, "angle": 0, "filter": "open"}


def begun(path, readings=0, **parts):
    """Make a study whose asks take a millisecond."""
    opt = eq.Optimizer(SPACE, start=START, log=path, rng=0, **({"kernel": eq.RBF(0.5)} | parts))
    opt.study.set("unit", "nA")
    for _ in range(readings):
        trial = opt.ask(worker="page")
        opt.tell(trial, value_at(trial.x) + 0.1 * trial.id)
    return opt


def value_at(x):
    """What the instrument would read without drift."""
    return 5.0 - 0.3 * (int(x["focus"]) - 4) ** 2 - 0.2 * (int(x["angle"]) - 1) ** 2 + (x["filter"] == "thin")


@dataclass
class Answer:
    status: int
    headers: http.client.HTTPMessage
    text: str


class Served:
    """A server, until `stop`."""

    def __init__(self, *arguments, impatient=False, port=0):
        begin = ["-c", IMPATIENT] if impatient else ["-m", "equipoise"]
        words = [sys.executable, *begin, "serve", *map(str, arguments)]
        if "--" in words:
            words[words.index("--") : words.index("--")] = ["--port", str(port)]
        else:
            words += ["--port", str(port)]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        self.process = subprocess.Popen(words, preexec_fn=interruptible, **pipes)
        said = [self.process.stdout.readline() for _ in range(3)]
        assert said[2], self.process.stderr.read()
        self.operator, self.watcher = (line.split()[-1] for line in said[1:])
        self.judge = self.process.stdout.readline().split()[-1] if {"--judge", "--judges"} & set(words) else ""
        self.port = urlsplit(self.operator).port
        self.host = f"127.0.0.1:{self.port}"
        self.cookie = {role: self._enter(getattr(self, role)) for role in ("operator", "watcher", "judge")}

    def _enter(self, address):
        if not address:
            return None
        answer = self.get(address[address.index("/?") :], cookie=None)
        return re.match(r"[^;]+", answer.headers["set-cookie"])[0]

    def request(self, method, path, body=None, headers=None, cookie="operator"):
        """Send a request as it is given; headers that are `None` are left out."""
        known = {"Host": self.host} | ({"Cookie": self.cookie[cookie]} if cookie else {}) | (headers or {})
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in known.items():
                if value is not None:
                    connection.putheader(name, value)
            if body is not None and "Content-Length" not in known and "Transfer-Encoding" not in known:
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body)
            answer = connection.getresponse()
            return Answer(answer.status, answer.headers, answer.read().decode(errors="replace"))
        finally:
            connection.close()

    def get(self, path, cookie="operator", **headers):
        return self.request("GET", path, headers=headers, cookie=cookie)

    def post(self, path, fields, cookie="operator", **headers):
        """Post a form as our own page does; headers say what is different."""
        usual = {"Origin": f"http://{self.host}", "Sec-Fetch-Site": "same-origin"}
        usual["Content-Type"] = "application/x-www-form-urlencoded"
        body = fields if isinstance(fields, bytes) else urlencode(fields).encode()
        return self.request("POST", path, body, usual | headers, cookie)

    def stop(self, how=signal.SIGTERM):
        """End the server; return what it said on standard error."""
        if self.process.poll() is None:
            self.process.send_signal(how)
        said = self.process.communicate(timeout=120)[1]
        assert "Traceback" not in said, said
        return said


def home(study):
    return f"/study/{Path(study).name}/"
