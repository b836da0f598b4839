// Lanes: where everything is on the page, and what is where.
//
// A lane has a row for each depth of nesting. The spans of a row are disjoint and
// in order of time, so a binary search finds what is on the screen.

const STEP = 6, DEEPEST = 5, MESSAGES = 24, GAP = 4, HEAD = 20; // pixels, but for DEEPEST and MESSAGES
let LANE = 24, MESSAGE = 9; // pixels; higher where there are few, lower where a few more fit then

// first is the first place from low on at which values[place] > t.
function firstAbove(values, t, low = 0) {
	let high = values.length;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (values[middle] > t) high = middle; else low = middle + 1;
	}
	return low;
}

// makeRow completes a row by the sum of the lengths before each span.
function makeRow(list) {
	const n = list.length;
	const row = { at: new Float64Array(n), end: new Float64Array(n), what: new Int32Array(n), kind: new Uint8Array(n), level: new Uint8Array(n), sum: new Float64Array(n + 1) };
	list.forEach((s, i) => {
		row.at[i] = s.at; row.end[i] = s.end; row.what[i] = s.what; row.kind[i] = s.kind; row.level[i] = s.level;
		row.sum[i + 1] = row.sum[i] + s.end - s.at;
	});
	return row;
}

// covered is how much of [a, b) the spans of a row take.
function covered(row, a, b) {
	const i = firstAbove(row.end, a);
	let j = firstAbove(row.at, b, i);
	while (j > i && row.at[j - 1] >= b) j--;
	if (j <= i) return 0;
	return row.sum[j] - row.sum[i] - Math.max(0, a - row.at[i]) - Math.max(0, row.end[j - 1] - b);
}

// workerLane sorts the spans of a worker into rows. Bodies inside bodies are
// drawn lower: level counts the bodies around a span.
function workerLane(rank, raw, index) {
	const lists = [], levels = [0], outer = [], s = raw.spans;
	let deepest = 0;
	for (let i = 0; i < s.at.length; i++) {
		const depth = s.depth[i], level = levels[depth] || 0;
		const one = { at: s.at[i], end: s.end[i], what: s.task[i], kind: s.kind[i], level: Math.min(level, DEEPEST) };
		(lists[depth] = lists[depth] || []).push(one);
		levels[depth + 1] = level + (s.kind[i] === TASK ? 1 : 0);
		if (s.kind[i] === TASK) {
			deepest = Math.max(deepest, one.level);
			if (level === 0) outer.push(one);
		} else if (s.kind[i] === JOIN && one.what !== NONE && level === 0) {
			outer.push(one);
		}
	}
	const rows = Array.from(lists, l => makeRow(l || []));
	return { rank, index, name: raw.name, role: raw.role, rows, bodies: makeRow(outer), deepest };
}

// messageLane puts each message into the first row that is free from when its bytes could begin to
// move. Before that a receive lies posted: a thin line, over which others may be drawn.
function messageLane(rank) {
	const m = rank.messages, lists = [], free = [];
	rank.messageRow = new Int32Array(m.posted.length);
	const order = Array.from(m.moves.keys()).sort((a, b) => m.moves[a] - m.moves[b]);
	for (const i of order) {
		let row = free.findIndex(t => t <= m.moves[i]);
		if (row < 0) row = Math.min(free.length, MESSAGES - 1);
		free[row] = Math.max(free[row] || 0, m.done[i]);
		rank.messageRow[i] = row;
		(lists[row] = lists[row] || []).push({ at: m.moves[i], end: m.done[i], what: i, kind: TASK, level: 0 });
	}
	return { rank, name: "messages", role: "messages", rows: lists.map(makeRow), bodies: makeRow([]) };
}

// raise makes lanes higher if there is room for it.
function raise() {
	let n = 0;
	for (const rank of trace.ranks) n += rank.raw.filter(l => l.role === "worker").length + (rank.count.messages ? 3 : 0) + 0.5;
	LANE = Math.round(Math.min(44, Math.max(24, (window.innerHeight * 0.7) / Math.max(n, 1) - GAP)));
	MESSAGE = Math.round(Math.min(14, Math.max(9, LANE / 3)));
}

const heightOf = lane => lane.role === "messages" ? Math.max(LANE, MESSAGE * lane.rows.length + 4) : LANE + STEP * lane.deepest;

// squeeze makes lanes lower if all of them fit on the screen then.
function squeeze(lanes) {
	const usual = [LANE, MESSAGE], heads = trace.ranks.length * (HEAD + GAP), lowest = 12;
	const room = window.innerHeight * (window.innerWidth <= 900 ? 0.75 : 1) - 180; // without what is above the lanes
	const height = () => lanes.reduce((sum, l) => sum + heightOf(l) + GAP, heads);
	while (height() > room && LANE > lowest) {
		LANE--;
		MESSAGE = Math.max(4, Math.min(MESSAGE, Math.round(LANE / 3)));
	}
	if (height() > room) [LANE, MESSAGE] = usual;
	for (const lane of lanes) lane.height = heightOf(lane);
}

// makeLanes makes the lanes of all ranks. Those on which nothing happened are left out, unless they
// are workers.
function makeLanes() {
	const lanes = [];
	raise();
	for (const rank of trace.ranks) {
		rank.lanes = [];
		rank.folded = false;
		const all = rank.raw.map((raw, i) => workerLane(rank, raw, i));
		if (rank.count.messages > 0) {
			rank.messageLane = messageLane(rank);
			all.push(rank.messageLane);
		}
		delete rank.raw;
		for (const lane of all) {
			if (lane.rows.length === 0 && lane.role !== "worker") continue;
			if (lane.index !== undefined) rank.lanes[lane.index] = lane;
			lanes.push(lane);
		}
	}
	squeeze(lanes);
	return lanes;
}

// place puts the lanes one below the other. Of a folded rank only its name is left, and what
// belongs to its lanes is there.
function place() {
	let y = 0;
	for (const rank of trace.ranks) {
		rank.y = y;
		if (rank.name) y += HEAD;
		for (const lane of lanes) {
			if (lane.rank !== rank) continue;
			lane.y = rank.folded ? rank.y : y;
			if (!rank.folded) y += lane.height + GAP;
		}
		y += GAP;
	}
	lanes.height = y;
}

// fold hides the lanes of a rank, or shows them again.
function fold(rank) {
	rank.folded = !rank.folded;
	place();
}

// headAt is the rank whose name stands at a height of the page, or undefined.
const headAt = y => trace.ranks.find(r => r.name && y >= r.y && y < r.y + HEAD);

const lanes = makeLanes();
place();

const GAPS = 6, WORTH = 0.01; // how many gaps of a run are marked, and the share of the run from which they are
const isAfter = rank => Boolean(trace.compared) && rank.name.startsWith("after");

// longestGaps are the longest times without a body on a worker, with the task that ended each.
function longestGaps() {
	const all = [];
	for (const lane of lanes.filter(l => l.role === "worker")) {
		const row = lane.bodies;
		for (let i = 0; i < row.at.length; i++) {
			const from = i > 0 ? row.end[i - 1] : lane.rank.begin || 0;
			if (row.kind[i] === TASK && row.at[i] - from >= WORTH * trace.elapsed) all.push({ lane, from, to: row.at[i], what: row.what[i] });
		}
	}
	all.sort((a, b) => (b.to - b.from) - (a.to - a.from));
	return [false, true].flatMap(after => all.filter(g => isAfter(g.lane.rank) === after).slice(0, GAPS));
}

const gaps = longestGaps();

// gapAt is the marked gap at a time and a height of the page, or undefined.
const gapAt = (t, y) => gaps.find(g => !g.lane.rank.folded && t >= g.from && t < g.to && y >= g.lane.y && y < g.lane.y + g.lane.height);

// causeOf says why a gap is there: what the task that ended it waited for.
function causeOf(gap) {
	const rank = gap.lane.rank, last = lastPred(rank, gap.what);
	if (last !== NONE && released(rank, last) > gap.from) return "waits for " + nameOf(rank, last);
	if (rank.tasks.spawned[gap.what] > gap.from) return nameOf(rank, gap.what) + " is not submitted yet";
	return nameOf(rank, gap.what) + " is ready";
}

// anchor is where an arrow touches a task: its lane and height, or null if it is
// on none. A task without a body has the place of its first message.
function anchor(rank, t) {
	const lane = rank.lanes[rank.tasks.lane[t]];
	if (lane && rank.tasks.start[t] !== NONE) return { y: lane.y + LANE / 2, start: rank.tasks.start[t], end: Math.max(rank.tasks.start[t], rank.tasks.end[t]) };
	const sent = rank.sent.get(t);
	return sent ? messageAnchor(rank, sent[0]) : null;
}

function messageAnchor(rank, i) {
	return { y: rank.messageLane.y + 2 + MESSAGE * (rank.messageRow[i] + 0.5), start: rank.messages.posted[i], end: rank.messages.done[i] };
}

// busyShare is how busy the workers of some lanes were in [a, b).
function busyShare(of, slots, a, b) {
	let sum = 0;
	for (const lane of of) {
		if (lane.role === "worker" || lane.role === "spare") sum += covered(lane.bodies, a, b);
	}
	return b > a ? Math.min(1, sum / (slots * (b - a))) : 0;
}

// under is what lies at a time and a height of the page, the innermost of all,
// or null. Things narrower than slack ns are found that far away.
function under(t, y, slack) {
	const lane = lanes.find(l => !l.rank.folded && y >= l.y && y < l.y + l.height);
	if (!lane) return null;
	if (lane.role === "messages") {
		const row = Math.floor((y - lane.y - 2) / MESSAGE);
		return pick(lane, lane.rows[row], t, slack);
	}
	for (let depth = lane.rows.length - 1; depth >= 0; depth--) {
		const found = pick(lane, lane.rows[depth], t, slack);
		if (found && y >= lane.y + STEP * found.level) return found;
	}
	return null;
}

function pick(lane, row, t, slack) {
	if (!row) return null;
	const i = firstAbove(row.end, t - slack);
	for (const k of [i, i + 1]) { // the one around t, or else one near it
		if (k < row.at.length && row.at[k] <= t && row.end[k] > t) return picked(lane, row, k);
	}
	return i < row.at.length && row.at[i] <= t + slack && row.end[i] - row.at[i] < slack ? picked(lane, row, i) : null;
}

function picked(lane, row, i) {
	const kind = lane.role === "messages" ? "message" : row.kind[i] === TASK || row.kind[i] === JOIN && row.what[i] !== NONE ? "task" : "state";
	return { kind, rank: lane.rank, lane, what: row.what[i], state: row.kind[i], level: row.level[i], at: row.at[i], end: row.end[i] };
}
