// All that is known of one design, beside what was clicked.

let opener = null;

function choose(row, event) {
  opener = event.target;
  const { left, top, width, height } = event.target.getBoundingClientRect();
  const [x, y] = event.detail || event.pointerType !== undefined || event.clientX ? [event.clientX, event.clientY] : [left + width, top + height];
  update({ chosen: row });
  place(x, y);
  document.getElementById("chosen").focus({ preventScroll: true });
}

// Put the details beside a point of the window, inside it.
function place(x, y) {
  const box = document.getElementById("chosen");
  const { offsetWidth: width, offsetHeight: height } = box;
  const room = document.documentElement.clientWidth;
  const left = x + 24 + width < room ? x + 24 : Math.max(x - 24 - width, 8);
  const top = Math.max(Math.min(y - 40, window.innerHeight - height - 8), 8);
  Object.assign(box.style, { left: `${Math.min(left, Math.max(room - width - 8, 0)) + window.scrollX}px`, top: `${top + window.scrollY}px` });
}

function unchoose() {
  update({ chosen: -1 });
  if (opener?.isConnected) opener.focus({ preventScroll: true });
}

// In which objectives a design is better or worse than the recommended one, and which limits it misses.
function whyNot(row) {
  const pick = pickOf(row);
  if (pick === row) return "This is the recommended design.";
  const missed = Object.keys(state.limits).filter((name) => !within(row, name)).map((name) => `${columns[name].facts.words} is beyond the limit`);
  const compared = pick < 0 ? [] : data.objectives.map((name) => [changeWords(columns[name].values[row], columns[name].values[pick]), columns[name].facts.words]).filter(([change]) => change);
  const than = compared.length ? `${compared.map((pair) => pair.join(" ")).join(", ")} than ${nameOf(pick)}` : "";
  return [...missed, than || (pick < 0 ? "" : `as good as ${nameOf(pick)}`)].filter(Boolean).join("; ");
}

function followDetails() {
  const box = document.getElementById("chosen");
  const row = state.chosen;
  const before = box.hidden;
  box.hidden = row < 0;
  if (row < 0) return;
  const pairs = Object.values(columns).map(({ facts, values }) => [facts.words, show(values[row], facts)]);
  for (const [name, { facts, values }] of Object.entries(details)) pairs.push([facts.words ?? name, show(values[row], facts)]);
  const list = pairs.map(([words, value]) => element("div", {}, element("dt", {}, words), element("dd", {}, value)));
  const close = element("button", { type: "button", class: "close" }, "Close");
  close.addEventListener("click", unchoose);
  const command = data.assigned[row] && copied(`--design "${data.assigned[row].replaceAll(" = ", "=")}"`);
  box.replaceChildren(close, element("p", {}, element("b", { id: "chosen-name" }, described[row])), element("p", { class: "small" }, whyNot(row)), element("dl", {}, ...list), ...(command ? [command] : []));
  if (before) {
    const { right, top } = document.getElementById("card").getBoundingClientRect();
    place(right, Math.max(top, 60)); // of a link
  }
}
