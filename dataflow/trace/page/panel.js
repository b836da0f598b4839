// The panel: what is selected, the totals, and the summary. Names come from the
// program that was traced and only ever become text.

function element(tag, text = "", kind = "") {
	const e = document.createElement(tag);
	e.textContent = text;
	if (kind) e.className = kind;
	return e;
}

// table makes rows of [cell, ...]; a cell is text or an element, and numbers is
// the set of columns that are aligned right.
function table(rows, numbers, head) {
	const t = element("table");
	const add = (cells, tag) => {
		const r = t.insertRow();
		cells.forEach((cell, i) => {
			const c = element(tag, typeof cell === "string" ? cell : "", numbers.has(i) ? "number" : i === 0 ? "name" : "");
			if (typeof cell !== "string") c.append(cell);
			r.append(c);
		});
		return r;
	};
	if (head) add(head, "th");
	t.rowsOf = rows.map(cells => add(cells, "td"));
	return t;
}

function named(color, text) {
	const s = element("span"), square = element("span", "", "swatch");
	square.style.background = color;
	s.append(square, text);
	return s;
}

function taskLink(rank, t) {
	const a = element("a", nameOf(rank, t));
	a.onclick = () => show({ kind: "task", rank, what: t });
	return a;
}

function messageLink(rank, i, text) {
	const a = element("a", text);
	a.onclick = () => show({ kind: "message", rank, what: i });
	return a;
}

// say makes a paragraph of texts and elements.
function say(kind, ...parts) {
	const p = element("p", "", kind);
	p.append(...parts);
	return p;
}

function drawPanel() {
	const box = document.getElementById("details"), s = chosen.selection;
	box.replaceChildren();
	if (!s) box.append(element("span", lanes.length ? "Click on a task to see what it waited for." : "There is nothing to select.", "faint"));
	else if (s.kind === "task") taskPanel(box, s.rank, s.what);
	else if (s.kind === "message") messagePanel(box, s.rank, s.what);
	else statePanel(box, s);
}

const where = rank => rank.name ? rank.name + ", " : "";

function taskPanel(box, rank, t) {
	const k = rank.tasks, label = labelOf(rank, t), lane = rank.lanes[k.lane[t]], flags = k.flags[t];
	const title = element("h2");
	title.append(named(label.color, nameOf(rank, t)));
	box.append(title, say("faint", where(rank) + (lane ? lane.name : "no body") + (label.source ? " — " + label.source : "")));
	for (const [bit, text] of [[FAILED, "failed"], [SKIPPED, "skipped: it did not run"], [CUT, "its start or its end is not in the log"]]) {
		if (flags & bit) box.append(say("bad", text));
	}
	box.append(say("why", ...why(rank, t)));
	box.append(timesOf(rank, t));
	if (rank.path.has(t)) box.append(say("why", "On the critical path" + (rank.name ? " of its rank" : "") + ", for " + span(rank.path.get(t)) + "."));
	if (k.parent[t] !== NONE) box.append(say("why", "Child of ", taskLink(rank, k.parent[t]), "."));
	relations(box, rank, t);
	const sent = rank.sent.get(t) || [];
	if (sent.length) {
		box.append(element("h3", "messages"));
		box.append(table(sent.slice(0, 20).map(i => [messageLink(rank, i, messageName(rank, i)), size(rank.messages.bytes[i]), span(rank.messages.done[i] - rank.messages.posted[i])]), new Set([1, 2])));
	}
}

function timesOf(rank, t) {
	const k = rank.tasks, rows = [];
	const row = (name, at, since, from) => {
		if (at !== NONE) rows.push([name, span(at), since !== undefined && since !== NONE ? "+" + span(at - since).replace("+−", "−") : "", from || ""]);
	};
	row("submitted", k.spawned[t]);
	row("ready", k.ready[t], k.spawned[t]);
	row("started", k.start[t], k.ready[t]);
	row("ended", k.end[t], k.start[t]);
	row("released", k.done[t], k.end[t]);
	rows.forEach(r => r.pop());
	if (k.body[t] > 0 && k.body[t] !== k.end[t] - k.start[t]) rows.push(["in its own body", "", span(k.body[t])]);
	return table(rows, new Set([1, 2]), ["", "at", "later by"]);
}

// relations lists predecessors, the last one first, and successors.
function relations(box, rank, t) {
	const before = preds(rank, t).sort((a, b) => released(rank, b) - released(rank, a));
	const waited = waitedFor(rank, t), ended = before.length - waited.size;
	const after = succs(rank, t).sort((a, b) => began(rank, a) - began(rank, b));
	const start = rank.tasks.start[t] !== NONE ? rank.tasks.start[t] : rank.tasks.ready[t];
	if (before.length) {
		box.append(element("h3", "waited for " + count(waited.size, "task") + (ended ? ", came after " + ended + " that had ended" : "")));
		const rows = before.slice(0, 12).map(q => [taskLink(rank, q), released(rank, q) === NONE ? "not in the log" : span(start - released(rank, q)) + " before",
			waited.has(q) ? "" : "had ended"]);
		box.append(table(rows, new Set([1]), ["predecessor", "released", ""]));
		more(box, before);
	}
	if (after.length) {
		box.append(element("h3", count(after.length, "task") + " came after it"));
		const rows = after.slice(0, 12).map(q => [taskLink(rank, q), began(rank, q) === NONE ? "not in the log" : span(began(rank, q) - released(rank, t)) + " after",
			lastPred(rank, q) === t ? "for it last" : ""]);
		box.append(table(rows, new Set([1]), ["successor", "started", ""]));
		more(box, after);
	}
}

// began is when a task started; one without a body, when its first message was posted.
const began = (rank, t) => rank.tasks.start[t] !== NONE || !rank.sent.has(t) ? rank.tasks.start[t] : rank.messages.posted[rank.sent.get(t)[0]];

function more(box, all) {
	if (all.length > 12) box.append(say("faint", "and " + (all.length - 12) + " more"));
}

// why says in words what made a task start when it did.
function why(rank, t) {
	const k = rank.tasks, last = lastPred(rank, t);
	if (k.spawned[t] === NONE || k.start[t] === NONE) return carried(rank, t);
	const queue = k.start[t] - k.ready[t], data = k.ready[t] - k.spawned[t];
	if (data > queue && last !== NONE) {
		return ["Its data made it wait: ", span(data) + " for ", taskLink(rank, last), chain(rank, last), queue > 0 ? ". After that a worker took " + span(queue) + " to begin it." : "."];
	}
	const workers = lanes.filter(l => l.rank === rank && l.role === "worker");
	if (queue > 1000 && queue > data) {
		const busy = busyShare(workers, workers.length, k.ready[t], k.start[t]);
		const reason = busy > 0.9 ? "all cores had other work: more cores, or a higher priority, would have helped."
			: "workers were free for a part of it: waking one, or finding the task, took that long.";
		return ["It was ready for " + span(queue) + " before it began. In this time the workers were " + percent(busy) + " busy; " + reason];
	}
	const gone = last === NONE ? NONE : released(rank, last);
	if (gone !== NONE && gone < k.spawned[t]) {
		return ["Its data was there " + span(k.spawned[t] - gone) + " before it was submitted: the submitting program was what it waited for."];
	}
	return ["It began " + span(k.start[t] - k.spawned[t]) + " after it was submitted: nothing held it up."];
}

// carried speaks of tasks without a body: the communication thread did the work.
function carried(rank, t) {
	const sent = rank.sent.get(t);
	if (!sent) return [rank.tasks.start[t] === NONE ? "It has no body in the log." : "Its submission is not in the log."];
	return ["The communication thread carried it out: see its messages."];
}

// chain follows the last predecessors back.
function chain(rank, t) {
	const names = [];
	for (let q = lastPred(rank, t); q !== NONE && names.length < 6; q = lastPred(rank, q)) names.push(nameOf(rank, q));
	return names.length ? ", which came after " + names.join(", ") : "";
}

const messageName = (rank, i) => {
	const m = rank.messages, way = m.flags[i] & OUT ? " to " : m.flags[i] & IN ? " from " : "";
	return trace.kinds[m.kind[i]].name + (way ? way + m.peer[i] : "");
};

function messagePanel(box, rank, i) {
	const m = rank.messages, title = element("h2");
	title.append(named(trace.kinds[m.kind[i]].color, messageName(rank, i)));
	box.append(title, say("faint", where(rank) + size(m.bytes[i]) + ", tag " + m.tag[i] + ", communicator " + m.comm[i] + ", number " + m.seq[i]));
	for (const [bit, text] of [[FAILED, "failed"], [OPEN, "not complete when the log was taken"], [UNMATCHED, "the other side is in no log"]]) {
		if (m.flags[i] & bit) box.append(say("bad", text));
	}
	const time = m.done[i] - m.moves[i], workers = lanes.filter(l => l.rank === rank && l.role === "worker");
	const busy = busyShare(workers, workers.length, m.moves[i], m.done[i]);
	box.append(table([["ready", span(m.ready[i]), ""], ["posted", span(m.posted[i]), "+" + span(m.posted[i] - m.ready[i])], ["sent", span(m.moves[i]), "+" + span(m.moves[i] - m.posted[i])], ["done", span(m.done[i]), "+" + span(time)]], new Set([1, 2])));
	box.append(say("why", (time > 0 ? (m.bytes[i] / time).toFixed(3) + " GB/s from then on. " : "") + "Meanwhile the workers of this rank were " + percent(busy) + " busy."));
	if (m.mate[i] !== NONE) {
		const other = trace.ranks[m.mateRank[i]];
		box.append(say("why", "The other side: ", messageLink(other, m.mate[i], where(other) + messageName(other, m.mate[i])), "."));
		box.append(say("why", lateSide(rank, i, other, m.mate[i])));
	}
	if (m.task[i] !== NONE) box.append(say("why", "Task: ", taskLink(rank, m.task[i]), "."));
}

// lateSide says which side of a message came last.
function lateSide(rank, i, other, mate) {
	const out = rank.messages.flags[i] & OUT;
	const sent = out ? rank.messages.posted[i] : other.messages.posted[mate], posted = out ? other.messages.posted[mate] : rank.messages.posted[i];
	return sent > posted ? "The send was posted " + span(sent - posted) + " after the receive." : "The receive was posted " + span(posted - sent) + " after the send.";
}

function statePanel(box, s) {
	box.append(element("h2", STATES[s.state]), say("faint", where(s.rank) + s.lane.name));
	box.append(table([["from", span(s.at)], ["to", span(s.end)], ["for", span(s.end - s.at)]], new Set([1])));
	if (s.what !== NONE) box.append(say("why", "Of ", taskLink(s.rank, s.what), "."));
	if (s.state === PARK) box.append(say("why", "The worker was asleep: there was no task for it."));
}

// drawLegend lists the labels and the kinds of messages with their totals, and what the signs mean.
function drawLegend() {
	const box = document.getElementById("legend");
	box.replaceChildren(element("h3", trace.compared ? "time in bodies" : "time in bodies, of the whole run"));
	box.append(trace.compared ? comparedTable() : labelTable());
	if (trace.kinds.length) {
		box.append(element("h3", "messages, from the later post to completion" + (trace.compared ? ", of both runs" : "")));
		box.append(table(trace.kinds.map(k => [named(k.color, k.name), String(k.count), size(k.bytes || 0), span(k.mean), span(k.max)]), new Set([1, 2, 3, 4]), ["kind", "count", "bytes", "mean", "longest"]));
	}
	box.append(element("h3", "states"));
	const states = element("p", "", "why");
	for (const [name, color, kind] of [["wait", "wait"], ["parked (asleep)", "park", "low"], ["blocked (core given away)", "block"]]) {
		const s = named("", name);
		s.className = "state";
		s.firstChild.style.background = `var(--${color})`;
		if (kind) s.firstChild.classList.add(kind);
		states.append(s, " ");
	}
	for (const [name, kind] of [["longest gaps: click", "gap"], ["posted, its bytes cannot move yet", "line"]]) {
		const s = named("", name);
		s.className = "state";
		s.firstChild.classList.add(kind);
		states.append(s, " ");
	}
	box.append(states);
}

// labelTable lists the labels; a click searches for one.
function labelTable() {
	const all = trace.labels.filter(l => l.count > 0).sort((a, b) => b.total - a.total), work = all.reduce((sum, l) => sum + l.total, 0);
	return searching(all, table(all.map(l => [named(l.color, l.name), String(l.count), span(l.total), span(l.mean), percent(l.total / Math.max(work, 1))]), new Set([1, 2, 3, 4]), ["label", "tasks", "total", "mean", "share"]));
}

// comparedTable lists the labels of two runs.
function comparedTable() {
	const all = trace.compared, signed = d => (d < 0 ? "-" : "+") + span(Math.abs(d));
	return searching(all, table(all.map(l => [named(l.color, l.name), span(l.total[0]), span(l.total[1]), signed(l.total[1] - l.total[0]), l.count[0] + " → " + l.count[1]]), new Set([1, 2, 3, 4]), ["label", "before", "after", "difference", "tasks"]));
}

function searching(all, t) {
	t.rowsOf.forEach((r, i) => {
		r.className = "click";
		r.title = all[i].source || "";
		r.onclick = () => find(all[i].name);
	});
	return t;
}

// drawAnswer says what bounded the run, or what became of it, in three lines; the last one leads to
// the place.
function drawAnswer() {
	const box = document.getElementById("answer"), answer = trace.answer;
	box.hidden = !answer;
	if (!answer) return;
	const place = element("a", answer.lines[2]), margin = Math.max(0.1 * (answer.to - answer.from), NARROWEST);
	place.onclick = () => look(answer.from - margin, answer.to + margin);
	box.replaceChildren(answer.lines[0] + "\n" + answer.lines[1] + "\n", place);
}

function drawHead() {
	const shown = trace.ranks.reduce((sum, r) => sum + r.count.tasks, 0), letters = trace.ranks.reduce((sum, r) => sum + r.count.messages, 0);
	const bodies = trace.ranks.reduce((sum, r) => sum + r.tasks.start.filter((at, t) => at !== NONE && r.tasks.lane[t] !== NONE && !(r.tasks.flags[t] & WAITER)).length, 0);
	const tasks = count(shown, "task") + (bodies < shown ? " (" + bodies + " with a body)" : "");
	document.getElementById("about").textContent = [trace.compared ? "two runs side by side" : "", tasks, letters ? count(letters, "message") : "", trace.ranks.length > 1 ? count(trace.ranks.length, "rank") : "",
		count(trace.slots, "worker"), span(trace.elapsed), trace.start.startsWith("0001") ? "" : trace.start.slice(0, 19).replace("T", " ") + " UTC"].filter(s => s).join(" · ");
	document.getElementById("summary").textContent = trace.summary;
	drawAnswer();
	const notes = [];
	if (trace.cut) {
		const c = trace.cut, left = [[c.tasks, "task"], [c.messages, "message"], [c.states, "spell of sleep or waiting"]].filter(([n]) => n > 0);
		notes.push("Left out, from " + span(c.at) + " on: " + left.map(([n, what]) => count(n, what)).join(", ") + " (a page holds " + c.limit + " of a sort). Totals and summary are of the whole run.");
	}
	if (trace.lost > 0) notes.push(count(trace.lost, "event") + " lost: the log was full.");
	document.getElementById("notice").textContent = notes.join(" ");
	document.getElementById("notice").hidden = notes.length === 0;
}
