"use strict";
// Tables: a click or the Enter key on the name of a column sorts by it, again the other way round.
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => head.querySelector("button").addEventListener("click", () => {
    const down = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
    heads.forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", down === 1 ? "ascending" : "descending");
    const key = (row) => row.cells[column].dataset.key;
    const value = (text) => ({ "inf": Infinity, "-inf": -Infinity })[text] ?? Number(text);
    const rows = [...table.tBodies[0].rows];
    const numbers = rows.every((row) => key(row) !== "" && !Number.isNaN(value(key(row))));
    rows.sort((a, b) => down * (numbers ? value(key(a)) - value(key(b))
      : key(a).localeCompare(key(b), undefined, { numeric: true })));
    table.tBodies[0].append(...rows);
  }));
}
// Charts: the point nearest to the pointer, or the next one by the arrow keys, is told.
const tip = document.getElementById("tip");
for (const chart of document.querySelectorAll("svg.chart")) {
  const points = JSON.parse(chart.dataset.points);
  const cursor = chart.querySelector(".cursor");
  let at = -1;
  const hide = () => { tip.hidden = true; cursor.setAttribute("visibility", "hidden"); };
  const show = (k) => {
    at = k;
    const [x, y, words] = points[k];
    cursor.setAttribute("cx", x);
    cursor.setAttribute("cy", y);
    cursor.setAttribute("visibility", "visible");
    tip.textContent = words;
    tip.hidden = false;
    const place = new DOMPoint(x, y).matrixTransform(chart.getScreenCTM());
    const left = Math.min(place.x + 14, document.documentElement.clientWidth - tip.offsetWidth - 8);
    tip.style.transform = `translate(${Math.max(4, left)}px, ${Math.max(4, place.y - tip.offsetHeight - 10)}px)`;
  };
  if (!points.length) { chart.removeAttribute("tabindex"); continue; }
  chart.addEventListener("pointermove", (event) => {
    const place = new DOMPoint(event.clientX, event.clientY).matrixTransform(chart.getScreenCTM().inverse());
    let best = 0, least = Infinity;
    points.forEach(([x, y], k) => {
      const far = (x - place.x) ** 2 + (y - place.y) ** 2;
      if (far < least) { least = far; best = k; }
    });
    show(best);
  });
  chart.addEventListener("pointerleave", hide);
  chart.addEventListener("blur", hide);
  chart.addEventListener("keydown", (event) => {
    const last = points.length - 1;
    const next = { ArrowRight: Math.min(at + 1, last), ArrowLeft: Math.max(at - 1, 0), Home: 0, End: last }[event.key];
    if (event.key === "Escape") hide();
    if (next === undefined) return;
    event.preventDefault();
    show(next);
  });
}
