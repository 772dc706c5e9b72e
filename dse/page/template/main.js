// Draw everything once, then let it follow what is set.

window.addEventListener("error", ({ message }) => {
  const box = document.getElementById("fault");
  box.hidden = false;
  box.textContent = `The pictures of this page are incomplete: ${message}. Answer and study are not affected.`;
});

function whenDrawn() {
  let missing = charts.length;
  const done = () => {
    missing -= 1;
    if (missing <= 0) document.documentElement.dataset.drawn = String(Math.round(performance.now()));
  };
  if (!missing) done();
  for (const chart of charts) {
    const once = () => {
      chart.off("finished", once);
      done();
    };
    chart.on("finished", once);
    chart.getZr().refresh(); // what nothing follows is drawn already
  }
}

drawScatter();
drawTable();
drawControls();
drawTornado();
settle();
startPicks = [...state.picks];
if (data.growth) {
  document.getElementById("growth-box").hidden = false;
  document.getElementById("growth").append(growthPicture(data.growth));
}
frames.forEach((draw) => draw());
followers.push(followScatter, followTable, followControls, followCard, followRoofs, followDetails);
whenDrawn();
apply(fromFragment(location.hash.slice(1)));

function drawAgain() {
  frames.forEach((draw) => draw());
  followers.forEach((follow) => follow());
  charts.forEach((chart) => chart.getZr().flush());
}

// What scrolls sideways on this screen is scrolled with keys, too.
function letScroll() {
  for (const box of document.querySelectorAll(".prose")) {
    if (box.scrollWidth > box.clientWidth) Object.assign(box, { tabIndex: 0, role: "region", ariaLabel: "wider than the screen" });
  }
}

letScroll();
let waiting = 0;
window.addEventListener("resize", () => {
  clearTimeout(waiting);
  waiting = setTimeout(() => {
    charts.forEach((chart) => chart.resize());
    drawCloud();
    letScroll();
  }, 150);
});
window.addEventListener("popstate", () => {
  if (location.hash.includes("=") || location.hash === "") apply(fromFragment(location.hash.slice(1)));
});
window.addEventListener("keydown", ({ key }) => {
  if (key !== "Escape") return;
  if (state.chosen >= 0) unchoose();
  else update({ filters: {} });
});
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAgain);
window.addEventListener("beforeprint", () => {
  document.documentElement.classList.add("light");
  for (const chart of charts) chart.getDom().style.setProperty("--shape", `${chart.getWidth()} / ${chart.getHeight()}`);
  drawAgain();
});
window.addEventListener("afterprint", () => {
  document.documentElement.classList.remove("light");
  drawAgain();
});
