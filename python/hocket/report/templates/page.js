"use strict";
(function () {
  // A click on a title sorts: numbers as such, with their units.
  const scales = { "": 1, B: 1, s: 1, "%": 1, ms: 1e-3, us: 1e-6, ns: 1e-9, ps: 1e-12 };
  ["K", "M", "G", "T"].forEach(function (prefix, power) {
    scales[prefix + "B"] = Math.pow(1000, power + 1);
    scales[prefix + "iB"] = Math.pow(1024, power + 1);
    scales[prefix.replace("K", "k") + "bit/s"] = Math.pow(1000, power + 1);
  });

  function value(row, column) {
    const text = row.cells[column].textContent.trim();
    const found = text.match(/^(-?[\d.,]+(?:e[+-]?\d+)?)\s*(\S*)$/);
    return found && found[2] in scales ? parseFloat(found[1].replace(/,/g, "")) * scales[found[2]] : text;
  }

  document.querySelectorAll("th").forEach(function (title) {
    title.addEventListener("click", function () {
      const body = title.closest("table").tBodies[0];
      const column = title.cellIndex;
      const down = title.dataset.order !== "down";
      title.dataset.order = down ? "down" : "up";
      const rows = Array.from(body.rows).map((row) => [value(row, column), row]);
      rows.sort(function ([a], [b]) {
        const both = typeof a === "number" && typeof b === "number";
        return (both ? a - b : String(a).localeCompare(String(b))) * (down ? -1 : 1);
      });
      rows.forEach(([, row]) => body.appendChild(row));
    });
  });
})();
