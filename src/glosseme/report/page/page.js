"use strict";
(() => {
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const one = (selector, within = document) => within.querySelector(selector);
  const made = (name, text, more = {}) => Object.assign(document.createElement(name), { textContent: text }, more);

  // --- Filter: which suites and models are chosen is kept in the address, `#suites=a,b&models=c&at=ID`.
  const bar = one("#filter");
  const picks = all(".pick", bar);
  const about = all("[data-s], [data-m]").map((node) => ({
    node,
    suites: node.dataset.s === undefined ? null : node.dataset.s.split(" "),
    models: node.dataset.m === undefined ? null : node.dataset.m.split(" "),
  }));

  const boxes = (pick) => all("input", pick);
  const chosen = (pick) => boxes(pick).filter((box) => box.checked);
  const narrowed = (pick) => chosen(pick).length < boxes(pick).length;
  const places = (pick) => new Set(boxes(pick).flatMap((box, place) => (box.checked ? [String(place)] : [])));

  const show = () => {
    const [suites, models] = picks.map(places);
    const any = (names, set) => names === null || names.some((name) => set.has(name));
    for (const { node, suites: s, models: m } of about) node.hidden = !(any(s, suites) && any(m, models));
    for (const box of all("[data-box]")) {
      const parts = about.filter(({ node }) => box.contains(node));
      box.hidden = parts.length > 0 && parts.every(({ node }) => node.hidden);
    }
    for (const link of all("nav a")) {
      const target = document.getElementById(link.hash.slice(1));
      link.parentNode.hidden = Boolean(target && target.closest("[hidden]"));
    }
    say();
  };

  const say = () => {
    const parts = [];
    for (const pick of picks) {
      const [n, of] = [chosen(pick).length, boxes(pick).length];
      one(".state", pick).textContent = n === of ? `all ${of}` : `${n} of ${of}`;
      if (n < of) parts.push(`${n} of ${of} ${pick.dataset.key}`);
    }
    one(".clear", bar).hidden = parts.length === 0;
    one(".status", bar).textContent = parts.length ? `Showing ${parts.join(", ")}.` : "";
  };

  const address = (at) => {
    const parts = picks.filter((pick) => narrowed(pick) && chosen(pick).length).map((pick) => {
      const names = chosen(pick).map((box) => encodeURIComponent(box.value));
      return `${pick.dataset.key}=${names.join(",")}`;
    });
    if (!parts.length) return at ? `#${at}` : "";
    return `#${[...parts, ...(at ? [`at=${at}`] : [])].join("&")}`;
  };

  const remember = () => {
    const base = location.href.split("#")[0];
    history.replaceState(null, "", base + address(""));
  };

  const decoded = (text) => {
    try {
      return decodeURIComponent(text);
    } catch {
      return null;
    }
  };

  const restore = () => {
    const hash = location.hash.slice(1);
    const state = new Map(hash.includes("=") ? hash.split("&").map((part) => part.split("=", 2)) : []);
    for (const pick of picks) {
      // What can't be read and what isn't here is ignored; where nothing is left, nothing was chosen.
      const wanted = new Set((state.get(pick.dataset.key) ?? "").split(",").map(decoded));
      const known = boxes(pick).some((box) => wanted.has(box.value));
      for (const box of boxes(pick)) box.checked = !known || wanted.has(box.value);
    }
    show();
    const at = hash.includes("=") ? state.get("at") : hash;
    if (at) goto(decoded(at));
  };

  const goto = (id) => {
    const target = document.getElementById(id);
    if (!target) return;
    for (let node = target; node; node = node.parentElement) if (node.tagName === "DETAILS") node.open = true;
    target.scrollIntoView();
  };

  for (const pick of picks) {
    pick.addEventListener("change", () => { show(); remember(); });
    for (const button of all("[data-all]", pick)) {
      button.addEventListener("click", () => {
        for (const box of boxes(pick)) box.checked = Boolean(button.dataset.all);
        show();
        remember();
      });
    }
    pick.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !pick.open) return;
      pick.open = false;
      one("summary", pick).focus();
    });
    pick.addEventListener("toggle", () => {
      if (pick.open) for (const other of picks) if (other !== pick) other.open = false;
    });
  }
  document.addEventListener("click", (event) => {
    for (const pick of picks) if (!pick.contains(event.target)) pick.open = false;
  });
  one(".clear", bar).addEventListener("click", () => {
    for (const box of all("input", bar)) box.checked = true;
    show();
    remember();
    one("summary", bar).focus();
  });
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#']");
    if (!link || link.classList.contains("skip") || !picks.some(narrowed)) return;
    event.preventDefault();
    history.pushState(null, "", address(link.hash.slice(1)));
    goto(link.hash.slice(1));
  });
  addEventListener("hashchange", restore);
  addEventListener("popstate", restore);
  bar.hidden = false;

  // --- Tables: sorted by their heads, and as CSV with full values.
  const raw = (cell) => (cell.dataset.v === undefined ? cell.textContent : cell.dataset.v);
  const numeric = (cell) => {
    const text = raw(cell).replace("\u2212", "-");
    return text === "" || Number.isNaN(Number(text)) ? null : Number(text);
  };
  const collator = new Intl.Collator("en", { numeric: true });

  const sort = (table, head, place) => {
    const down = head.getAttribute("aria-sort") === "ascending";
    for (const other of all("th[aria-sort]", table)) other.setAttribute("aria-sort", "none");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const isText = head.dataset.k === "text";
    const keyed = [...table.tBodies[0].rows].map((row) => {
      const cell = row.cells[place];
      const text = cell.textContent;
      return { row, key: isText ? (text === "\u2013" ? null : text) : numeric(cell) };
    });
    keyed.sort((a, b) => {
      if (a.key === null || b.key === null) return (a.key === null) - (b.key === null);
      const order = isText ? collator.compare(a.key, b.key) : a.key - b.key;
      return down ? -order : order;
    });
    table.tBodies[0].append(...keyed.map(({ row }) => row));
  };

  const quoted = (text) => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const csv = (table) => {
    const kinds = all("thead th", table).map((head) => head.dataset.k);
    const heads = all("thead th", table).map((head) => head.textContent);
    const lines = [heads.flatMap((name, n) => (kinds[n] === "interval" ? [`${name} low`, `${name} high`] : kinds[n] === "range" ? [] : [name]))];
    for (const row of table.tBodies[0].rows) {
      if (row.hidden) continue;
      lines.push([...row.cells].flatMap((cell, n) => {
        const text = cell.textContent === "\u2013" ? "" : raw(cell);
        if (kinds[n] === "interval") return [text, cell.dataset.h ?? ""];
        return kinds[n] === "range" ? [] : [text];
      }));
    }
    return `${lines.map((line) => line.map(quoted).join(",")).join("\r\n")}\r\n`;
  };

  const save = (text, type, name) => {
    const url = URL.createObjectURL(new Blob([text], { type }));
    made("a", "", { href: url, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
  };

  // A head is a button, except in print, where browsers leave buttons out of heads repeated on the next page.
  const buttons = new Map();
  const wrap = () => { for (const [head, button] of buttons) { button.append(...head.childNodes); head.append(button); } };
  const unwrap = () => { for (const [head, button] of buttons) head.replaceChildren(...button.childNodes); };
  for (const block of all(".block")) {
    const table = one("table", block);
    all("thead th", table).forEach((head, place) => {
      if (head.dataset.k === "range") return;
      const button = made("button", "", { type: "button" });
      buttons.set(head, button);
      head.setAttribute("aria-sort", "none");
      button.addEventListener("click", () => sort(table, head, place));
    });
    const tools = made("div", "", { className: "tools" });
    const button = made("button", "CSV", { type: "button", title: "Save the rows shown, in full precision" });
    button.setAttribute("aria-label", `Save ${one("caption", table).textContent} as CSV`);
    button.addEventListener("click", () => save(csv(table), "text/csv", `${block.id}.csv`));
    tools.append(button);
    one(".scroll", block).after(tools);
  }
  wrap();
  addEventListener("beforeprint", unwrap);
  addEventListener("afterprint", wrap);
  document.addEventListener("pointerover", (event) => {
    const cell = event.target.closest?.("td[data-v]");
    if (cell && !cell.title) cell.title = cell.dataset.h ? `${cell.dataset.v} to ${cell.dataset.h}` : cell.dataset.v;
  });

  // --- Figures: the values of a mark under the pointer or chosen by arrow keys; the figure as a file.
  const tip = one("#tip");
  const MARK = "[role='graphics-symbol'][aria-label]:not([class*='role-axis']):not([class*='role-legend']):not([class*='role-title'])";
  let current = null;
  const hide = () => {
    if (current) current.classList.remove("on");
    current = null;
    tip.hidden = true;
  };
  const tell = (mark) => {
    if (current) current.classList.remove("on");
    current = mark;
    mark.classList.add("on");
    tip.textContent = mark.getAttribute("aria-label").replaceAll("; ", "\n");
    tip.hidden = false;
    const [box, size] = [mark.getBoundingClientRect(), tip.getBoundingClientRect()];
    const left = Math.min(Math.max(8, box.left + box.width / 2 - size.width / 2), innerWidth - size.width - 8);
    const above = box.top - size.height - 8;
    tip.style.left = `${left}px`;
    tip.style.top = `${above > 8 ? above : Math.min(box.bottom + 8, innerHeight - size.height - 8)}px`;
  };
  for (const plot of all(".plot")) {
    const drawn = one("svg", plot);
    plot.tabIndex = 0;
    plot.setAttribute("role", "group");
    plot.setAttribute("aria-label", `${drawn.getAttribute("aria-label")}. Arrow keys go through the marks.`);
    plot.addEventListener("pointerover", (event) => {
      const mark = event.target.closest(MARK);
      if (mark) tell(mark);
      else hide();
    });
    plot.addEventListener("pointerleave", hide);
    plot.addEventListener("blur", hide);
    plot.addEventListener("keydown", (event) => {
      const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (event.key === "Escape") hide();
      if (!by) return;
      event.preventDefault();
      const marks = all(MARK, plot);
      if (!marks.length) return;
      const next = current ? marks.indexOf(current) + by : by > 0 ? 0 : -1;
      const chosen = marks.at(next % marks.length);
      chosen.scrollIntoView({ block: "nearest", inline: "nearest" });
      tell(chosen);
    });
    const button = made("button", "SVG", { type: "button", title: "Save the figure" });
    button.setAttribute("aria-label", `Save the figure ${drawn.getAttribute("aria-label")} as SVG`);
    button.addEventListener("click", () => {
      hide();
      save(new XMLSerializer().serializeToString(drawn), "image/svg+xml", `${plot.dataset.name}.svg`);
    });
    const tools = made("div", "", { className: "tools" });
    tools.append(button);
    plot.after(tools);
  }
  // Focus alone may scroll the page: the values stay with their mark, and go when it leaves the window.
  addEventListener("scroll", () => {
    const box = current?.getBoundingClientRect();
    if (!box || box.bottom < 0 || box.top > innerHeight) hide();
    else tell(current);
  }, { passive: true });

  // --- What scrolls is reached by keys, what doesn't need not be.
  const reach = () => {
    for (const box of all(".scroll")) {
      const scrolls = box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight;
      if (scrolls) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    }
  };
  addEventListener("resize", reach);
  addEventListener("beforeprint", () => { for (const list of all("details.list")) list.open = true; });
  for (const list of all("details.list")) list.addEventListener("toggle", reach);

  restore();
  reach();
})();
