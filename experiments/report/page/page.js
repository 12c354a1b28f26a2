"use strict";
/* Tables: a click on a heading sorts, words in the search field choose lines. */
const tables = [...document.querySelectorAll("table.sortable")];

function key(row, column) {
  const cell = row.cells[column], exact = cell.querySelector("data"), text = cell.textContent.trim();
  if (exact) return Number(exact.value);
  return text === "–" || text === "" ? null : text.toLowerCase();
}

for (const table of tables) {
  const heads = [...table.tHead.rows[0].cells], body = table.tBodies[0];
  heads.forEach((head, column) => {
    const press = document.createElement("button");
    press.type = "button";
    press.textContent = head.textContent;
    head.scope = "col";
    head.replaceChildren(press);
    press.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const rows = [...body.rows].map((row) => [key(row, column), row]);
      rows.sort(([a], [b]) => {
        if (a === null || b === null) return (a === null) - (b === null); // missing comes last both ways
        return (a < b ? -1 : a > b ? 1 : 0) * (down ? -1 : 1);
      });
      body.append(...rows.map(([, row]) => row));
    });
  });
}

const field = document.getElementById("filter");
function filter() {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0, all = 0;
  for (const table of tables) {
    for (const row of table.tBodies[0].rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
      shown += !row.hidden;
      all += 1;
    }
  }
  document.getElementById("filtered").textContent = words.length ? `${shown} of ${all} lines` : "";
}
field.addEventListener("input", filter);
field.form.addEventListener("submit", (event) => event.preventDefault());
document.documentElement.classList.add("scripted");
filter();
