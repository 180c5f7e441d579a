// Draws what is in view: lanes, operations, waits, and what the chosen report lacks.
const element = (id) => document.getElementById(id);
const view = element("view");
const canvas = element("canvas");
const NAMES = 172;
const TOP = 26;
const BOX = 36;

const state = { unit: 120, lane: 62, report: undefined, operation: undefined, only: false, shown: lanes,
  rows: new Map() };
let colours = {};

function readColours() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["text", "soft", "page", "panel", "line", "stripe", "work", "work-edge", "host", "host-edge",
    "block", "block-edge", "first", "first-edge", "second", "second-edge", "missing", "event", "wait-host", "legacy",
    "other"]) {
    colours[name] = style.getPropertyValue(`--${name}`).trim();
  }
  colours.waits = { event: colours.event, host: colours["wait-host"], legacy: colours.legacy };
}

// Which lanes are shown, and where everything stands.
function arrange() {
  const ends = state.report ? [state.report.first, state.report.second] : [];
  const named = new Set(ends.filter(Boolean).map((it) => (operationOf.get(it.operation) || {}).lane));
  const isShown = (lane) => !state.only || named.size === 0 || lane.host || named.has(lane.lane);
  state.shown = lanes.filter(isShown);
  const only = new Set(state.shown.map((lane) => lane.lane));
  place((lane) => only.has(lane));
  placeWaits();
  state.lane = Math.min(88, Math.max(58, (view.clientHeight - TOP - 8) / state.shown.length));
  state.rows = new Map(state.shown.map((lane, row) => [lane.lane, row]));
  measure();
}

function measure() {
  const space = element("space");
  space.style.width = `${NAMES + columns * state.unit + 40}px`;
  space.style.height = `${TOP + state.shown.length * state.lane + 4}px`;
}

const xAt = (column) => NAMES + 8 + column * state.unit - view.scrollLeft;
const yAt = (lane) => {
  const row = state.rows.get(lane);
  return row === undefined ? undefined : TOP + row * state.lane + state.lane / 2 - view.scrollTop;
};

// A text that is cut to a width.
function cut(context, text, width) {
  if (context.measureText(text).width <= width) return text;
  let [low, high] = [0, text.length];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (context.measureText(`${text.slice(0, middle)}…`).width <= width) low = middle; else high = middle - 1;
  }
  return low > 0 ? `${text.slice(0, low)}…` : "";
}

const nameOfPlace = (index) => run.places[index] || "";
const fileOf = (place) => place.replace(/^.*\//, "");

// The number of an operation, and as much of its place as fits.
function footOf(context, operation, width) {
  const place = operation.allocator ? "" : fileOf(nameOfPlace(operation.place));
  const whole = `#${operation.number} ${place}`;
  const line = /:\d+$/.exec(place);
  return line && context.measureText(whole).width > width ? `#${operation.number} ${line[0]}` : whole;
}

function role(operation) {
  const { report } = state;
  if (report && report.second.operation === operation.number) return "second";
  if (report && report.first && report.first.operation === operation.number) return "first";
  if (operation.allocator) return "block";
  return laneOf.get(operation.lane).host ? "host" : "work";
}

function drawOperation(context, operation, block) {
  const y = yAt(operation.lane);
  if (y === undefined) return;
  const { moment } = operation;
  const gap = Math.min(3, state.unit / 12);
  const [left, width] = [xAt(moment.x) + gap, Math.max(1, moment.width * state.unit - 2 * gap)];
  const kind = role(operation);
  const isNamed = kind === "first" || kind === "second";
  context.fillStyle = colours[kind];
  context.strokeStyle = colours[`${kind}-edge`];
  context.lineWidth = isNamed || operation === state.operation ? 2.5 : 1;
  context.setLineDash(operation.captured ? [4, 3] : []);
  context.beginPath();
  if (width > 6) context.roundRect(left, y - BOX / 2, width, BOX, 4);
  else context.rect(left, y - BOX / 2, width, BOX);
  context.fill();
  if (width > 3 || isNamed) context.stroke();
  context.setLineDash([]);
  if (block && width > 5 && uses(operation, block.start, block.bytes)) {
    context.fillStyle = colours["second-edge"];
    context.fillRect(left + 3, y + BOX / 2 - 3, width - 6, 2);
  }
  if (width < 34) return;
  const name = operation.allocator ? operation.name.replace(/^the (alloc|free).*$/, "$1") : operation.name;
  context.fillStyle = colours.text;
  context.font = `${isNamed ? "600 " : ""}12px system-ui, sans-serif`;
  context.fillText(cut(context, name, width - 10), left + 5, y - 3);
  context.fillStyle = colours.soft;
  context.font = "10.5px ui-monospace, monospace";
  context.fillText(cut(context, footOf(context, operation, width - 10), width - 10), left + 5, y + 11);
}

// A line from one lane to another, with an arrow at its end.
function arrow(context, [x0, y0], [x1, y1]) {
  const bend = Math.min(40, Math.max(10, Math.abs(x1 - x0) / 2));
  context.beginPath();
  context.moveTo(x0, y0);
  context.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1 - 4, y1);
  context.stroke();
  context.setLineDash([]);
  context.beginPath();
  context.moveTo(x1, y1);
  context.lineTo(x1 - 8, y1 - 4);
  context.lineTo(x1 - 8, y1 + 4);
  context.fill();
}

function drawWait(context, wait, isChosen) {
  const [y0, y1] = [yAt(wait.from), yAt(wait.to)];
  if (y0 === undefined || y1 === undefined) return;
  const [x0, x1] = [xAt(wait.x0), xAt(wait.x1)];
  context.strokeStyle = context.fillStyle = colours.waits[wait.kind] || colours.other;
  context.lineWidth = isChosen ? 2.5 : 1.3;
  if (wait.since) {
    context.beginPath();
    context.arc(x0, y0, 3, 0, 7);
    context.fill();
  }
  arrow(context, [x0, y0], [x1, y1]);
}

const MISSING = { race: "no wait", missing_record_stream: "not recorded", use_after_free: "already freed",
  early_reuse: "still in use" };

// What is missing between the two uses of the report.
function drawMissing(context) {
  const { report } = state;
  const from = report && report.first && operationOf.get(report.first.operation);
  const to = report && operationOf.get(report.second.operation);
  if (!from || !to) return;
  let [y0, y1] = [yAt(from.lane), yAt(to.lane)];
  if (y0 === undefined || y1 === undefined) return;
  let [x0, x1] = [xAt(from.moment.x + from.moment.width), xAt(to.moment.x)];
  let bend = Math.max(24, (x1 - x0) / 2);
  const isLevel = y0 === y1;
  if (isLevel) {
    // Both in one lane: the line goes over what stands between them.
    [x0, x1] = [xAt(from.moment.x + from.moment.width / 2), xAt(to.moment.x + to.moment.width / 2)];
    [y0, y1, bend] = [y0 - BOX / 2, y1 - BOX / 2, 0];
  }
  context.strokeStyle = context.fillStyle = colours.missing;
  context.lineWidth = 2.5;
  context.setLineDash([7, 5]);
  context.beginPath();
  context.moveTo(x0, y0);
  if (isLevel) context.bezierCurveTo(x0, y0 - 22, x1, y1 - 22, x1, y1);
  else context.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1, y1);
  context.stroke();
  context.setLineDash([]);
  const label = MISSING[report.kind] || report.kind.replaceAll("_", " ");
  context.font = "600 12px system-ui, sans-serif";
  const wide = context.measureText(label).width + 12;
  // Beside a line that is too short to be seen behind it.
  const aside = !isLevel && x1 - x0 < 2 * wide ? wide / 2 + 14 : 0;
  const [x, y] = [(x0 + x1) / 2 + aside, (y0 + y1) / 2 - (isLevel ? 14 : 0)];
  context.beginPath();
  context.roundRect(x - wide / 2, y - 10, wide, 20, 10);
  context.fill();
  context.fillStyle = colours.page;
  context.fillText(label, x - wide / 2 + 6, y + 4);
}

function drawHole(context, hole, height) {
  const x = xAt(hole.x + COLUMN.hole / 2);
  context.strokeStyle = colours["block-edge"];
  context.setLineDash([2, 4]);
  context.beginPath();
  context.moveTo(x, TOP);
  context.lineTo(x, height);
  context.stroke();
  context.setLineDash([]);
  if (state.unit < 30) return;
  context.fillStyle = colours.soft;
  context.font = "11px system-ui, sans-serif";
  context.textAlign = "center";
  context.fillText(hole.missing > 0 ? `${hole.missing.toLocaleString("en")} left out` : "off", x, 17);
  context.textAlign = "left";
}

function drawLanes(context, width, height) {
  state.shown.forEach((lane, row) => {
    const y = TOP + row * state.lane - view.scrollTop;
    if (y > height || y + state.lane < 0) return;
    context.fillStyle = row % 2 === 0 ? colours.stripe : colours.page;
    context.fillRect(0, y, width, state.lane);
    context.strokeStyle = colours.line;
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(NAMES, y + state.lane / 2);
    context.lineTo(width, y + state.lane / 2);
    context.stroke();
  });
}

function drawNames(context, height) {
  context.fillStyle = colours.panel;
  context.fillRect(0, 0, NAMES, height);
  state.shown.forEach((lane) => {
    const y = yAt(lane.lane);
    if (y < TOP - state.lane || y > height + state.lane) return;
    context.fillStyle = colours.text;
    context.font = "600 13px system-ui, sans-serif";
    const isDefault = lane.short.startsWith("the default stream");
    context.fillText(cut(context, isDefault ? "default stream" : lane.short, NAMES - 20), 14, y - 1);
    context.fillStyle = colours.soft;
    context.font = "11px system-ui, sans-serif";
    const rest = lane.host ? "all threads" : isDefault ? `device ${lane.device}` :
      lane.words.replace(lane.short, "").replace(/^ \(handle (.*)\) of (.*)$/, "$2, $1");
    context.fillText(cut(context, rest, NAMES - 20), 14, y + 14);
  });
  context.fillStyle = colours.line;
  context.fillRect(NAMES - 1, 0, 1, height);
}

function draw() {
  const [width, height] = [view.clientWidth, view.clientHeight];
  const scale = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d");
  context.scale(scale, scale);
  context.clearRect(0, 0, width, height);
  drawLanes(context, width, height);
  // Only what is in view.
  const first = (view.scrollLeft - 8) / state.unit;
  const last = first + (width - NAMES) / state.unit;
  for (const hole of holes) if (hole.x + 1 > first && hole.x < last) drawHole(context, hole, height);
  const chosen = state.operation;
  const begin = firstAt(waits, (wait) => wait.x1 < first);
  const seen = new Set();
  const wait = (it) => {
    if (it.x0 > last || it.x1 < first || seen.has(it)) return;
    seen.add(it);
    const isChosen = chosen && (it.source === chosen || (it.target === chosen && it.at[1] === 0));
    drawWait(context, it, isChosen);
  };
  for (let at = begin; at < waits.length && waits[at].x1 < last + FAR; at += 1) wait(waits[at]);
  farWaits.forEach(wait);
  const { report } = state;
  const block = report && { start: BigInt(report.address), bytes: report.bytes };
  let index = Math.max(0, firstAt(moments, (moment) => moment.x < first - 1));
  for (; index < moments.length && moments[index].x <= last; index += 1) {
    if (moments[index].operation) drawOperation(context, moments[index].operation, block);
  }
  drawMissing(context);
  context.fillStyle = colours.page;
  if (view.scrollTop > 0) context.fillRect(0, 0, width, 2);
  drawNames(context, height);
}

let isAsked = false;
function redraw() {
  if (isAsked) return;
  isAsked = true;
  requestAnimationFrame(() => {
    isAsked = false;
    draw();
  });
}
