// The page around the picture: the reports, the operation that is chosen, and the tools.
function make(tag, text, className) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}

const number = (count) => count.toLocaleString("en");
const many = (count, one, more) => `${number(count)} ${count === 1 ? one : more}`;

function setUnit(unit, x = view.clientWidth / 2) {
  const column = (view.scrollLeft + x - NAMES - 8) / state.unit;
  const least = Math.min(8, Math.max(0.05, (view.clientWidth - NAMES - 48) / Math.max(1, columns)));
  state.unit = Math.min(240, Math.max(least, unit));
  measure();
  view.scrollLeft = column * state.unit - x + NAMES + 8;
  redraw();
}

// Scrolls and zooms until both ends are in view.
function show(from, to = from) {
  const room = view.clientWidth - NAMES - 60;
  const [begin, end] = [Math.min(from.moment.x, to.moment.x), Math.max(from.moment.x + from.moment.width,
    to.moment.x + to.moment.width)];
  const fit = room / Math.max(1, columns);
  state.unit = fit > 70 ? Math.min(160, fit) : Math.min(160, Math.max(6, room / Math.max(end - begin + 2, 6)));
  measure();
  view.scrollLeft = (begin + end) / 2 * state.unit - room / 2 - 20;
  const rows = [from, to].map((it) => state.rows.get(it.lane) ?? 0);
  view.scrollTop = TOP + (Math.min(...rows) + Math.max(...rows) + 1) / 2 * state.lane - view.clientHeight / 2;
  redraw();
}

function linkTo(operationNumber, text) {
  const operation = operationOf.get(operationNumber);
  if (!operation) return make("span", `${text} (no longer kept)`);
  const link = make("a", text);
  link.tabIndex = 0;
  link.onclick = () => {
    choose(operation);
    show(operation);
  };
  link.onkeydown = (event) => {
    if (event.key === "Enter") link.onclick();
  };
  return link;
}

function entry(list, term, ...parts) {
  const value = make("dd");
  value.append(...parts);
  list.append(make("dt", term), value);
  return value;
}

function accessOf(list, term, access, className) {
  const value = entry(list, term, linkTo(access.operation, `#${access.operation} ${access.name}`),
    ` ${access.access === "write" ? "writes" : "reads"}, on ${access.stream}`, make("br"),
    make("span", `at ${access.site}`, "place"));
  value.className = className;
}

function chooseReport(report) {
  state.report = report;
  element("few-label").hidden = false;
  for (const button of element("reports").children) {
    button.setAttribute("aria-selected", String(button.report === report));
  }
  const list = make("dl");
  if (report.line) {
    const value = entry(list, "Line to write");
    value.append(make("pre", report.line), make("span", `before #${report.second.operation}, `),
      make("span", report.second.site, "place"));
  }
  if (report.first) accessOf(list, "First", report.first, "first");
  accessOf(list, report.first ? "Second" : "Use", report.second, "second");
  if (report.bytes > 0) {
    entry(list, "Memory", `${many(report.bytes, "byte", "bytes")} from `, make("code", report.address), " on");
  }
  if (report.block) {
    entry(list, "Block", `${many(report.block.bytes, "byte", "bytes")} at `, make("code", report.block.address),
      make("br"), make("span", `allocated at ${report.block.allocated}`, "place"));
  }
  entry(list, "Repair", report.repair);
  if (report.count > 1) entry(list, "Found", `${number(report.count)} times at these places`);
  element("report").replaceChildren(list);
  arrange();
  const ends = [report.first, report.second].map((it) => it && operationOf.get(it.operation)).filter(Boolean);
  if (ends.length > 0) show(ends[0], ends[ends.length - 1]);
  redraw();
}

function choose(operation) {
  state.operation = operation;
  const panel = element("operation");
  if (!operation) {
    panel.replaceChildren(make("p", "Point at an operation or an arrow. Click an operation to keep it here."));
    return redraw();
  }
  const head = make("p");
  head.append(make("b", `#${operation.number} ${operation.name}`), ` on ${laneOf.get(operation.lane).words}` +
    (operation.captured ? ", captured: it runs with the launches of the graph" : ""));
  const parts = [head];
  if (nameOfPlace(operation.place)) parts.push(make("p", `at ${nameOfPlace(operation.place)}`, "place"));
  for (const [writes, start, bytes] of operation.uses) {
    const line = make("p", `${writes ? "writes" : "reads"} ${many(bytes, "byte", "bytes")} from `);
    line.append(make("code", start), " on");
    parts.push(line);
  }
  if (operation.more_uses > 0) parts.push(make("p", `and ${many(operation.more_uses, "more range", "more ranges")}`));
  if (operation.uses.length === 0) parts.push(make("p", "Nothing is known of the memory that it uses."));
  for (const wait of run.waits) {
    if (wait.source === operation || (wait.target === operation && wait.at[1] === 0)) {
      parts.push(make("p", wordsOfWait(wait).replaceAll("\n", ", "), "place"));
    }
  }
  panel.replaceChildren(...parts);
  return redraw();
}

function wordsOfWait(wait) {
  const what = wait.source ? `#${wait.source.number} ${wait.source.name}` : "earlier work";
  const [from, to] = [laneOf.get(wait.from).short, laneOf.get(wait.to).short];
  const place = nameOfPlace(wait.place);
  return `${to} waits for ${from}, up to ${what}\n${WAITS[wait.kind] || wait.kind}${place ? `\nat ${place}` : ""}`;
}

// What is under the pointer.
function under(x, y) {
  if (x < NAMES || y < TOP) return {};
  const near = (wait) => [[wait.x0, wait.from], [wait.x1, wait.to]].some(([column, lane]) =>
    Math.hypot(xAt(column) - x, (yAt(lane) ?? -99) - y) < 8);
  const column = (view.scrollLeft + x - NAMES - 8) / state.unit;
  const moment = moments[firstAt(moments, (it) => it.x + it.width < column)];
  const operation = moment && moment.x <= column ? moment.operation : undefined;
  const middle = operation && yAt(operation.lane);
  const isOn = middle !== undefined && Math.abs(middle - y) <= BOX / 2;
  const begin = firstAt(waits, (it) => it.x1 < column - 1);
  for (let at = begin; at < waits.length && waits[at].x1 < column + FAR; at += 1) {
    if (near(waits[at])) return { wait: waits[at], operation: isOn ? operation : undefined };
  }
  return { wait: isOn ? undefined : farWaits.find(near), operation: isOn ? operation : undefined };
}

function point(event) {
  const box = view.getBoundingClientRect();
  const { wait, operation } = under(event.clientX - box.left, event.clientY - box.top);
  const hover = element("hover");
  hover.hidden = !wait && !operation;
  view.style.cursor = operation ? "pointer" : "";
  if (hover.hidden) return;
  hover.textContent = operation ? `#${operation.number} ${operation.name}\n${laneOf.get(operation.lane).words}\n` +
    nameOfPlace(operation.place) : wordsOfWait(wait);
  hover.style.left = `${Math.max(4, Math.min(event.clientX + 14, window.innerWidth - hover.offsetWidth - 8))}px`;
  hover.style.top = `${Math.max(4, Math.min(event.clientY + 16, window.innerHeight - hover.offsetHeight - 8))}px`;
}

function find(isBack) {
  const text = element("find").value.trim().toLowerCase();
  if (text === "") return;
  const matches = operations.filter((it) => `#${it.number} ${it.name} ${nameOfPlace(it.place)}`.toLowerCase()
    .includes(text));
  const now = state.operation ? state.operation.number : 0;
  const found = isBack ? matches.filter((it) => it.number < now).pop() || matches[matches.length - 1] :
    matches.find((it) => it.number > now) || matches[0];
  element("found").textContent = found ? `${matches.indexOf(found) + 1} of ${number(matches.length)}` : "none";
  if (found) {
    choose(found);
    show(found);
  }
}

function begin() {
  document.title = element("title").textContent = `Run of ${run.program} under the sanitizer`;
  const left = run.seen - run.kept;
  element("summary").textContent = `Process ${run.pid}; ${many(run.seen, "operation", "operations")} on ` +
    `${many(lanes.length - 1, "stream", "streams")}` +
    (left > 0 ? `, of which ${number(run.kept)} are shown: the last ones, and those near reports. ${number(left)} ` +
      "are left out" : "") + (run.unknown > 0 ? `; of ${number(run.unknown)} it is not known what they use` : "");
  element("reports-head").textContent = many(reports.length + run.more_reports, "report", "reports") +
    (run.more_reports > 0 ? `, the first ${number(reports.length)} are listed` : "");
  element("few-label").hidden = true;
  const kinds = [["event", "wait for an event"], ["wait-host", "wait of the host"],
    ["legacy", "legacy default stream"], ["other", "other order"]];
  const boxes = [["work", "work"], ["host", "the host"], ["block", "the allocator"], ["first", "first use"],
    ["second", "second use"]];
  element("key").append(...boxes.map(([name, text]) => {
    const item = make("span", text);
    const sample = make("b");
    sample.style.cssText = `background: var(--${name}); border-color: var(--${name}-edge)`;
    item.prepend(sample);
    return item;
  }), ...kinds.map(([name, text]) => {
    const item = make("span", text);
    const sample = make("i");
    sample.style.color = `var(--${name})`;
    item.prepend(sample);
    return item;
  }));
  const bytes = make("span", "bytes of the report");
  bytes.prepend(make("u"));
  element("key").append(bytes);
  element("reports").append(...reports.map((report) => {
    const button = make("button");
    button.report = report;
    button.setAttribute("role", "option");
    const names = [report.first, report.second].filter(Boolean).map((it) => `#${it.operation} ${it.name}`);
    const times = report.count > 1 ? `, ${number(report.count)} times` : "";
    button.append(report.title, make("small", names.join(" and ") + times), make("small", fileOf(report.second.site)));
    button.onclick = () => chooseReport(report);
    return button;
  }));
  element("in").onclick = () => setUnit(state.unit * 1.5);
  element("out").onclick = () => setUnit(state.unit / 1.5);
  element("all").onclick = () => setUnit((view.clientWidth - NAMES - 48) / Math.max(1, columns));
  element("few").onchange = () => {
    state.only = element("few").checked;
    chooseReport(state.report);
  };
  element("find").onkeydown = (event) => {
    if (event.key === "Enter") find(event.shiftKey);
  };
  view.onscroll = redraw;
  view.onmousemove = point;
  view.onmouseleave = () => { element("hover").hidden = true; };
  view.onclick = (event) => {
    const box = view.getBoundingClientRect();
    choose(under(event.clientX - box.left, event.clientY - box.top).operation);
  };
  view.addEventListener("wheel", (event) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    setUnit(state.unit * Math.exp(-event.deltaY / 300), event.clientX - view.getBoundingClientRect().left);
  }, { passive: false });
  view.onkeydown = (event) => {
    if (event.key === "+" || event.key === "=") element("in").click();
    if (event.key === "-") element("out").click();
    if (event.key === "0") element("all").click();
  };
  window.onresize = () => {
    arrange();
    redraw();
  };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    readColours();
    redraw();
  });
  readColours();
  arrange();
  choose(undefined);
  if (reports.length > 0) return chooseReport(reports[0]);
  element("report").replaceChildren(make("p", "Nothing was found."));
  const fit = (view.clientWidth - NAMES - 48) / Math.max(1, columns);
  state.unit = Math.min(160, Math.max(24, fit));
  measure();
  view.scrollLeft = columns * state.unit;
  return redraw();
}
begin();
