"""A picture of a page: `python scripts/screenshot.py report.html docs/images/page.png --height 1500`.

Needs Chromium and chromedriver on the PATH and the extra `test` (selenium); Pillow, where it is installed, makes the
file smaller. Nothing is read from a network.
"""

from __future__ import annotations

import argparse
import base64
import io
import shutil
import sys
import tempfile
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

QUIET = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)


def open_browser(profile: str) -> webdriver.Chrome:
    """Return Debian's Chromium without a window."""
    found = {name: shutil.which(name) for name in ("chromium", "chromedriver")}
    if None in found.values():
        sys.exit(f"not on the PATH: {', '.join(name for name, path in found.items() if path is None)}")
    options = Options()
    options.binary_location = str(found["chromium"])
    for flag in (*QUIET, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    return webdriver.Chrome(options=options, service=Service(found["chromedriver"]))


def picture(page: Path, fragment: str, width: int, height: int | None, scale: float, media: str) -> bytes:
    """Return a PNG of a page, the whole of it without a height."""
    with tempfile.TemporaryDirectory() as profile:
        browser = open_browser(profile)
        try:
            size = {"width": width, "height": height or 900, "deviceScaleFactor": scale, "mobile": width < 600}
            browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
            browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media})
            browser.get(f"{page.resolve().as_uri()}{fragment}")
            whole = {"captureBeyondViewport": height is None, "format": "png"}
            if height is None:
                tall = browser.execute_script("return document.documentElement.scrollHeight")
                whole["clip"] = {"x": 0, "y": 0, "width": width, "height": tall, "scale": 1}
            return base64.b64decode(browser.execute_cdp_cmd("Page.captureScreenshot", whole)["data"])
        finally:
            browser.quit()


def smaller(png: bytes) -> bytes:
    """Return the picture with 128 colours, which a page of text doesn't exceed to the eye."""
    try:
        from PIL import Image
    except ImportError:
        return png
    made = io.BytesIO()
    Image.open(io.BytesIO(png)).convert("RGB").quantize(128, dither=Image.Dither.NONE).save(made, "PNG", optimize=True)
    return made.getvalue()


def main() -> None:
    """Read the arguments and write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("page", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--fragment", default="", help="what follows the page's name: '#figures'")
    parser.add_argument("--width", type=int, default=1280)
    parser.add_argument("--height", type=int, help="without it the whole page")
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--media", default="screen", choices=("screen", "print"))
    given = parser.parse_args()
    png = picture(given.page, given.fragment, given.width, given.height, given.scale, given.media)
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_bytes(smaller(png))


if __name__ == "__main__":
    main()
