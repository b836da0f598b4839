"use strict";
// The data block, decoded. html_data.go says what is in it.

const NONE = -1;
const TASK = 0, WAIT = 1, PARK = 2, BLOCK = 3, JOIN = 4; // kinds of spans; JOIN: parts of a task that another worker runs
const STATES = ["", "wait", "parked", "blocked", "part of a task"];
const FAILED = 1, SKIPPED = 2, CUT = 4, WAITER = 8, OPEN = 16, OUT = 32, IN = 64, UNMATCHED = 128; // flags

// column adds up differences; null is a number that is not known.
function column(differences) {
	const values = new Float64Array(differences.length);
	let last = 0;
	for (let i = 0; i < values.length; i++) {
		values[i] = differences[i] === null ? NONE : (last += differences[i]);
	}
	return values;
}

function columns(table) {
	const decoded = {};
	for (const name in table) decoded[name] = column(table[name]);
	return decoded;
}

// firstOf is where the part of each element begins, if element i has counts[i]
// of them.
function firstOf(counts) {
	const first = new Int32Array(counts.length + 1);
	for (let i = 0; i < counts.length; i++) first[i + 1] = first[i] + counts[i];
	return first;
}

// successors turns the lists of predecessors around.
function successors(tasks, from) {
	const counts = new Int32Array(tasks.number.length);
	for (const q of from) counts[q]++;
	const first = firstOf(counts), next = first.slice(), to = new Int32Array(from.length);
	for (let t = 0; t < tasks.number.length; t++) {
		for (let e = tasks.first[t]; e < tasks.first[t + 1]; e++) to[next[from[e]]++] = t;
	}
	return { firstOut: first, to };
}

function readRank(raw, index) {
	const tasks = columns(raw.tasks);
	tasks.first = firstOf(tasks.preds);
	const from = Int32Array.from(column(raw.from));
	const waits = column(raw.waits);
	const rank = { index, name: raw.name, number: raw.rank, begin: raw.begin, end: raw.end, count: raw.count, tasks, from, waits };
	Object.assign(rank, successors(tasks, from));
	rank.messages = columns(raw.messages);
	rank.sent = new Map(); // task: its messages
	rank.messages.task.forEach((t, i) => {
		if (t !== NONE) rank.sent.set(t, (rank.sent.get(t) || []).concat(i));
	});
	const path = columns(raw.path);
	rank.path = new Map(); // task: ns for which it holds the critical path up
	path.task.forEach((t, i) => rank.path.set(t, path.own[i]));
	rank.raw = raw.lanes.map(l => ({ name: l.name, role: l.role, spans: columns(l.columns) }));
	return rank;
}

const trace = JSON.parse(document.getElementById("data").textContent);
document.getElementById("data").textContent = ""; // its text is not needed any more
trace.ranks = trace.ranks.map(readRank);

// released is when the successors of a task could go on.
function released(rank, t) {
	const done = rank.tasks.done[t];
	return done !== NONE ? done : rank.tasks.end[t];
}

const preds = (rank, t) => Array.from(rank.from.subarray(rank.tasks.first[t], rank.tasks.first[t + 1]));
// waitedFor are the predecessors that had not ended when t was submitted.
const waitedFor = (rank, t) => new Set(preds(rank, t).filter((_, i) => rank.waits[rank.tasks.first[t] + i]));
const succs = (rank, t) => Array.from(rank.to.subarray(rank.firstOut[t], rank.firstOut[t + 1]));
const labelOf = (rank, t) => trace.labels[rank.tasks.label[t]];
const nameOf = (rank, t) => labelOf(rank, t).name + " #" + rank.tasks.number[t];

// lastPred is the predecessor that was done last, or NONE.
function lastPred(rank, t) {
	let last = NONE;
	for (const q of preds(rank, t)) {
		if (last === NONE || released(rank, q) > released(rank, last)) last = q;
	}
	return last;
}

// span prints ns with three digits or more.
function span(ns) {
	if (ns < 0) return "−" + span(-ns);
	for (const [unit, size] of [["s", 1e9], ["ms", 1e6], ["µs", 1e3]]) {
		if (ns >= size) return (ns / size).toFixed(ns >= 100 * size ? 1 : ns >= 10 * size ? 2 : 3) + " " + unit;
	}
	return Math.round(ns) + " ns";
}

// short drops zeros that say nothing: 5.000 ms is 5 ms.
const short = text => text.replace(/(\.\d*?)0+ /, "$1 ").replace(". ", " ");

function size(bytes) {
	for (const [unit, one] of [["GiB", 2 ** 30], ["MiB", 2 ** 20], ["KiB", 2 ** 10]]) {
		if (bytes >= one) return (bytes / one).toFixed(1) + " " + unit;
	}
	return bytes + " B";
}

const percent = share => (100 * share).toFixed(1) + " %";
const count = (n, what) => n.toLocaleString("en").replace(/,/g, " ") + " " + what + (n === 1 ? "" : "s");
