"""The page in a browser: figures drawn, sorting, filter, keys, no requests, no markup from names, a phone's width."""

from __future__ import annotations

import json
import shutil
import tempfile
import time

import pytest

from glosseme.report.page import write_page
from page_runs import HOSTILE, make_run

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")

pytestmark = pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="no Chromium and chromedriver on the PATH")

FLAGS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--window-size=1280,900"),
)


@pytest.fixture(scope="session")
def browser():
    """Chromium without a window, and without anything that it could reach."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    with tempfile.TemporaryDirectory() as profile:
        for flag in (*FLAGS, f"--user-data-dir={profile}"):
            options.add_argument(flag)
        made = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
        yield made
        made.quit()


@pytest.fixture(scope="session")
def address(tmp_path_factory):
    """A page of three models, one of them with five checkpoints and one with a name that would be markup."""
    root = tmp_path_factory.mktemp("browser")
    make_run(root, "alpha", "pairs", deltas=(None, None))
    make_run(root, "alpha", "other", deltas=(1.0, 2.0, -3.0))
    make_run(root, HOSTILE, "pairs", texts=(HOSTILE, HOSTILE))
    for place, step in enumerate((1, 2, 4, 8, 16)):
        make_run(root, "toy", "pairs", revision=f"step{step}", deltas=[0.3 * place - 0.7 + 0.2 * n for n in range(6)])
    return write_page([root], root / "page.html").resolve().as_uri()


@pytest.fixture
def page(browser, address):
    """The page, opened anew."""
    browser.get("about:blank")
    browser.get_log("performance")
    browser.get_log("browser")
    browser.get(address)
    return browser


def texts(page, selector):
    return page.execute_script("return [...document.querySelectorAll(arguments[0])].map(e => e.textContent)", selector)


def shown(page, selector):
    """Texts of the elements that have a size."""
    script = """return [...document.querySelectorAll(arguments[0])]
        .filter(e => e.getClientRects().length).map(e => e.textContent)"""
    return page.execute_script(script, selector)


def soon(page, selector, *, gone=False):
    """What `shown` returns once there is something (or nothing any more): events come when the browser has time."""
    for _ in range(100):
        found = shown(page, selector)
        if bool(found) != gone:
            break
        time.sleep(0.05)
    return found


def press(page, *keys):
    from selenium.webdriver.common.action_chains import ActionChains

    ActionChains(page).send_keys(*keys).perform()


def test_nothing_is_requested_and_nothing_complains(page, address):
    """One file, no console message, and no script from a model's name."""
    messages = [json.loads(entry["message"])["message"] for entry in page.get_log("performance")]
    sent = {m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"}
    assert {url for url in sent if not url.startswith(("data:", "about:"))} <= {address}
    assert page.get_log("browser") == []
    assert page.title == "Evaluation report"
    assert any("</script><script>" in text for text in texts(page, "th"))


def test_figures_are_drawn(page):
    """Each has a size and marks, whose values the arrow keys tell."""
    from selenium.webdriver.common.keys import Keys

    sizes = page.execute_script("""return [...document.querySelectorAll('.plot')].map(plot => {
        const box = plot.querySelector('svg').getBoundingClientRect();
        const marks = [...plot.querySelectorAll('[role=graphics-symbol]')];
        return [box.width, box.height, marks.filter(m => m.getBoundingClientRect().width > 0).length]; })""")
    assert sizes
    assert all(width > 100 and height > 50 and marks > 0 for width, height, marks in sizes)
    page.execute_script("document.querySelector('.plot').focus()")
    press(page, Keys.ARROW_RIGHT)
    said = soon(page, "#tip")
    page.execute_script("window.scrollBy(0, 40)")
    assert soon(page, "#tip") == said
    page.execute_script("window.scrollTo(0, 0)")
    assert soon(page, "#tip", gone=True) == []
    press(page, Keys.ARROW_RIGHT)
    assert soon(page, "#tip")
    press(page, Keys.ESCAPE)
    assert soon(page, "#tip", gone=True) == []


def column(page, name):
    return texts(
        page, f"#table-pairs-all tbody tr > :nth-child({1 + texts(page, '#table-pairs-all thead th').index(name)})"
    )


def test_sorting_by_click_and_by_key(page):
    """Numbers as numbers, undefined last both ways, and the head says which way."""
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    heads = page.find_elements(By.CSS_SELECTOR, "#table-pairs-all thead th")
    by_name = {head.text: head for head in heads if head.text}
    button = by_name["accuracy"].find_element(By.TAG_NAME, "button")
    button.click()
    assert by_name["accuracy"].get_attribute("aria-sort") == "ascending"
    values = column(page, "accuracy")
    known = [float(value) for value in values if value != "\u2013"]
    assert known == sorted(known)
    assert values[-1] == "\u2013"
    button.send_keys(Keys.ENTER)
    assert by_name["accuracy"].get_attribute("aria-sort") == "descending"
    values = column(page, "accuracy")
    assert [float(value) for value in values if value != "\u2013"] == sorted(known, reverse=True)
    assert values[-1] == "\u2013"
    by_name["revision"].find_element(By.TAG_NAME, "button").send_keys(Keys.SPACE)
    assert by_name["accuracy"].get_attribute("aria-sort") == "none"
    steps = [text for text in column(page, "revision") if text.startswith("step")]
    assert steps == ["step1", "step2", "step4", "step8", "step16"]


def test_the_filter_hides_rows_tables_figures_and_items_and_is_kept_in_the_address(page, browser, address):
    """By suite and by model, in every section; a link to the state restores it."""
    from selenium.webdriver.common.by import By

    page.find_element(By.CSS_SELECTOR, ".pick[data-key=models] summary").click()
    for box in page.find_elements(By.CSS_SELECTOR, ".pick[data-key=models] input"):
        if box.get_attribute("value") != "toy":
            box.click()
    assert "#models=toy" in page.current_url
    assert set(shown(page, "#table-pairs-all tbody th")) == {"toy"}
    assert shown(page, "#suite-other h3") == []
    assert len(shown(page, "#items details summary h4")) == 1
    figures = page.execute_script("return [...document.querySelectorAll('figure')].map(f => [f.dataset.m, f.hidden])")
    toy = str(texts(page, ".pick[data-key=models] li span").index("toy"))
    assert all(hidden == (toy not in models.split()) for models, hidden in figures)
    assert "Showing 1 of 3 models." in texts(page, ".status")

    page.get("about:blank")
    page.get(f"{address}#suites=other&at=items")
    assert shown(page, "#suite-pairs h3") == []
    assert shown(page, "#suite-other h3")
    assert "1 of 2" in shown(page, ".pick[data-key=suites] .state")[0]
    page.find_element(By.CSS_SELECTOR, ".clear").click()
    assert shown(page, "#suite-pairs h3")
    assert "suites" not in page.current_url


def test_a_link_opens_the_list_that_it_leads_to(page, address):
    """Anchors of closed lists open them."""
    anchor = page.execute_script("return document.querySelector('details.list').id")
    page.get("about:blank")
    page.get(f"{address}#{anchor}")
    assert page.execute_script("return document.querySelector('details.list').open")


def test_the_keyboard_reaches_filter_and_heads(page):
    """In the order of the page: skip link, filter, contents, heads of tables."""
    from selenium.webdriver.common.keys import Keys

    where = """const a = document.activeElement;
        const part = ['thead', 'nav', '.pick'].find(selector => a.closest(selector));
        return part || a.className"""
    seen = []
    while len(seen) < 40 and "thead" not in seen:
        press(page, Keys.TAB)
        seen.append(page.execute_script(where))
    assert seen[0] == "skip"
    assert list(dict.fromkeys(name for name in seen if name[:1] in ".nt")) == [".pick", "nav", "thead"]
    outline = page.execute_script("return getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"


def test_a_phone_scrolls_one_way_only(page):
    """At 360 pixels nothing is wider than the screen but what scrolls in its own box."""
    size = {"width": 360, "height": 740, "deviceScaleFactor": 1, "mobile": True}
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        page.execute_script("document.querySelectorAll('details').forEach(d => { d.open = true; })")
        width = page.execute_script("return Math.max(document.documentElement.scrollWidth, document.body.scrollWidth)")
        assert width <= 360
    finally:
        page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_in_print_all_is_shown(page):
    """No filter, no scrolling boxes, closed lists open."""
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        page.execute_script("dispatchEvent(new Event('beforeprint'))")
        assert shown(page, "#filter") == []
        assert shown(page, ".tools") == []
        assert len(shown(page, ".worst > li")) == len(texts(page, ".worst > li"))
        clipped = page.execute_script("""return [...document.querySelectorAll('.scroll')]
            .filter(box => getComputedStyle(box).overflow !== 'visible').length""")
        assert clipped == 0
    finally:
        page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


@pytest.mark.parametrize(
    ("fragment", "seen"),
    [
        ("#suites=%E0%A4%A", {"pairs", "other"}),
        ("#suites=", {"pairs", "other"}),
        ("#suites=&models=", {"pairs", "other"}),
        ("#suites=nothing,%E0%A4%A&at=%E0", {"pairs", "other"}),
        ("#suites=%E0%A4%A,other", {"other"}),
        ("#=&&suites", {"pairs", "other"}),
    ],
)
def test_what_an_address_says_that_cannot_be_read_is_ignored(page, address, fragment, seen):
    """Nothing is hidden for it."""
    page.get("about:blank")
    page.get(f"{address}{fragment}")
    parts = {name for name in ("pairs", "other") if shown(page, f"#suite-{name} h3")}
    assert parts == seen
    assert page.get_log("browser") == []


def test_tables_fit_a_laptop(browser, tmp_path):
    """At 1,280 pixels no table but that of runs scrolls sideways, also with long names."""
    for n in range(3):
        make_run(tmp_path, f"organisation/a-long-name-of-a-model-{'x' * 30}-{n}", "pairs", revision="step1000")
    browser.get(write_page([tmp_path], tmp_path / "page.html").resolve().as_uri())
    size = {"width": 1280, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        wide = browser.execute_script("""return [...document.querySelectorAll('.block > .scroll')]
            .filter(box => box.scrollWidth > box.clientWidth).map(box => box.parentNode.id)""")
        assert set(wide) <= {"table-runs"}
        names = browser.execute_script("""return [...document.querySelectorAll('#table-overview .name')].map(name =>
            [name.title === name.textContent, name.lastChild.getBoundingClientRect().right
                <= name.closest('th').getBoundingClientRect().right])""")
        assert names == [[True, True]] * 3
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
        clipped = browser.execute_script("""return [...document.querySelectorAll('.name span')]
            .filter(part => getComputedStyle(part).overflow !== 'visible').length""")
        assert clipped == 0
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
