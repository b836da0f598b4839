// The page checks itself if its address ends in #selfcheck, and leaves what it
// found as JSON in an element of this name: {"ok", "failures": [...], "checks": n}.
// With #task=NUMBER it selects a task, with #critical it marks the critical path.

function selfCheck() {
	const failures = [];
	let checks = 0;
	const check = (ok, what) => { checks++; if (!ok && failures.length < 50) failures.push(what); };
	for (const part of [checkCounts, checkRows, checkEdges, checkMessages, checkHits, checkPicture, checkClick, checkSearch, checkKeys, checkWheel, checkPath, checkText, checkLayout, checkLoads, checkAnswer, checkFold, checkGaps]) {
		try { part(check); } catch (e) { check(false, part.name + ": " + e.stack); }
	}
	return { ok: failures.length === 0, failures, checks };
}

// checkGaps: nothing runs in a marked gap, and each has a cause.
function checkGaps(check) {
	for (const gap of gaps) {
		check(covered(gap.lane.bodies, gap.from, gap.to) === 0, "a body in a gap of " + gap.lane.name);
		check(causeOf(gap).length > 8, "the cause of a gap");
		check(gapAt((gap.from + gap.to) / 2, gap.lane.y + 1) === gap, "the gap at its own place");
	}
}

// checkFold: the lanes of a folded rank take no room and nothing is under them.
function checkFold(check) {
	for (const rank of trace.ranks.filter(r => r.name)) {
		const height = lanes.height, lane = lanes.find(l => l.rank === rank);
		if (!lane) continue;
		const y = lane.y + lane.height / 2;
		fold(rank);
		check(lanes.height < height, "folding " + rank.name);
		check(!lanes.some(l => l.rank === rank && under(view.from, y, trace.elapsed) && under(view.from, y, trace.elapsed).lane === l), "what is under a folded lane of " + rank.name);
		fold(rank);
		check(lanes.height === height && lane.y + lane.height / 2 === y, "unfolding " + rank.name);
	}
}

// checkAnswer: the answer stands on top, and its last line leads to its place.
function checkAnswer(check) {
	const box = document.getElementById("answer");
	check(box.hidden === !trace.answer, "the answer");
	if (!trace.answer) return;
	check(box.textContent === trace.answer.lines.join("\n"), "the lines of the answer");
	const before = [view.from, view.to];
	box.querySelector("a").onclick();
	check(view.from <= Math.max(trace.answer.from, 0) && view.to >= Math.min(trace.answer.to, trace.elapsed), "the place of the answer");
	look(...before);
}

// some are at most n of the tasks of a rank, spread evenly.
function* some(n) {
	for (const rank of trace.ranks) {
		const all = rank.tasks.number.length;
		for (let i = 0; i < all; i += Math.max(1, Math.ceil(all / n))) yield [rank, i];
	}
}

function checkCounts(check) {
	for (const rank of trace.ranks) {
		const spans = lanes.filter(l => l.rank === rank && l.role !== "messages").reduce((sum, l) => sum + l.rows.reduce((n, r) => n + r.at.length, 0), 0);
		check(rank.tasks.number.length === rank.count.tasks, "tasks of rank " + rank.number);
		check(rank.messages.posted.length === rank.count.messages, "messages of rank " + rank.number);
		check(rank.from.length === rank.count.edges && rank.tasks.first[rank.count.tasks] === rank.count.edges, "dependences of rank " + rank.number);
		check(spans === rank.count.spans, "spans of rank " + rank.number);
		for (const name in rank.tasks) check(rank.tasks[name].length >= rank.count.tasks, "column " + name);
	}
}

function checkRows(check) {
	for (const lane of lanes) {
		if (lane.role === "messages") continue;
		for (const row of lane.rows) {
			for (let i = 0; i < row.at.length; i++) {
				check(row.at[i] >= 0 && row.at[i] <= row.end[i] && row.end[i] <= trace.elapsed, lane.name + ": span " + i + " lies in the run");
				check(i === 0 || row.end[i - 1] <= row.at[i], lane.name + ": spans of a row overlap at " + i);
				check(row.kind[i] !== TASK || row.what[i] >= 0 && row.what[i] < lane.rank.count.tasks, lane.name + ": body of no task");
			}
		}
	}
}

function checkEdges(check) {
	for (const [rank, t] of some(2000)) {
		for (const q of preds(rank, t)) {
			check(q >= 0 && q < t, nameOf(rank, t) + " waits for a younger task");
			check(succs(rank, q).includes(t), nameOf(rank, q) + " does not know its successor");
			check(began(rank, t) !== NONE || !rank.sent.has(t), nameOf(rank, t) + " has messages and never began");
		}
	}
}

function checkMessages(check) {
	for (const rank of trace.ranks) {
		const m = rank.messages;
		for (let i = 0; i < m.posted.length; i++) {
			check(m.ready[i] <= m.posted[i] && m.posted[i] <= m.moves[i] && m.moves[i] <= m.done[i], "times of message " + i);
			check(trace.kinds[m.kind[i]] !== undefined, "kind of message " + i);
			if (m.mate[i] === NONE) continue;
			const other = trace.ranks[m.mateRank[i]].messages;
			check(other.mate[m.mate[i]] === i && trace.ranks[other.mateRank[m.mate[i]]] === rank, "the mate of message " + i + " has another one");
			check((m.flags[i] & OUT) !== 0 !== ((other.flags[m.mate[i]] & OUT) !== 0), "two sends are one message");
		}
	}
}

// checkHits looks for tasks where they are drawn.
function checkHits(check) {
	for (const [rank, t] of some(300)) {
		const start = rank.tasks.start[t], lane = rank.lanes[rank.tasks.lane[t]];
		if (start === NONE || !lane || rank.tasks.end[t] <= start || rank.tasks.flags[t] & SKIPPED) continue;
		show({ kind: "task", rank, what: t }, true);
		const found = under(start, lane.y + lane.height - 1, 0);
		const inside = found && found.rank === rank && found.at >= start && found.end <= Math.max(rank.tasks.end[t], found.at);
		check(found && (found.kind === "task" && found.what === t || inside), nameOf(rank, t) + " is not where it is drawn");
		check(view.from <= start && start <= view.to, nameOf(rank, t) + " is not on the screen");
	}
}

// plain is the longest task that has nothing inside.
function plain() {
	let best = null;
	for (const lane of lanes) {
		const row = lane.rows[lane.rows.length - 1];
		if (!row || lane.role === "messages") continue;
		for (let i = 0; i < row.at.length; i++) {
			if (row.kind[i] === TASK && (!best || row.end[i] - row.at[i] > best.end - best.at)) best = picked(lane, row, i);
		}
	}
	return best;
}

function pixel(x, y) {
	const ratio = window.devicePixelRatio || 1;
	return Array.from(pen.getImageData(Math.round(x * ratio), Math.round(y * ratio), 1, 1).data.slice(0, 3));
}

const close = (a, b) => a.every((v, i) => Math.abs(v - b[i]) <= 3);

function checkPicture(check) {
	const task = plain();
	if (!task || task.end - task.at < NARROWEST) return;
	clear();
	show(task, true);
	draw();
	const color = labelOf(task.rank, task.what).color, rgb = [1, 3, 5].map(i => parseInt(color.slice(i, i + 2), 16));
	const x = (toX(task.at) + toX(task.end)) / 2, y = toY(task.lane.y + task.lane.height - 5);
	check(close(pixel(x, y), rgb), "a task of " + color + " is drawn as " + pixel(x, y));
	const paper = pixel(LEFT - 2, TOP + 1);
	check(!close(paper, rgb), "everything has one colour");
	chosen.lit = () => false;
	draw();
	check(!close(pixel(x, y), rgb), "a task that was not found is not dimmed");
	clear();
}

function pointer(type, x, y) {
	const box = canvas.getBoundingClientRect();
	canvas.dispatchEvent(new PointerEvent(type, { clientX: box.left + x, clientY: box.top + y, pointerId: 1, bubbles: true }));
}

function checkClick(check) {
	const task = plain(), details = document.getElementById("details");
	if (!task || task.end - task.at < NARROWEST) return;
	show(task, true);
	choose(null);
	check(details.querySelector("h2") === null, "nothing is selected, and the panel shows something");
	const x = (toX(task.at) + toX(task.end)) / 2, y = toY(task.lane.y + task.lane.height - 5);
	pointer("pointerdown", x, y);
	pointer("pointerup", x, y);
	check(details.querySelector("h2")?.textContent === nameOf(task.rank, task.what), "a click on " + nameOf(task.rank, task.what) + " shows " + details.textContent.slice(0, 40));
	const near = preds(task.rank, task.what).concat(succs(task.rank, task.what)).filter(q => anchor(task.rank, q)).length;
	check(drawSelection() === Math.min(near, 2 * ARROWS), "arrows of " + nameOf(task.rank, task.what));
	pointer("pointerdown", x, y);
	const from = view.from;
	pointer("pointermove", x - 100, y);
	pointer("pointerup", x - 100, y);
	check(view.from !== from || view.to - view.from >= trace.elapsed, "dragging moves nothing");
	check(chosen.selection !== null, "dragging loses the selection");
}

function checkSearch(check) {
	const names = new Set(trace.labels.filter(l => l.count > 0).slice(0, 20).map(l => l.name));
	for (const name of names) {
		find(name);
		let want = 0;
		for (const rank of trace.ranks) {
			for (const l of rank.tasks.label) {
				const label = trace.labels[l], text = name.trim().toLowerCase();
				if (!/^#?\d+$/.test(text) && (label.name.toLowerCase().includes(text) || (label.source || "").toLowerCase().includes(text))) want++;
			}
		}
		check(/^#?\d+$/.test(name) || matches.all.length === want && want > 0, "search for " + name + " finds " + matches.all.length + " of " + want);
	}
	for (const [rank, t] of some(5)) {
		find("#" + rank.tasks.number[t]);
		check(matches.all.some(m => m.rank === rank && m.what === t), "search for #" + rank.tasks.number[t]);
		nextMatch(1);
		check(chosen.selection !== null, "enter goes nowhere");
	}
	find("no such label, surely");
	check(matches.all.length === 0, "search finds what is not there");
	clear();
}

const type = key => document.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));

function checkKeys(check) {
	type("0");
	if (trace.elapsed < 10 * NARROWEST) return;
	const whole = view.to - view.from;
	type("+");
	type("+");
	const length = view.to - view.from, from = view.from;
	check(length < 0.5 * whole, "+ does not zoom in");
	type("ArrowRight");
	check(view.from > from && Math.abs(view.to - view.from - length) < 1e-6 * whole, "→ does not move");
	type("-");
	check(view.to - view.from > length, "− does not zoom out");
	type("c");
	check(chosen.lit !== null && pressed("critical"), "c does not mark the critical path");
	type("Escape");
	check(chosen.lit === null && chosen.selection === null, "escape does not clear");
	type("0");
	check(Math.abs(view.to - view.from - whole) < 1e-6 * whole, "0 does not show all");
}

function checkWheel(check) {
	if (trace.elapsed < 10 * NARROWEST) return;
	type("0");
	const x = Math.floor(LEFT + wide() / 3), t = toTime(x), length = view.to - view.from, box = canvas.getBoundingClientRect();
	canvas.dispatchEvent(new WheelEvent("wheel", { deltaY: -200, clientX: box.left + x, clientY: box.top + TOP + 5, cancelable: true }));
	check(view.to - view.from < length, "the wheel does not zoom");
	check(Math.abs(toTime(x) - t) < length * 1e-6, "the time under the pointer moves");
	type("0");
}

function checkPath(check) {
	for (const rank of trace.ranks) {
		let sum = 0;
		for (const own of rank.path.values()) sum += own;
		check(sum <= rank.end - rank.begin, "the critical path is longer than the run");
	}
	check(trace.labels.every(l => l.count === 0) || trace.cut !== null || trace.ranks.some(r => r.path.size > 0), "no critical path");
}

// checkText makes sure that names are shown as they are, and never become a part
// of the page.
function checkText(check) {
	const shown = Array.from(document.querySelectorAll("#legend td.name"), e => e.textContent);
	for (const l of trace.labels) check(l.count === 0 || shown.includes(l.name), "the legend lacks " + l.name);
	check(document.getElementById("summary").textContent === trace.summary, "the summary is not as it was written");
	check(document.querySelectorAll("script").length === 2 && document.querySelectorAll("img, iframe, link[rel=stylesheet]").length === 0, "there are elements that no one wrote");
}

// checkLayout makes sure that the timeline is the larger part of the window, and that an
// empty one says why it is.
function checkLayout(check) {
	const box = canvas.getBoundingClientRect();
	check(box.width > 0.55 * window.innerWidth, "the timeline has " + box.width + " of " + window.innerWidth + " pixels");
	check(document.documentElement.scrollWidth <= window.innerWidth, "the page is wider than the window");
	if (lanes.length > 0) return;
	draw();
	const paper = pixel(LEFT + 5, TOP + 40), text = new Set();
	for (let x = 0; x < 100; x++) text.add(String(pixel(LEFT + 20 + x, TOP + 40)));
	check(text.size > 2 && text.has(String(paper)), "nothing says that the log is empty");
}

function checkLoads(check) {
	check(performance.getEntriesByType("resource").filter(r => !r.name.startsWith("data:")).length === 0, "the page loads something");
}

// timeDrawing is how long one picture of the whole run takes, in ms.
function timeDrawing() {
	lookAtAll();
	const begin = performance.now();
	for (let i = 0; i < 10; i++) draw();
	pen.getImageData(0, 0, 1, 1); // until it is done
	return (performance.now() - begin) / 10;
}

function runFragment() {
	const wish = decodeURIComponent(location.hash.slice(1)), number = /^task=(\d+)$/.exec(wish);
	if (wish === "selfcheck") {
		const result = element("pre");
		result.id = "selfcheck";
		result.textContent = JSON.stringify(Object.assign(selfCheck(), { drawing: timeDrawing(), loading: performance.now() }));
		document.body.append(result);
	} else if (wish === "critical") {
		showCritical(true);
	} else if (number) {
		find("#" + number[1]);
		nextMatch(1);
		find("");
	}
	draw();
}

runFragment();
