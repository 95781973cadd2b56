"use strict";
(function () {
  const options = {
    responsive: true,
    displaylogo: false,
    modeBarButtons: [["toImage"], ["zoom2d", "pan2d"], ["zoomIn2d", "zoomOut2d", "resetScale2d"]],
    toImageButtonOptions: { format: "svg" },
  };

  function draw(place) {
    if (place.dataset.drawn) return;
    place.dataset.drawn = "1";
    const figure = JSON.parse(document.getElementById(place.dataset.figure).textContent);
    Plotly.newPlot(place, figure.data, figure.layout, options).then(function () {
      // When what a reader sees first was there, in milliseconds since the page was asked for.
      const page = document.documentElement.dataset;
      page.opened = page.opened || Math.round(performance.now());
    });
  }

  // Figures are drawn when they come near, so that long pages open at once.
  const places = Array.from(document.querySelectorAll(".figure"));
  const observer = new IntersectionObserver(
    function (entries) {
      for (const entry of entries) {
        if (!entry.isIntersecting) continue;
        observer.unobserve(entry.target);
        draw(entry.target);
      }
    },
    { rootMargin: "600px 0px" }
  );
  places.forEach((place) => observer.observe(place));
  window.addEventListener("beforeprint", () => places.forEach(draw));

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
