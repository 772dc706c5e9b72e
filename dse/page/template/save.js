// What can be taken along: the selected designs as a table, a picture, a design as options.

function download(name, content) {
  const link = element("a", { download: name, href: URL.createObjectURL(content) });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

function fileName(about, ending) {
  return `${data.run}_${about}`.replace(/[^\w.-]+/g, "_") + ending;
}

// A text that a spreadsheet would take for a formula begins with a quote.
function csvCell(value) {
  if (typeof value === "number") return Number.isNaN(value) ? "" : String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

// Columns are those of front.csv, in SI, after the design.
function csvText(rows) {
  const named = [...Object.entries(columns).map(([name, { values }]) => [name, values]), ...Object.entries(details).map(([name, { values }]) => [name, values])];
  const lines = rows.map((row) => [described[row], ...named.map(([, values]) => values[row])]);
  return [["design", ...named.map(([name]) => name)], ...lines].map((line) => line.map(csvCell).join(",")).join("\n") + "\n";
}

function saveCsv() {
  const rows = sortedRows().filter((row) => state.admitted[row]);
  download(fileName("designs", ".csv"), new Blob([csvText(rows)], { type: "text/csv" }));
}

function saving() {
  const button = (words, save) => {
    const made = element("button", { type: "button", "aria-label": `Scatter as ${words}` }, words);
    made.addEventListener("click", () => save(panel));
    return made;
  };
  return element("div", { class: "save" }, button("PNG", savePng), button("SVG", saveSvg));
}

function savePng({ chart, canvas, about }) {
  const top = chart.renderToCanvas({ pixelRatio: 2 });
  const whole = element("canvas", { width: top.width, height: top.height });
  const brush = whole.getContext("2d");
  brush.fillStyle = colour("paper");
  brush.fillRect(0, 0, whole.width, whole.height);
  brush.drawImage(canvas, 0, 0, whole.width, whole.height);
  brush.drawImage(top, 0, 0);
  whole.toBlob((blob) => download(fileName(about, ".png"), blob));
}

// Points of the front are shapes and words are text; the grey points stay an image.
function svgText({ chart, canvas }) {
  const drawn = echarts.init(null, null, { renderer: "svg", ssr: true, width: chart.getWidth(), height: chart.getHeight() });
  drawn.setOption(chart.getOption());
  const text = drawn.renderToSVGString();
  drawn.dispose();
  const behind = `<rect width="100%" height="100%" fill="${colour("paper")}"/><image width="100%" height="100%" href="${canvas.toDataURL()}"/>`;
  return text.replace(/^<svg[^>]*>/, (tag) => tag + behind);
}

function saveSvg() {
  download(fileName(panel.about, ".svg"), new Blob([svgText(panel)], { type: "image/svg+xml" }));
}

function copied(text) {
  const button = element("button", { type: "button" }, "Copy");
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  });
  return element("p", { class: "small" }, element("code", {}, text), " ", button);
}
