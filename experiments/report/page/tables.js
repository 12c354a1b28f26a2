/* Tables that can be sorted, and filters by data set and ranker. */

function sortable(table) {
  const heads = [...table.tHead.rows[0].cells];
  const body = table.tBodies[0];
  heads.forEach((head, column) => {
    const press = button(head.textContent, () => {
      const descending = head.getAttribute("aria-sort") === "ascending";
      for (const each of heads) each.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", descending ? "descending" : "ascending");
      const rows = [...body.rows].map((row, place) => ({ row, place, key: row.cells[column].dataset.sort }));
      const numeric = rows.every(({ key }) => key === undefined || Number.isFinite(Number(key)));
      rows.sort((a, b) => {
        // What is not there comes last, whichever way round.
        if (a.key === undefined || b.key === undefined) return (a.key === undefined) - (b.key === undefined) || a.place - b.place;
        const order = numeric ? Number(a.key) - Number(b.key) : a.key < b.key ? -1 : a.key > b.key ? 1 : 0;
        return (descending ? -order : order) || a.place - b.place;
      });
      body.append(...rows.map(({ row }) => row));
    });
    if (head.title) press.setAttribute("aria-description", head.title);
    head.replaceChildren(press);
  });
}

/** What of a comparison is shown; charts ask it, and are told when it changes. */
class Filters {
  constructor(group, data) {
    this.group = group;
    this.shown = { dataset: new Set(data.datasets), ranker: new Set(data.rankers.map((ranker) => ranker.key)) };
    this.all = { dataset: data.datasets.length, ranker: data.rankers.length };
    this.listeners = [];
    this.captions = new Map();
    for (const box of group.querySelectorAll(".filter")) this.listen(box);
    this.apply();
  }

  listen(box) {
    const kind = box.dataset.filter;
    const boxes = [...box.querySelectorAll("input[type=checkbox]")];
    const chosen = () => {
      this.shown[kind] = new Set(boxes.filter((each) => each.checked).map((each) => each.value));
      this.apply();
    };
    box.addEventListener("change", (event) => event.target.type === "checkbox" && chosen());
    for (const press of box.querySelectorAll("button[data-all]")) {
      press.addEventListener("click", () => {
        for (const each of boxes) if (!each.closest("label").hidden) each.checked = press.dataset.all === "1";
        chosen();
      });
    }
    const part = box.querySelector(".name-part");
    if (part) {
      part.addEventListener("input", () => {
        const wanted = part.value.trim().toLowerCase();
        for (const each of boxes) {
          const label = each.closest("label");
          label.hidden = !label.textContent.toLowerCase().includes(wanted);
        }
      });
    }
  }

  has(kind, key) {
    return this.shown[kind].has(key);
  }

  apply() {
    for (const element of this.group.querySelectorAll("[data-dataset], tr[data-ranker]")) {
      const { dataset, ranker } = element.dataset;
      element.hidden =
        (dataset !== undefined && !this.has("dataset", dataset)) || (ranker !== undefined && !this.has("ranker", ranker));
    }
    for (const table of this.group.querySelectorAll("table.sortable")) this.count(table);
    for (const kind of ["dataset", "ranker"]) {
      const said = `${this.shown[kind].size} of ${this.all[kind]}`;
      this.group.querySelector(`.filter[data-filter=${kind}] .number-shown`).textContent = `(${said})`;
    }
    const whole = this.shown.dataset.size === this.all.dataset && this.shown.ranker.size === this.all.ranker;
    this.group.querySelector(".filter-said").textContent = whole
      ? "Everything is shown."
      : `Shown: ${this.shown.ranker.size} of ${this.all.ranker} rankers, ${this.shown.dataset.size} of ${this.all.dataset} data sets.`;
    for (const listener of this.listeners) listener();
  }

  count(table) {
    if (!table.caption) return;
    const said = table.caption.firstElementChild;
    if (!this.captions.has(table)) this.captions.set(table, said.textContent);
    const rows = [...table.tBodies[0].rows];
    const left = rows.filter((row) => !row.hidden).length;
    said.textContent = this.captions.get(table) + (left === rows.length ? "" : ` (${left} of ${rows.length} lines)`);
  }
}

/** One ranker's page at a time: the one the address names, or the one chosen. */
function rankerPages(section) {
  const pages = [...section.querySelectorAll("[data-ranker-page]")];
  const chooser = section.querySelector(".choose-ranker");
  const show = (id) => {
    const page = pages.find((each) => each.id === id);
    if (!page) return null;
    for (const each of pages) each.classList.toggle("current", each === page);
    chooser.value = id;
    return page;
  };
  chooser.addEventListener("change", () => (location.hash = chooser.value));
  addEventListener("hashchange", () => {
    const page = show(location.hash.slice(1));
    if (page && document.activeElement !== chooser) page.focus({ preventScroll: true });
    if (page) page.scrollIntoView();
  });
  const first = show(location.hash.slice(1));
  if (first) requestAnimationFrame(() => first.scrollIntoView());
  else if (pages.length) show(pages[0].id);
}
