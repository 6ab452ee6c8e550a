#!/usr/bin/python3
"""The dashboard of a real run in headless Chromium.

    dashboard_test.py BIN [--screenshots DIR]    BIN has pacml and pacml-learner

Wide and narrow, light and dark: the page loads, shows curves and settings, steps through an episode
forwards and backwards by button and by key, is no wider than its window, goes on after its server was
away, and has nothing to complain of in its console. It is small, and painted at once. While a run trains it follows what the
learner and its actors do, also when the learner is killed and another one takes its place. A page that needs a token asks for
it. Where
PACML_AXE names the file axe.min.js of the npm package axe-core, the page has no serious finding of it:

    npm install axe-core && export PACML_AXE=$PWD/node_modules/axe-core/axe.min.js
"""
import argparse
import base64
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from ports import sixteen_ports
from soon import wait_until

MOST_BYTES = 500_000  # of all that the page loads before anything is asked of it


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


try:
    from selenium import webdriver
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.chrome.service import Service
except ImportError:
    skip("there is no selenium (Debian's python3-selenium)")
for program in ("chromium", "chromedriver"):
    if not shutil.which(program):
        skip(f"there is no {program} (Debian's chromium and chromium-driver)")


class Served:
    """pacml dashboard, at a port of its own."""

    def __init__(self, pacml, runs, *options, port="0"):
        self.process = subprocess.Popen([pacml, "dashboard", *runs, "--http", port, *options],
                                        stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        assert line.startswith("http://"), line
        self.url = line.strip()
        self.port = self.url.rstrip("/").rsplit(":", 1)[1]

    def __enter__(self):
        return self

    def __exit__(self, error, *_):
        if error:
            self.process.kill()  # whoever reads what we print waits for its end, too
        else:
            self.stop()

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
        assert self.process.wait(60) == 0
        self.process.stdout.close()


def browser(width, height, dark):
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    driver.set_page_load_timeout(120)
    # A window without a frame has no least width.
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                           {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia",
                           {"features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})
    return driver


def css(driver, selector):
    return driver.find_elements(By.CSS_SELECTOR, selector)


def text_of(driver, selector):
    # In one step: what the page replaces meanwhile cannot go stale.
    return driver.execute_script("const e = document.querySelector(arguments[0]); return e ? e.textContent : '';", selector)


def both_played(driver):
    state = text_of(driver, "#episode-state")
    assert "cannot be shown" not in state, state
    return len(css(driver, ".panel")) == 2


def play(driver):
    wait_until("the runs are offered", lambda: "constant" in text_of(driver, "#episode-beside"))
    driver.find_element(By.CSS_SELECTOR, "#episode-form button").click()
    wait_until("the episode is there", lambda: both_played(driver))


def step_through(driver):
    assert text_of(driver, "#step-text").startswith("decision 0 of ")
    first = text_of(driver, ".panel .facts")
    for _ in range(5):
        driver.find_element(By.CSS_SELECTOR, "[data-step=on]").click()
    assert text_of(driver, "#step-text").startswith("decision 5 of ")
    fifth = text_of(driver, "#panels")
    driver.find_element(By.CSS_SELECTOR, "[data-step=on]").send_keys(Keys.ARROW_RIGHT)
    assert text_of(driver, "#step-text").startswith("decision 6 of ")
    assert text_of(driver, "#panels") != fifth
    driver.find_element(By.CSS_SELECTOR, "[data-step=on]").send_keys(Keys.ARROW_LEFT)
    assert text_of(driver, "#panels") == fifth
    driver.find_element(By.CSS_SELECTOR, "[data-step=first]").click()
    assert text_of(driver, ".panel .facts") == first
    driver.find_element(By.CSS_SELECTOR, "[data-step=last]").click()
    last = text_of(driver, "#step-text")
    assert re.fullmatch(r"decision (\d+) of \1", last), last
    driver.find_element(By.CSS_SELECTOR, "[data-step=first]").click()
    driver.find_element(By.CSS_SELECTOR, "[data-step=lost]").click()
    assert not text_of(driver, "#step-text").startswith("decision 0 of ")
    assert len(css(driver, ".place")) == 64 and css(driver, ".place:not(.free)")
    assert css(driver, ".candidates .chosen") and css(driver, ".gantt rect")
    assert re.search(r"degree \d+", text_of(driver, "#actions"))


def complaints(driver):
    return [entry["message"] for entry in driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]


def check_access(driver, axe, where):
    """No serious or critical finding of axe-core: contrast, names, roles, order."""
    driver.execute_script(axe)
    result = driver.execute_async_script(
        "const done = arguments[arguments.length - 1]; axe.run().then(done, error => done({error: String(error)}));")
    assert "error" not in result, result["error"]
    serious = [f"{found['id']} ({found['impact']}): {found['help']}: "
               + "; ".join(node["html"][:160] for node in found["nodes"][:3])
               for found in result["violations"] if found["impact"] in ("serious", "critical")]
    assert not serious, f"{where}:\n" + "\n".join(serious)


def take_picture(driver, width, path):
    """Of a wide page its upper part, of a narrow one an episode's decision."""
    high = driver.execute_script("return document.documentElement.scrollHeight")
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                           {"width": width, "height": high, "deviceScaleFactor": 1, "mobile": False})
    top = 0
    if width < 800:
        top = driver.execute_script("return document.getElementById('episode-form').getBoundingClientRect().top - 16")
    clip = {"x": 0, "y": top, "width": width, "height": min(2400, high - top), "scale": 1}
    shot = driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "png", "clip": clip})
    path.write_bytes(base64.b64decode(shot["data"]))


def look(pacml, run, screenshots, axe):
    with Served(pacml, [run]) as served:
        for width, height in ((1280, 900), (390, 844)):
            for dark in (False, True):
                driver = browser(width, height, dark)
                try:
                    driver.get(served.url)
                    wait_until("the run is there", lambda: css(driver, ".run"))
                    wait_until("the curves are there", lambda: css(driver, "#chart-objective canvas"))
                    assert "blocking rate" in text_of(driver, "#chart-objective")
                    assert "constant:" in text_of(driver, ".baselines")
                    assert "env.observation" in text_of(driver, "#settings-table")
                    assert "learner" in text_of(driver, "#process-tables")
                    play(driver)
                    step_through(driver)
                    wide = driver.execute_script("return document.documentElement.scrollWidth")
                    assert wide <= width, f"{wide} columns in a window of {width}"
                    paper = driver.execute_script("return getComputedStyle(document.body).backgroundColor")
                    assert (paper != "rgb(255, 255, 255)") == dark, paper
                    assert complaints(driver) == []
                    paint = f"{width}-{'dark' if dark else 'light'}"
                    if axe:
                        check_access(driver, axe, paint)
                    if screenshots:
                        take_picture(driver, width, screenshots / f"dashboard-{paint}.png")
                finally:
                    driver.quit()


def is_light(pacml, run):
    """What the page weighs, and when it is first painted: the best of several times, since others use this machine, too."""
    paints = []
    with Served(pacml, [run]) as served:
        driver = browser(1280, 900, False)
        try:
            for _ in range(5):
                driver.get(served.url)
                wait_until("the run is there", lambda: css(driver, ".run"))
                paints.append(wait_until("it is painted", lambda: driver.execute_script(
                    "const p = performance.getEntriesByName('first-contentful-paint')[0]; return p && p.startTime;")))
            size = driver.execute_script(
                "return ['navigation', 'resource'].flatMap(t => performance.getEntriesByType(t))"
                ".filter(e => !e.name.includes('/dashboard/')).reduce((sum, e) => sum + e.decodedBodySize, 0);")
        finally:
            driver.quit()
    print(f"{size / 1000:.0f} kB; first painted after {', '.join(f'{p:.0f}' for p in paints)} ms")
    assert 50_000 < size <= MOST_BYTES, size


def decisions_shown(driver):
    """Of the first run's card, as a number."""
    text = driver.execute_script(
        "const d = [...document.querySelectorAll('.run dl > div')].find(e => e.querySelector('dt').textContent === 'decisions');"
        "return d ? d.querySelector('dd').textContent : '0';")
    number, _, unit = text.partition("\u00a0" if "\u00a0" in text else " ")
    return float(number) * {"": 1, "k": 1e3, "M": 1e6, "G": 1e9}[unit.strip()]


def processes(driver):
    return text_of(driver, "#process-tables")


def learner_of(run):
    """The process that holds the run."""
    try:
        return int((run / ".lock").read_text().split()[0])
    except (OSError, ValueError, IndexError):
        return 0


def follow_training(pacml, config, folder, axe):
    run, port = folder / "live", sixteen_ports()
    messages = folder / "messages"
    train = subprocess.Popen([pacml, "train", config, "--run", str(run), "--actors", "2", "--minutes", "60", "--http", str(port),
                              "--set", "algorithm=apex", "--set", "learner.metrics_seconds=0.5", "--set", "learner.evaluate_episodes=1",
                              "--set", "env.cluster.max_simulation_time=1e5", "--set", "supervision.stop_seconds=300"],
                             stdout=subprocess.DEVNULL, stderr=messages.open("w"))
    driver = browser(1280, 900, False)
    try:
        wait_until("there are pages", lambda: train.poll() is not None or "http://" in log_of(run))
        assert train.poll() is None, messages.read_text()
        driver.get(f"http://127.0.0.1:{port}/")
        wait_until("decisions show", lambda: decisions_shown(driver) > 0)
        before = decisions_shown(driver)
        wait_until("more decisions show", lambda: decisions_shown(driver) > before)
        wait_until("processes show", lambda: all(name in processes(driver) for name in ("learner", "actor 0", "actor 1", "shard 0")))
        wait_until("it says who waits for whom", lambda: "Bottleneck: " in text_of(driver, ".limiter"))
        assert complaints(driver) == []
        if axe:
            check_access(driver, axe, "while it trains")
        victim = learner_of(run)
        assert victim > 1
        os.kill(victim, signal.SIGKILL)
        wait_until("another learner is there", lambda: learner_of(run) not in (0, victim))
        metrics = run / "metrics.jsonl"
        size = metrics.stat().st_size
        wait_until("it learns", lambda: metrics.stat().st_size > size)
        wait_until("the page answers again", lambda: css(driver, ".run") and "No answer" not in text_of(driver, "#state"))
        before = decisions_shown(driver)
        wait_until("decisions of the new learner show", lambda: decisions_shown(driver) > before)
    finally:
        driver.quit()
        train.send_signal(signal.SIGTERM)
        code = train.wait(300)
    assert code == 0, f"ended with {code}\n{log_of(run)}"


def log_of(run):
    try:
        return (run / "logs/learner.log").read_text()
    except OSError:
        return ""


def survive(pacml, run):
    with Served(pacml, [run], port=str(sixteen_ports())) as served:
        driver = browser(1280, 900, False)
        try:
            driver.get(served.url)
            wait_until("the run is there", lambda: css(driver, ".run"))
            served.stop()
            wait_until("the page notices", lambda: "No answer since" in text_of(driver, "#state"))
            assert css(driver, ".run")  # what was known stays
            with Served(pacml, [run], port=served.port):
                wait_until("the page comes back", lambda: "No answer" not in text_of(driver, "#state"))
                play(driver)
        finally:
            driver.quit()


def tell_objectives_apart(pacml, run, folder):
    """Runs of other objectives are beside a run, but not in its picture."""
    other = folder / "other"
    shutil.copytree(run, other)
    metrics = other / "metrics.jsonl"
    text = metrics.read_text().replace('"objective":"blocking_rate"', '"objective":"mean_jct"')
    metrics.write_text(text.replace('"explained_variance"', '"q_value"'))  # as Ape-X says what it expects
    with Served(pacml, [run, str(other)]) as served:
        driver = browser(1280, 900, False)
        try:
            driver.get(served.url)
            wait_until("both runs are there", lambda: len(driver.find_elements("css selector", ".run")) == 2)
            wait_until("it says which one is not drawn",
                       lambda: "mean jct is not drawn here" in text_of(driver, "#chart-objective"))
            assert "baselines of run:" in text_of(driver, "#chart-objective")
            assert "baselines of other" not in text_of(driver, "#chart-objective")
            assert "other, " not in text_of(driver, "#chart-objective .key")
            assert "mean Q" in text_of(driver, "#chart-values .key"), text_of(driver, "#chart-values")
            assert complaints(driver) == []
        finally:
            driver.quit()


def show_beside_odd_ones(pacml, run, folder):
    """What somebody wrote into the metrics of one run hides no other one."""
    odd = folder / "odd"
    shutil.copytree(run, odd)
    with open(odd / "metrics.jsonl", "a", encoding="utf-8") as metrics:
        metrics.write('{"decisions": 90000, "seconds": 9, "peers": 5, "replay": [], "limiter": {}, "evaluation": {"objective": "blocking_rate", "best": "x", "baselines": 5}}\n')
    with Served(pacml, [run, str(odd)]) as served:
        driver = browser(1280, 900, False)
        try:
            driver.get(served.url)
            wait_until("both runs are there", lambda: len(driver.find_elements("css selector", ".run")) == 2)
            assert "90.0 k" in text_of(driver, ".run:nth-child(2)"), text_of(driver, "#runs")
            assert "blocking rate" in text_of(driver, ".run")
            wait_until("curves are drawn", lambda: css(driver, "#chart-objective canvas"))
            assert "No answer" not in text_of(driver, "#state")
            assert complaints(driver) == []
        finally:
            driver.quit()


def ask_for_token(pacml, run, folder):
    token = folder / "token"
    token.write_text("0123456789abcdef0123456789abcdef\n")
    token.chmod(0o600)
    with Served(pacml, [run], "--http-token-file", str(token)) as served:
        driver = browser(1280, 900, False)
        try:
            driver.get(served.url)
            wait_until("the page asks", lambda: driver.find_element(By.ID, "token-form").is_displayed())
            assert not css(driver, ".run")
            field = driver.find_element(By.ID, "token")
            field.send_keys("wrong" + Keys.ENTER)
            wait_until("it is refused", lambda: "not the token" in text_of(driver, "#state"))
            field.clear()
            field.send_keys(token.read_text().strip() + Keys.ENTER)
            wait_until("the run is there", lambda: css(driver, ".run"))
            assert not driver.find_element(By.ID, "token-form").is_displayed()
        finally:
            driver.quit()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("bin", type=pathlib.Path)
    parser.add_argument("--screenshots", type=pathlib.Path)
    parser.add_argument("--run", help="pictures of this run, and nothing else")
    arguments = parser.parse_args()
    pacml = str(arguments.bin / "pacml")
    source = pathlib.Path(os.environ.get("PACML_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
    axe = None
    if os.environ.get("PACML_AXE"):
        axe = pathlib.Path(os.environ["PACML_AXE"]).read_text(encoding="utf-8")
    else:
        print("not checked with axe-core: PACML_AXE does not name its axe.min.js")
    if arguments.run:
        look(pacml, arguments.run, arguments.screenshots, axe)
        return
    with tempfile.TemporaryDirectory(prefix="pacml-test-") as name:
        folder = pathlib.Path(name)
        run = str(folder / "run")
        subprocess.run([pacml, "train", str(source / "configs/quickstart.yaml"), "--run", run, "--deterministic",
                        "--decisions", "20000", "--set", "learner.evaluate_episodes=2", "--set",
                        "learner.metrics_seconds=0.2", "--set", "learner.evaluate_seconds=0.5", "--set",
                        "env.cluster.max_simulation_time=1e5"], check=True, stdout=subprocess.DEVNULL)
        look(pacml, run, arguments.screenshots, axe)
        is_light(pacml, run)
        survive(pacml, run)
        follow_training(pacml, str(source / "configs/quickstart.yaml"), folder, axe)
        ask_for_token(pacml, run, folder)
        tell_objectives_apart(pacml, run, folder)
        show_beside_odd_ones(pacml, run, folder)
    print("1 passed, 0 failed")


if __name__ == "__main__":
    main()
