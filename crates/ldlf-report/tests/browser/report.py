"""The report in a real browser: Chromium without a window, driven by chromedriver. Needs nothing but Python's own library.

    python3 report.py LDLF FOLDER [--screenshots DIR]

LDLF is the command, FOLDER a place for what it writes. The report of `ldlf demo`, one of hostile results and the page of the guide that holds a
model to play with are opened.
"""
import base64
import contextlib
import json
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--window-size=1200,900"]
PLAY = pathlib.Path(__file__).resolve().parents[4] / "docs" / "figures" / "play.html"
HOSTILE = "<img src=x onerror=\"window.hacked=1\">'&"


class Browser:
    """A session with chromedriver."""

    def __init__(self):
        with contextlib.closing(socket.socket()) as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.profile = tempfile.mkdtemp()
        self.driver = subprocess.Popen(["chromedriver", f"--port={self.port}"], stdout=subprocess.DEVNULL)
        for _ in range(100):
            with contextlib.suppress(OSError):
                self.call("GET", "/status")
                break
            time.sleep(0.1)
        options = {"args": FLAGS + [f"--user-data-dir={self.profile}"]}
        wanted = {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}
        answer = self.call("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self.session = f"/session/{answer['sessionId']}"

    def call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", data, method=method)
        request.add_header("Content-Type", "application/json")
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError(error.read().decode()) from None

    def post(self, path, body):
        return self.call("POST", self.session + path, body)

    def run(self, script, *args):
        return self.post("/execute/sync", {"script": script, "args": list(args)})

    def devtools(self, command, **params):
        return self.post("/goog/cdp/execute", {"cmd": command, "params": params})

    def log(self, kind):
        return self.post("/se/log", {"type": kind})

    def open(self, path):
        self.log("browser"), self.log("performance")
        self.media("")
        self.size(1200, 900)
        self.post("/url", {"url": path.resolve().as_uri()})

    def media(self, media, **features):
        named = [{"name": name.replace("_", "-"), "value": value} for name, value in features.items()]
        self.devtools("Emulation.setEmulatedMedia", media=media, features=named)

    def size(self, width, height):
        self.devtools("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def screenshot(self, path, whole=True):
        shot = self.devtools("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(shot["data"]))

    def close(self):
        with contextlib.suppress(Exception):
            self.call("DELETE", self.session)
        self.driver.terminate()
        self.driver.wait()
        shutil.rmtree(self.profile, ignore_errors=True)


def channel(value):
    value /= 255
    return value / 12.92 if value <= 0.03928 else ((value + 0.055) / 1.055) ** 2.4


def contrast(first, second):
    """The contrast of two rgb(...) colours by the rule of WCAG."""
    light = []
    for colour in (first, second):
        numbers = [float(part) for part in colour[colour.index("(") + 1:-1].split(",")[:3]]
        light.append(sum(weight * channel(part) for weight, part in zip((0.2126, 0.7152, 0.0722), numbers)))
    return (max(light) + 0.05) / (min(light) + 0.05)


COLOURS = """const root = getComputedStyle(document.documentElement);
return [root.backgroundColor, root.color, getComputedStyle(document.querySelector('svg text')).fill];"""
COLUMN = """const [table, column] = arguments, rows = document.querySelectorAll('table.sortable')[table].tBodies[0].rows;
return Array.from(rows).map(row => Number(row.cells[column].dataset.key));"""
SHOWN = """return [Array.from(document.querySelectorAll('.play-labels output')).map(o => parseFloat(o.textContent)),
    document.getElementById('play-path').textContent,
    Array.from(document.querySelectorAll('.play-tree line')).map(l => l.getAttribute('stroke-width')).join()];"""
MOVE = """const slider = document.getElementById('play-feature-0'), low = Number(slider.min), high = Number(slider.max);
    slider.value = Number(slider.value) > (low + high) / 2 ? low : high; slider.dispatchEvent(new Event('input'));"""
DIFFERENCE = "return Number(document.getElementById('playground').dataset.difference)"
HEAD = "return document.querySelectorAll('table.sortable')[arguments[0]].tHead.rows[0].cells[arguments[1]]"


class TheReport(unittest.TestCase):
    folder = ldlf = None

    @classmethod
    def setUpClass(cls):
        cls.page = cls.folder / "demo" / "report.html"
        subprocess.run([cls.ldlf, "-q", "demo", "--out", cls.folder / "demo", "--force"], check=True, stdout=subprocess.DEVNULL)
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.close)

    def setUp(self):
        self.browser.open(self.page)

    def test_opens_without_a_word_on_the_console_and_without_a_request(self):
        self.assertEqual(self.browser.log("browser"), [])
        events = [json.loads(entry["message"])["message"] for entry in self.browser.log("performance")]
        asked = {event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"}
        self.assertEqual({url for url in asked if not url.startswith("data:")}, {self.page.resolve().as_uri()})

    def test_a_click_on_a_head_sorts_and_another_turns_the_order(self):
        measure = 2
        for order, state in ((sorted, "ascending"), (lambda keys: sorted(keys, reverse=True), "descending")):
            self.browser.run(HEAD + ".querySelector('button').click()", 0, measure)
            keys = self.browser.run(COLUMN, 0, measure)
            self.assertEqual(keys, order(keys))
            self.assertEqual(self.browser.run(HEAD + ".getAttribute('aria-sort')", 0, measure), state)
        self.assertIn("sorted by K-L", self.browser.run("return document.getElementById('status').textContent"))

    def test_the_keyboard_sorts_too(self):
        self.browser.run(HEAD + ".querySelector('button').focus()", 0, 1)
        element = self.browser.call("GET", self.browser.session + "/element/active")
        self.browser.post(f"/element/{next(iter(element.values()))}/value", {"text": "\ue007"})
        self.assertEqual(self.browser.run(HEAD + ".getAttribute('aria-sort')", 0, 1), "ascending")

    def test_dark_follows_the_system_and_the_switch(self):
        self.browser.media("", prefers_color_scheme="light")
        light = self.browser.run(COLOURS)
        self.browser.media("", prefers_color_scheme="dark")
        dark = self.browser.run(COLOURS)
        self.assertNotEqual(light[0], dark[0])
        for paper, ink, text in (light, dark):
            self.assertGreater(contrast(paper, ink), 7)
            self.assertGreater(contrast(paper, text), 4.5)
        self.browser.run("document.getElementById('theme').click()")
        self.assertEqual(self.browser.run(COLOURS), light)
        self.browser.run("document.getElementById('theme').click()")
        self.assertEqual(self.browser.run(COLOURS), dark)

    def test_every_figure_has_a_name_and_a_description(self):
        texts = self.browser.run("""return Array.from(document.querySelectorAll('svg')).map(svg =>
            [svg.getAttribute('role')].concat(svg.getAttribute('aria-labelledby').split(' ')
                .map(id => document.getElementById(id).textContent)));""")
        self.assertGreater(len(texts), 8)
        for role, title, description in texts:
            self.assertEqual(role, "img")
            self.assertTrue(title and len(description) > 20, (title, description))
        ids = self.browser.run("return Array.from(document.querySelectorAll('[id]')).map(element => element.id)")
        self.assertEqual(len(ids), len(set(ids)))

    def test_headings_and_landmarks_lead_through_the_page(self):
        levels = self.browser.run("return Array.from(document.querySelectorAll('h1,h2,h3,h4')).map(h => Number(h.tagName[1]))")
        self.assertEqual(levels.count(1), 1)
        self.assertTrue(all(after <= before + 1 for before, after in zip(levels, levels[1:])), levels)
        marks = self.browser.run("return ['main','nav','header','footer'].map(name => document.querySelectorAll(name).length)")
        self.assertEqual(marks, [1, 1, 1, 1])
        self.assertEqual(self.browser.run("return document.documentElement.lang"), "en")

    def test_a_narrow_screen_does_not_scroll_sideways(self):
        self.browser.size(360, 740)
        width = self.browser.run("return document.documentElement.scrollWidth")
        self.assertLessEqual(width, 360)

    def test_paper_is_white_and_without_the_switch(self):
        self.browser.media("print", prefers_color_scheme="dark")
        paper, ink, _ = self.browser.run(COLOURS)
        self.assertEqual(paper, "rgb(255, 255, 255)")
        self.assertGreater(contrast(paper, ink), 7)
        self.assertEqual(self.browser.run("return getComputedStyle(document.getElementById('theme')).display"), "none")

    def test_moving_a_feature_changes_the_distribution_and_the_way_through_the_tree(self):
        # Soft trees alone: a fit that checks itself may prefer others.
        votes, model, page = self.folder / "demo" / "votes.csv", self.folder / "soft.ldlf", self.folder / "soft.html"
        call = [self.ldlf, "-q", "train", votes, "--labels", "votes_*", "--learner", "sldlf", "--set", "choose=false", "--force", "--out", model]
        subprocess.run(call, check=True, stdout=subprocess.DEVNULL)
        subprocess.run([self.ldlf, "-q", "report", "--model", model, "--data", votes, "--force", "-o", page], check=True)
        self.browser.open(page)
        self.moves(leaves=64)

    def test_the_page_of_the_guide_does_the_same(self):
        self.browser.open(PLAY)
        self.assertLess(self.browser.run(DIFFERENCE), 1e-5)
        self.moves(leaves=16)

    def moves(self, leaves):
        """Moves the first feature, takes it back, and chooses another row and another tree."""
        before = self.browser.run(SHOWN)
        self.browser.run(MOVE)
        after = self.browser.run(SHOWN)
        for shares, path, _ in (before, after):
            self.assertAlmostEqual(sum(shares), 100, delta=0.5)
            self.assertIn(f"of {leaves} ", path)
        self.assertGreater(max(abs(a - b) for a, b in zip(before[0], after[0])), 1)
        self.assertNotEqual(before[2], after[2])
        self.browser.run("document.getElementById('play-reset').click()")
        self.assertEqual(self.browser.run(SHOWN), before)
        self.browser.run("const rows = document.getElementById('play-row'); rows.value = 3; rows.dispatchEvent(new Event('change'))")
        self.assertNotEqual(self.browser.run(SHOWN)[0], before[0])
        self.browser.run("const trees = document.getElementById('play-tree'); trees.selectedIndex = 2; trees.dispatchEvent(new Event('change'))")
        self.assertNotEqual(self.browser.run(SHOWN)[2], before[2])
        self.assertEqual(self.browser.log("browser"), [])

    def test_the_page_predicts_what_the_program_predicts(self):
        votes = self.folder / "demo" / "votes.csv"
        model, page = self.folder / "played.ldlf", self.folder / "played.html"
        for learner in ("mean", "bfgs-ldl", "random-forest", "ldlogitboost", "sldlf@scaling=ranks"):
            name, _, setting = learner.partition("@")
            quick = {"random-forest": "trees=10", "ldlogitboost": "rounds=10", "sldlf": "choose=false"}.get(name)
            settings = [part for given in (quick, setting) if given for part in ("--set", given)]
            call = [self.ldlf, "-q", "train", votes, "--labels", "votes_*", "--learner", name, *settings, "--force", "--out", model]
            subprocess.run(call, check=True, stdout=subprocess.DEVNULL)
            subprocess.run([self.ldlf, "-q", "report", "--model", model, "--data", votes, "--force", "-o", page], check=True)
            self.browser.open(page)
            self.assertLess(self.browser.run(DIFFERENCE), 1e-5, learner)

    def test_names_from_data_stay_text(self):
        run = {"learner": HOSTILE, "parameters": {}, "folds": [{"kl": 0.1}, {"kl": 0.2}], "mean": {"kl": 0.15}, "std": {"kl": 0.05}}
        other = dict(run, learner="mean", mean={"kl": 0.3})
        results = {"dataset": HOSTILE, "rows": 4, "features": 1, "labels": [HOSTILE, "b"], "protocol": "clean", "seed": 0,
                   "results": [run, other]}
        source, page = self.folder / "hostile.json", self.folder / "hostile.html"
        source.write_text(json.dumps(results))
        subprocess.run([self.ldlf, "-q", "report", source, "--force", "--title", HOSTILE, "-o", page], check=True)
        self.browser.open(page)
        self.assertIsNone(self.browser.run("return window.hacked"))
        self.assertEqual(self.browser.run("return document.querySelectorAll('img').length"), 0)
        self.assertEqual(self.browser.run("return document.querySelector('h1').textContent"), HOSTILE)
        self.assertEqual(self.browser.log("browser"), [])


def screenshots(folder):
    """Screenshots of the report: light, dark, narrow, print."""
    folder.mkdir(parents=True, exist_ok=True)
    browser = Browser()
    try:
        for name, width, media in (("light", 1200, ("", "light")), ("dark", 1200, ("", "dark")), ("narrow", 360, ("", "light")),
                                   ("print", 800, ("print", "light"))):
            browser.open(TheReport.page)
            browser.media(media[0], prefers_color_scheme=media[1])
            browser.size(width, 900)
            height = browser.run("return document.documentElement.scrollHeight")
            browser.size(width, height)
            browser.screenshot(folder / f"{name}.png")
    finally:
        browser.close()


if __name__ == "__main__":
    arguments = sys.argv[1:]
    wanted = None
    if "--screenshots" in arguments:
        place = arguments.index("--screenshots")
        wanted = pathlib.Path(arguments[place + 1])
        del arguments[place:place + 2]
    if len(arguments) != 2:
        sys.exit(__doc__)
    TheReport.ldlf, TheReport.folder = pathlib.Path(arguments[0]).resolve(), pathlib.Path(arguments[1]).resolve()
    TheReport.folder.mkdir(parents=True, exist_ok=True)
    outcome = unittest.main(argv=["report.py"], exit=False, verbosity=2).result
    if wanted:
        screenshots(wanted)
    sys.exit(not outcome.wasSuccessful())
