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
  }
}

drawLegend();
drawScatters();
drawParallel();
drawTable();
drawControls();
drawTornado();
followers.push(followScatters, followParallel, followWinners, followTable, followControls);
settle();
startPicks = [...state.picks];
whenDrawn();
update({});
allowDragging(document.getElementById("dragging").checked);

let waiting = 0;
window.addEventListener("resize", () => {
  clearTimeout(waiting);
  waiting = setTimeout(() => charts.forEach((chart) => chart.resize()), 150);
});
window.addEventListener("beforeprint", () => {
  document.getElementById("more-answer").open = true;
});
