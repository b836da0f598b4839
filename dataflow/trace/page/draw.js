// The picture: an overview of the run on top, then the time axis, then the lanes.

const LEFT = 148, OVERVIEW = 44, AXIS = 20, TOP = OVERVIEW + AXIS; // pixels
const ARROWS = 200;    // dependences of one task that are drawn
const MESSAGES_AT_ONCE = 1500; // arrows of messages that are drawn

const canvas = document.getElementById("timeline"), pen = canvas.getContext("2d");
const view = { from: 0, to: Math.max(trace.elapsed, 1), down: 0, width: 800, height: 400, messages: true };
const chosen = { selection: null, hover: null, lit: null }; // lit: (rank, task) => bool, or null
let ink = {};

const wide = () => Math.max(view.width - LEFT, 1);
const toX = t => LEFT + (t - view.from) / (view.to - view.from) * wide();
const toTime = x => view.from + (x - LEFT) / wide() * (view.to - view.from);
const toY = y => TOP + y - view.down;

function readColors() {
	const style = getComputedStyle(document.documentElement);
	for (const name of ["paper", "lane", "line", "ink", "faint", "wait", "park", "block", "before", "after", "message", "bad", "mark"]) {
		ink[name] = style.getPropertyValue("--" + name).trim();
	}
}

// resize fits the canvas to its place; all coordinates are in CSS pixels.
function resize() {
	const box = canvas.parentElement.getBoundingClientRect(), ratio = window.devicePixelRatio || 1;
	view.width = Math.max(box.width, LEFT + 50);
	view.height = Math.max(box.height, TOP + 50);
	canvas.width = Math.round(view.width * ratio);
	canvas.height = Math.round(view.height * ratio);
	pen.setTransform(ratio, 0, 0, ratio, 0, 0);
	overviewOf = null;
}

let waiting = false;
function redraw() {
	if (!waiting) requestAnimationFrame(() => { waiting = false; draw(); });
	waiting = true;
}

function draw() {
	pen.globalAlpha = 1;
	pen.fillStyle = ink.paper;
	pen.fillRect(0, 0, view.width, view.height);
	clip(0, TOP, view.width, view.height - TOP, drawNames);
	clip(LEFT, TOP, wide(), view.height - TOP, () => {
		drawGrid();
		for (const lane of lanes) {
			if (!lane.rank.folded && toY(lane.y + lane.height) >= TOP && toY(lane.y) <= view.height) drawLane(lane);
		}
		drawGaps();
		if (view.messages) drawMessages();
		drawSelection();
	});
	drawAxis();
	drawOverview();
	if (lanes.length === 0) write("Nothing is in this log: was it on before the first task was submitted?", LEFT + 20, TOP + 40, ink.faint, "13px system-ui, sans-serif");
}

function clip(x, y, width, height, body) {
	pen.save();
	pen.beginPath();
	pen.rect(x, y, width, height);
	pen.clip();
	body();
	pen.restore();
}

function write(text, x, y, color, font = "11px system-ui, sans-serif") {
	pen.font = font;
	pen.fillStyle = color;
	pen.textBaseline = "middle";
	pen.fillText(text, x, y);
}

// fitting is text cut to a width, or "" if nothing of use fits.
function fitting(text, width) {
	if (width < 14) return "";
	const fit = Math.floor(width / 6.2);
	return text.length <= fit ? text : fit > 2 ? text.slice(0, fit - 1) + "…" : "";
}

function drawNames() {
	for (const rank of trace.ranks) {
		if (rank.name) {
			pen.fillStyle = ink.line;
			pen.fillRect(0, toY(rank.y), view.width, 1);
			write((rank.folded ? "▸ " : "▾ ") + rank.name, 8, toY(rank.y) + HEAD / 2 + 1, ink.ink, "600 11px system-ui, sans-serif");
		}
	}
	for (const lane of lanes) {
		if (lane.rank.folded) continue;
		pen.fillStyle = ink.lane;
		pen.fillRect(LEFT, toY(lane.y), wide(), lane.height);
		write(fitting(lane.name, LEFT - 12), 8, toY(lane.y) + Math.min(lane.height, LANE) / 2, ink.faint);
	}
}

// ticks are round times, about 100 pixels apart.
function ticks() {
	const rough = (view.to - view.from) / wide() * 110, power = 10 ** Math.floor(Math.log10(rough));
	const step = Math.max(1, power * [1, 2, 5, 10].find(f => f * power >= rough));
	const all = [];
	for (let t = Math.ceil(view.from / step) * step; t <= view.to; t += step) all.push(t);
	return { all, step };
}

function drawGrid() {
	pen.fillStyle = ink.line;
	for (const t of ticks().all) pen.fillRect(toX(t), TOP, 1, view.height);
}

// drawAxis writes times; zoomed in far, they count from the one on the left.
function drawAxis() {
	const { all, step } = ticks(), base = all.length && all[0] > 1000 * step ? all[0] : 0;
	pen.fillStyle = ink.paper;
	pen.fillRect(0, OVERVIEW, view.width, AXIS);
	write(base ? short(span(base)) : "", 8, OVERVIEW + AXIS / 2, ink.faint);
	for (const t of all) {
		const text = t === 0 ? "0" : (base ? "+" : "") + short(span(t - base));
		const shown = base && t === base ? "+0" : text;
		if (toX(t) + 3 + pen.measureText(shown).width < view.width) write(shown, toX(t) + 3, OVERVIEW + AXIS / 2, ink.faint);
		pen.fillStyle = ink.line;
		pen.fillRect(toX(t), OVERVIEW, 1, AXIS);
	}
}

let overviewOf = null; // busy share by pixel, of the whole run
function drawOverview() {
	const ns = Math.max(trace.elapsed, 1), n = Math.floor(wide());
	const x = t => LEFT + t / ns * n;
	if (!overviewOf) overviewOf = Array.from({ length: n }, (_, i) => busyShare(lanes, trace.slots, i * ns / n, (i + 1) * ns / n));
	pen.fillStyle = ink.lane;
	pen.fillRect(LEFT, 4, wide(), OVERVIEW - 6);
	pen.fillStyle = ink.park;
	overviewOf.forEach((share, i) => pen.fillRect(LEFT + i, 4 + (OVERVIEW - 6) * (1 - share), 1, (OVERVIEW - 6) * share));
	if (trace.cut) { // nothing is known from here on
		pen.fillStyle = ink.block;
		pen.fillRect(x(trace.cut.at), 4, x(ns) - x(trace.cut.at), OVERVIEW - 6);
	}
	pen.strokeStyle = ink.after;
	pen.lineWidth = 2;
	const left = Math.max(x(view.from), LEFT), right = Math.min(x(view.to), view.width);
	pen.strokeRect(left + 1, 4, Math.max(right - left - 2, 3), OVERVIEW - 6);
	write("workers busy", 8, 12, ink.faint);
	write(percent(busyShare(lanes, trace.slots, view.from, view.to)) + " in view", 8, 28, ink.ink);
}

function drawLane(lane) {
	for (const row of lane.rows) drawRow(lane, row);
}

// drawRow draws the spans that are wide enough one by one, and those that share
// a pixel as one: as strong as they fill it, in the colour of the longest.
function drawRow(lane, row) {
	const pixel = (view.to - view.from) / wide();
	let i = firstAbove(row.end, view.from);
	while (i < row.at.length && row.at[i] < view.to) {
		if (row.end[i] - row.at[i] >= pixel) {
			drawSpan(lane, row, i++, 1);
			continue;
		}
		const until = (Math.floor(row.at[i] / pixel) + 1) * pixel;
		let next = Math.max(firstAbove(row.at, until, i), i + 1);
		while (next > i + 1 && row.end[next - 1] - row.at[next - 1] >= pixel) next--;
		drawSpan(lane, row, speaker(lane, row, i, next), Math.min(1, Math.max(0.35, (row.sum[next] - row.sum[i]) / pixel)));
		i = next;
	}
}

// speaker is which of the spans from i up to next stands for all of them: a lit
// one, or else the longest. It looks at a part of many.
function speaker(lane, row, i, next) {
	let best = i, bestLit = false;
	for (let k = i; k < next; k += Math.max(1, (next - i) >> 5)) {
		const lit = chosen.lit !== null && row.kind[k] === TASK && isLit(lane, row.what[k]);
		if (lit > bestLit || lit === bestLit && row.end[k] - row.at[k] > row.end[best] - row.at[best]) best = k, bestLit = lit;
	}
	return best;
}

const isLit = (lane, what) => lane.role !== "messages" && what !== NONE && chosen.lit(lane.rank, what);

function drawSpan(lane, row, i, strength) {
	const left = Math.max(toX(row.at[i]), LEFT - 2), right = Math.min(toX(row.end[i]), view.width + 2);
	const width = Math.max(right - left, 1), gap = width > 4 ? 1 : 0, kind = row.kind[i];
	pen.globalAlpha = strength;
	if (lane.role === "messages") return drawMessage(lane, row.what[i], left, width - gap);
	const top = toY(lane.y) + STEP * row.level[i], height = lane.height - STEP * row.level[i];
	if (kind === JOIN) { // paler than the body itself
		if (row.what[i] === NONE) return;
		pen.globalAlpha = strength * 0.6;
	} else if (kind !== TASK) {
		pen.fillStyle = ink[STATES[kind].replace("ed", "")];
		if (kind === PARK) pen.fillRect(left, top + LANE / 2 - 2, width, 4); else pen.fillRect(left, top, width, height);
		if (kind === BLOCK && width > 60) write(STATES[kind], left + 4, top + LANE / 2, ink.faint);
		return;
	}
	drawBody(lane.rank, row.what[i], left, top, width - gap, height);
}

function drawBody(rank, t, left, top, width, height) {
	const label = labelOf(rank, t);
	const dim = chosen.lit !== null && !chosen.lit(rank, t);
	if (dim) pen.globalAlpha *= 0.18;
	pen.fillStyle = label.color;
	pen.fillRect(left, top, width, height);
	if (rank.tasks.flags[t] & FAILED) {
		pen.fillStyle = ink.bad;
		pen.fillRect(left, top, width, 3);
	}
	const text = fitting(width > 90 ? nameOf(rank, t) : label.name, width - 6);
	if (text && !dim) write(text, left + 3, top + LANE / 2, "#111");
}

function drawMessage(lane, i, left, width) {
	const m = lane.rank.messages, top = toY(lane.y) + 2 + MESSAGE * lane.rank.messageRow[i], kind = trace.kinds[m.kind[i]];
	if (chosen.lit) pen.globalAlpha *= 0.35;
	pen.fillStyle = m.flags[i] & FAILED ? ink.bad : kind.color;
	if (m.posted[i] < m.moves[i]) { // at the edge: it must not cross the names of others in its row
		const posted = Math.max(toX(m.posted[i]), LEFT - 2);
		pen.fillRect(posted, top + MESSAGE - 2, Math.max(left - posted, 0), 1);
	}
	pen.fillRect(left, top, width, MESSAGE - 1);
	if (width > 40 && MESSAGE > 6) write(fitting(kind.name, width - 4), left + 2, top + MESSAGE / 2 - 0.5, "#111", Math.min(10, MESSAGE - 1) + "px system-ui, sans-serif");
}

// drawGaps marks the longest gaps, with their causes where there is room.
function drawGaps() {
	for (const gap of gaps) {
		const left = toX(gap.from), right = toX(gap.to), y = toY(gap.lane.y) + LANE / 2;
		if (gap.lane.rank.folded || right < LEFT || left > view.width || right - left < 8) continue;
		pen.globalAlpha = 1;
		pen.strokeStyle = ink.before;
		pen.lineWidth = 1.5;
		pen.setLineDash([4, 3]);
		pen.strokeRect(left + 1, toY(gap.lane.y) + 1, right - left - 2, gap.lane.height - 2);
		pen.setLineDash([]);
		const shown = Math.max(left, LEFT), room = right - shown - 8, time = short(span(gap.to - gap.from)), all = time + ": " + causeOf(gap);
		const text = fitting(all, room), enough = text === all || text.length > time.length + 10; // of the cause
		write(enough ? text : fitting(time, room) === time ? time : "", shown + 5, y, ink.ink);
	}
}

// drawMessages draws the arrows of the messages on the screen.
function drawMessages() {
	let left = MESSAGES_AT_ONCE;
	for (const rank of trace.ranks) {
		const m = rank.messages;
		if (!rank.messageLane) continue;
		for (let i = 0; i < m.posted.length && left > 0 && m.posted[i] < view.to; i++) {
			if (!(m.flags[i] & OUT) || m.mate[i] === NONE) continue;
			const other = trace.ranks[m.mateRank[i]], done = other.messages.done[m.mate[i]];
			if (done < view.from || done < m.posted[i]) continue;
			left--;
			arrow(toX(m.posted[i]), toY(messageAnchor(rank, i).y), toX(done), toY(messageAnchor(other, m.mate[i]).y), ink.message, 1, 0.45);
		}
	}
}

function arrow(x1, y1, x2, y2, color, width, alpha = 1) {
	const bend = Math.min(40, Math.abs(x2 - x1) / 2 + 6), lift = Math.abs(y2 - y1) < 1 ? LANE * 0.6 : 0; // over what lies between
	pen.globalAlpha = alpha;
	pen.strokeStyle = pen.fillStyle = color;
	pen.lineWidth = width;
	pen.beginPath();
	pen.moveTo(x1, y1);
	pen.bezierCurveTo(x1 + bend, y1 - lift, x2 - bend, y2 - lift, x2 - 4, y2);
	pen.stroke();
	pen.beginPath();
	pen.moveTo(x2, y2);
	pen.lineTo(x2 - 6, y2 - 3);
	pen.lineTo(x2 - 6, y2 + 3);
	pen.fill();
	pen.globalAlpha = 1;
}

// drawSelection frames what is selected and draws what belongs to it. It returns
// the number of arrows.
function drawSelection() {
	const s = chosen.selection;
	if (!s) return 0;
	if (s.kind === "task") return drawDependences(s.rank, s.what);
	if (s.kind === "message") return drawLetter(s.rank, s.what);
	frame(s.at, s.end, toY(s.lane.y), s.lane.height, ink.mark, 2);
	return 0;
}

function frame(at, end, top, height, color, width) {
	const left = toX(at);
	pen.globalAlpha = 1;
	pen.strokeStyle = color;
	pen.lineWidth = width;
	pen.strokeRect(left - 1, top - 1, Math.max(toX(end) - left, 2) + 1, height + 2);
}

function drawDependences(rank, t) {
	const here = anchor(rank, t), last = lastPred(rank, t);
	let n = 0;
	if (!here) return n;
	const draw = (from, to, color, width) => {
		if (n++ < 2 * ARROWS) arrow(toX(from.end), toY(from.y), toX(to.start), toY(to.y), color, width);
	};
	for (const q of preds(rank, t).slice(-ARROWS)) {
		const there = anchor(rank, q);
		if (!there) continue;
		draw(there, here, ink.before, q === last ? 3 : 1.3);
		frameTask(rank, q, ink.before, q === last ? 2 : 1);
	}
	for (const q of succs(rank, t).slice(0, ARROWS)) {
		const there = anchor(rank, q);
		if (!there) continue;
		draw(here, there, ink.after, 1.3);
		frameTask(rank, q, ink.after, 1);
	}
	frameTask(rank, t, ink.mark, 2);
	return n;
}

function frameTask(rank, t, color, width) {
	const lane = rank.lanes[rank.tasks.lane[t]], sent = rank.sent.get(t);
	if (lane && rank.tasks.start[t] !== NONE) {
		const level = levelOf(lane, t, rank.tasks.start[t]);
		frame(rank.tasks.start[t], Math.max(rank.tasks.end[t], rank.tasks.start[t]), toY(lane.y) + STEP * level, lane.height - STEP * level, color, width);
	} else if (sent) {
		frameMessage(rank, sent[0], color, width);
	}
}

// levelOf is how many bodies a task runs inside of.
function levelOf(lane, t, start) {
	for (const row of lane.rows) {
		for (let i = firstAbove(row.at, start) - 1; i >= 0 && row.at[i] === start; i--) {
			if (row.kind[i] === TASK && row.what[i] === t) return row.level[i];
		}
	}
	return 0;
}

function frameMessage(rank, i, color, width) {
	frame(rank.messages.posted[i], rank.messages.done[i], toY(messageAnchor(rank, i).y) - MESSAGE / 2, MESSAGE - 1, color, width);
}

function drawLetter(rank, i) {
	const m = rank.messages, mate = m.mate[i];
	frameMessage(rank, i, ink.mark, 2);
	if (mate === NONE) return 0;
	const other = trace.ranks[m.mateRank[i]], out = m.flags[i] & OUT;
	const [from, to] = out ? [messageAnchor(rank, i), messageAnchor(other, mate)] : [messageAnchor(other, mate), messageAnchor(rank, i)];
	frameMessage(other, mate, ink.mark, 1);
	arrow(toX(from.start), toY(from.y), toX(to.end), toY(to.y), ink.message, 3);
	return 1;
}
