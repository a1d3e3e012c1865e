"use strict";
(function () {
  var root = document.documentElement, status = document.getElementById("status");

  // Light and dark: the system decides until the switch is used.
  var theme = document.getElementById("theme"), system = matchMedia("(prefers-color-scheme: dark)");
  function dark() { return root.dataset.theme ? root.dataset.theme === "dark" : system.matches; }
  function show() { theme.textContent = dark() ? "Light" : "Dark"; }
  theme.addEventListener("click", function () { root.dataset.theme = dark() ? "light" : "dark"; show(); });
  system.addEventListener("change", show);
  show();

  // Sorting: numbers by their key, words alphabetically, missing values last.
  function key(row, column) {
    var cell = row.cells[column];
    return "key" in cell.dataset ? Number(cell.dataset.key) : cell.textContent.trim();
  }
  function compare(a, b) {
    var missing = function (value) { return value === "–"; };
    if (missing(a) || missing(b)) { return missing(a) - missing(b); }
    return typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
  }
  document.querySelectorAll("table.sortable").forEach(function (table) {
    var headers = Array.from(table.tHead.rows[0].cells), body = table.tBodies[0];
    headers.forEach(function (header, column) {
      header.querySelector("button").addEventListener("click", function () {
        var ascending = header.getAttribute("aria-sort") !== "ascending";
        headers.forEach(function (other) { other.setAttribute("aria-sort", "none"); });
        header.setAttribute("aria-sort", ascending ? "ascending" : "descending");
        var rows = Array.from(body.rows).map(function (row, place) { return { row: row, place: place, key: key(row, column) }; });
        rows.sort(function (a, b) {
          var order = compare(a.key, b.key), last = a.key === "–" || b.key === "–";
          return (ascending || last ? order : -order) || a.place - b.place;
        });
        rows.forEach(function (entry) { body.appendChild(entry.row); });
        status.textContent = "sorted by " + header.textContent + (ascending ? ", ascending" : ", descending");
      });
    });
  });

  // Collapsed parts are printed too.
  addEventListener("beforeprint", function () {
    document.querySelectorAll("details").forEach(function (part) { part.open = true; });
  });
})();
