"use strict";
// The run, and where its parts stand along the x axis, in columns.
const run = JSON.parse(document.getElementById("data").textContent);

const COLUMN = { work: 1, allocator: 0.6, step: 0.32, hole: 0.6 };
const WAITS = {
  event: "waits for an event", host: "the host waits", legacy: "rule of the legacy default stream",
  collective: "collective call", launch: "launches of one graph follow each other",
  recorded: "a free waits for recorded streams",
};

const lanes = run.lanes.slice().sort((a, b) => Number(b.host) - Number(a.host) ||
  (a.device ?? 1e9) - (b.device ?? 1e9) || a.lane - b.lane);
const laneOf = new Map(lanes.map((lane) => [lane.lane, lane]));
const operations = run.operations;
const operationOf = new Map(operations.map((it) => [it.number, it]));
const reports = run.reports.map((it) => ({ ...it.report, title: it.title, count: it.count }));

// The first index whose item is not below.
function firstAt(items, isBelow) {
  let [low, high] = [0, items.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isBelow(items[middle])) low = middle + 1; else high = middle;
  }
  return low;
}

// Operations, and the steps between them at which something is recorded or waited for, in the order of the run.
const moments = operations.map((it) => ({ at: [it.number, 0], lane: it.lane, operation: it }));
const steps = new Set();
for (const wait of run.waits) {
  for (const [at, lane] of [[wait.since, wait.from], [wait.at, wait.to]]) {
    const key = at && at[1] > 0 && operationOf.has(at[0]) ? at.join() : undefined;
    if (key === undefined || steps.has(key)) continue;
    steps.add(key);
    moments.push({ at, lane });
  }
}
moments.sort((a, b) => a.at[0] - b.at[0] || a.at[1] - b.at[1]);
const offAfter = new Set(run.gaps);
let holes = [];
let columns = 0;

// Places all moments. Those of lanes that are not shown take no room.
function place(isShown) {
  holes = [];
  columns = 0;
  let last;
  for (const moment of moments) {
    const { operation } = moment;
    if (operation) {
      const missing = last === undefined ? operation.number - 1 : operation.number - last - 1;
      const wasOff = last !== undefined && offAfter.has(last);
      if (missing > 0 || wasOff) {
        holes.push({ x: columns, missing, wasOff });
        columns += COLUMN.hole;
      }
      last = operation.number;
      operation.moment = moment;
    }
    moment.x = columns;
    moment.width = !operation ? COLUMN.step : operation.allocator ? COLUMN.allocator : COLUMN.work;
    if (!isShown(moment.lane)) moment.width = 0;
    columns += moment.width;
  }
}

const isBefore = (a, b) => a[0] < b[0] || (a[0] === b[0] && a[1] < b[1]);

// Where a step stands. What is not kept stands where it would be.
function xOf(at) {
  const index = firstAt(moments, (moment) => isBefore(moment.at, at));
  const moment = moments[index];
  if (moment === undefined) return columns;
  const isIt = moment.at[0] === at[0] && moment.at[1] === at[1];
  return isIt && at[1] > 0 ? moment.x + moment.width / 2 : moment.x;
}

// The last operation of a lane before a moment.
const byLane = new Map(lanes.map((lane) => [lane.lane, []]));
for (const it of operations) byLane.get(it.lane).push(it);

function lastBefore(lane, at) {
  const all = byLane.get(lane) || [];
  const end = firstAt(all, (it) => isBefore([it.number, 0], at));
  return end > 0 ? all[end - 1] : undefined;
}

// Waits in the order of their ends, and those that reach far back.
const FAR = 60;
let waits = run.waits;
let farWaits = [];

// Where the arrow of a wait begins and ends: it begins at the record, or behind all that the lane has done or learnt.
function placeWaits() {
  const learnt = new Map();
  for (const wait of run.waits) {
    const source = lastBefore(wait.from, wait.since || wait.at);
    wait.source = source;
    wait.target = operationOf.get(wait.at[0]);
    wait.x1 = xOf(wait.at);
    const ends = [source ? source.moment.x + source.moment.width : 0, learnt.get(wait.from) ?? 0];
    wait.x0 = wait.since ? xOf(wait.since) : Math.min(wait.x1, Math.max(...ends));
    if (ends.every((end) => end === 0) && !wait.since) wait.x0 = Math.max(0, wait.x1 - COLUMN.step);
    learnt.set(wait.to, wait.x1);
  }
  waits = run.waits.slice().sort((a, b) => a.x1 - b.x1);
  farWaits = waits.filter((wait) => wait.x1 - wait.x0 > FAR);
}

// Whether an operation uses bytes of a range.
function uses(operation, start, bytes) {
  const end = start + BigInt(bytes);
  return operation.uses.some(([, first, count]) => BigInt(first) < end && start < BigInt(first) + BigInt(count));
}
