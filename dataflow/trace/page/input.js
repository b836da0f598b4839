// What the user does: pointer, keys, search, buttons.

const NARROWEST = 20; // ns, the shortest time that the screen can show

// look moves the view, as far as there is anything to see.
function look(from, to, down = view.down) {
	const whole = Math.max(trace.elapsed, 1), length = Math.min(Math.max(to - from, NARROWEST), Math.max(whole * 1.02, NARROWEST));
	const middle = (from + to) / 2, edge = whole * 0.01;
	view.from = Math.min(Math.max(middle - length / 2, -edge), Math.max(whole + edge - length, -edge));
	view.to = view.from + length;
	view.down = Math.max(0, Math.min(down, lanes.height + TOP - view.height + 10));
	redraw();
}

const lookAtAll = () => look(-trace.elapsed * 0.005, trace.elapsed * 1.005, view.down);

// zoom keeps the time at x where it is.
function zoom(factor, x = LEFT + wide() / 2) {
	const t = toTime(x), length = (view.to - view.from) * factor;
	if (length < NARROWEST) return;
	look(t - (t - view.from) * factor, t + (view.to - t) * factor);
}

// timesAndPlace is where a selection lies.
function timesAndPlace(s) {
	if (s.kind === "state") return { start: s.at, end: s.end, y: s.lane.y + LANE / 2 };
	return s.kind === "task" ? anchor(s.rank, s.what) : messageAnchor(s.rank, s.what);
}

// show selects something, and brings it on the screen if it is not.
function show(selection, closely = false) {
	chosen.selection = selection;
	drawPanel();
	const place = selection && timesAndPlace(selection);
	if (!place) return redraw();
	let { from, to, down } = view;
	const length = Math.max(place.end - place.start, 1);
	if (closely || place.start < from || place.start > to || length < (to - from) / wide()) {
		const wish = closely ? length * 4 : length < (to - from) / wide() ? Math.min(to - from, length * 30) : to - from;
		const middle = place.start + Math.min(length, wish / 2) / 2;
		[from, to] = [middle - wish / 2, middle + wish / 2];
	}
	if (toY(place.y) < TOP + 20 || toY(place.y) > view.height - 20) down = place.y - (view.height - TOP) / 2;
	look(from, to, down);
}

// choose selects without moving the view.
function choose(selection) {
	chosen.selection = selection;
	drawPanel();
	redraw();
}

function underPointer(e) {
	const box = canvas.getBoundingClientRect(), x = e.clientX - box.left, y = e.clientY - box.top;
	const found = x > LEFT && y > TOP ? under(toTime(x), y - TOP + view.down, 3 * (view.to - view.from) / wide()) : null;
	return { x, y, found };
}

const drag = { on: false, moved: false, overview: false, x: 0, y: 0 };

canvas.addEventListener("pointerdown", e => {
	const { x, y } = underPointer(e);
	Object.assign(drag, { on: true, moved: false, overview: y < OVERVIEW && x > LEFT, x, y });
	try { canvas.setPointerCapture(e.pointerId); } catch (_) { /* a made-up pointer of the self-check */ }
	canvas.focus({ preventScroll: true });
	if (drag.overview) lookFromOverview(x);
});

canvas.addEventListener("pointermove", e => {
	const { x, y, found } = underPointer(e);
	if (!drag.on) return hover(found, x, y);
	if (drag.overview) return lookFromOverview(x);
	if (!drag.moved && Math.hypot(x - drag.x, y - drag.y) < 4) return;
	drag.moved = true;
	hover(null);
	const shift = (drag.x - x) / wide() * (view.to - view.from);
	look(view.from + shift, view.to + shift, view.down + drag.y - y);
	Object.assign(drag, { x, y });
});

canvas.addEventListener("pointerup", e => {
	if (drag.on && !drag.moved && !drag.overview) {
		const { y, found } = underPointer(e), head = found || y <= TOP ? undefined : headAt(y - TOP + view.down);
		if (head) {
			fold(head);
			look(view.from, view.to);
		} else {
			const gap = found && found.kind !== "state" ? undefined : gapAt(toTime(underPointer(e).x), y - TOP + view.down);
			choose(gap ? { kind: "task", rank: gap.lane.rank, what: gap.what } : found);
		}
	}
	drag.on = false;
});
canvas.addEventListener("pointercancel", () => { drag.on = false; });
canvas.addEventListener("pointerleave", () => hover(null));
canvas.addEventListener("dblclick", e => {
	const { found } = underPointer(e);
	if (found) show(found, true);
});

canvas.addEventListener("wheel", e => {
	e.preventDefault();
	const { x } = underPointer(e), step = e.deltaMode === 1 ? 16 : 1;
	if (e.shiftKey || x < LEFT) return look(view.from, view.to, view.down + (e.deltaY || e.deltaX) * step);
	if (Math.abs(e.deltaX) > Math.abs(e.deltaY)) {
		const shift = e.deltaX * step / wide() * (view.to - view.from);
		return look(view.from + shift, view.to + shift);
	}
	zoom(Math.exp(Math.max(-1, Math.min(1, e.deltaY * step / 300))), x);
}, { passive: false });

function lookFromOverview(x) {
	const middle = (x - LEFT) / wide() * trace.elapsed, half = (view.to - view.from) / 2;
	look(middle - half, middle + half);
}

function hover(found, x, y) {
	const tip = document.getElementById("tip");
	tip.hidden = !found;
	canvas.style.cursor = found ? "pointer" : "default";
	if (!found) return;
	const name = found.kind === "task" ? nameOf(found.rank, found.what) : found.kind === "message" ? messageName(found.rank, found.what) + ", " + size(found.rank.messages.bytes[found.what]) : STATES[found.state];
	tip.textContent = name + "\n" + span(found.end - found.at);
	tip.style.left = Math.max(0, Math.min(x + 12, view.width - tip.offsetWidth - 4)) + "px";
	tip.style.top = Math.min(y + 14, view.height - tip.offsetHeight - 4) + "px";
}

// Search and critical path: both light up some tasks and dim the others.

const matches = { all: [], at: NONE };

// matching returns the tasks of a label, a number or a source.
function matching(text) {
	const wanted = text.trim().toLowerCase(), number = /^#?\d+$/.test(wanted) ? Number(wanted.replace("#", "")) : NONE;
	const labels = trace.labels.map(l => number === NONE && (l.name.toLowerCase().includes(wanted) || (l.source || "").toLowerCase().includes(wanted)));
	const found = [];
	for (const rank of trace.ranks) {
		const k = rank.tasks;
		for (let t = 0; t < k.number.length; t++) {
			if (labels[k.label[t]] || k.number[t] === number) found.push({ rank, what: t, at: k.start[t] !== NONE ? k.start[t] : k.spawned[t] });
		}
	}
	return found.sort((a, b) => a.at - b.at);
}

function find(text) {
	document.getElementById("search").value = text;
	press("critical", false);
	matches.all = text.trim() ? matching(text) : [];
	matches.at = NONE;
	const sets = new Map(trace.ranks.map(r => [r, new Set()]));
	for (const m of matches.all) sets.get(m.rank).add(m.what);
	chosen.lit = text.trim() ? (rank, t) => sets.get(rank).has(t) : null;
	tellFound(text);
	redraw();
}

function tellFound(text) {
	document.getElementById("found").textContent = !text.trim() ? "" : matches.at === NONE ? count(matches.all.length, "task") : (matches.at + 1) + " of " + matches.all.length;
}

function nextMatch(step) {
	const n = matches.all.length;
	if (!n) return;
	matches.at = matches.at === NONE ? (step > 0 ? 0 : n - 1) : (matches.at + step + n) % n;
	show({ kind: "task", rank: matches.all[matches.at].rank, what: matches.all[matches.at].what });
	tellFound(document.getElementById("search").value);
}

function showCritical(on) {
	find("");
	press("critical", on);
	chosen.lit = on ? (rank, t) => rank.path.has(t) : null;
	redraw();
}

const pressed = id => document.getElementById(id).getAttribute("aria-pressed") === "true";
const press = (id, on) => document.getElementById(id).setAttribute("aria-pressed", String(on));

function showMessages(on) {
	view.messages = on;
	press("arrows", on);
	redraw();
}

const search = document.getElementById("search");
search.addEventListener("input", () => find(search.value));
search.addEventListener("keydown", e => {
	if (e.key === "Enter") nextMatch(e.shiftKey ? -1 : 1);
	if (e.key === "Escape") { clear(); canvas.focus(); }
	e.stopPropagation();
});
document.getElementById("critical").addEventListener("click", () => showCritical(!pressed("critical")));
document.getElementById("arrows").addEventListener("click", () => showMessages(!pressed("arrows")));
document.getElementById("whole").addEventListener("click", lookAtAll);

function clear() {
	showCritical(false);
	choose(null);
}

// step goes to a task that belongs to the selected one.
function step(to) {
	const s = chosen.selection;
	if (!s || s.kind !== "task") return;
	const next = to(s.rank, s.what);
	if (next !== NONE && next !== undefined) show({ kind: "task", rank: s.rank, what: next });
}

const firstSucc = (rank, t) => succs(rank, t).filter(q => anchor(rank, q)).sort((a, b) => rank.tasks.start[a] - rank.tasks.start[b])[0];

// beside is the task that ran before (-1) or after (1) one on its lane.
const beside = way => (rank, t) => {
	const lane = rank.lanes[rank.tasks.lane[t]];
	if (!lane) return NONE;
	const row = lane.bodies, i = firstAbove(row.at, rank.tasks.start[t]) - 1;
	return row.what[i + way];
};

const pan = share => look(view.from + share * (view.to - view.from), view.to + share * (view.to - view.from));
const keys = {
	ArrowLeft: () => pan(-0.2), a: () => pan(-0.2), ArrowRight: () => pan(0.2), d: () => pan(0.2),
	ArrowUp: () => look(view.from, view.to, view.down - 60), ArrowDown: () => look(view.from, view.to, view.down + 60),
	PageUp: () => look(view.from, view.to, view.down - view.height / 2), PageDown: () => look(view.from, view.to, view.down + view.height / 2),
	"+": () => zoom(0.6), "=": () => zoom(0.6), w: () => zoom(0.6), "-": () => zoom(1 / 0.6), s: () => zoom(1 / 0.6),
	0: lookAtAll, Home: lookAtAll, f: () => chosen.selection && show(chosen.selection, true),
	"[": () => step(lastPred), "]": () => step(firstSucc), ",": () => step(beside(-1)), ".": () => step(beside(1)),
	n: () => nextMatch(1), N: () => nextMatch(-1), "/": () => search.focus(),
	c: () => showCritical(!pressed("critical")), m: () => showMessages(!pressed("arrows")), Escape: clear,
	"?": () => { document.getElementById("help").open = true; document.getElementById("help").scrollIntoView(); },
};

document.addEventListener("keydown", e => {
	if (e.ctrlKey || e.metaKey || e.altKey || !keys[e.key]) return;
	e.preventDefault();
	keys[e.key]();
});

window.addEventListener("resize", () => { resize(); look(view.from, view.to); });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { readColors(); redraw(); });

readColors();
resize();
drawHead();
drawLegend();
drawPanel();
lookAtAll();
if (trace.cut) look(0, trace.cut.at * 1.02);
draw();
canvas.focus({ preventScroll: true });
