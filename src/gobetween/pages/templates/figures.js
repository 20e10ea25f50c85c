// Draws the figures of a report. Filled in: tone in the light -> in the dark, Plotly's configuration, where Plotly lies.
(() => {
  const DARK = %s, CONFIG = %s, LIBRARY = %s;
  const dark = matchMedia("(prefers-color-scheme: dark)"), narrow = matchMedia("(max-width: 40rem)");
  const tinted = value => {
    for (const [key, part] of Object.entries(value)) {
      if (typeof part === "string") { if (/color$/.test(key) && part in DARK) value[key] = DARK[part]; }
      else if (part && typeof part === "object") tinted(part);
    }
  };
  const draw = () => document.querySelectorAll(".drawing").forEach(box => {
    if (!window.Plotly) {
      box.style.minHeight = "0";
      box.textContent = "This figure needs " + LIBRARY.split("/").pop() + ", which was written into the same folder.";
      return;
    }
    const { data, layout } = JSON.parse(box.nextElementSibling.textContent);
    layout.paper_bgcolor = layout.plot_bgcolor = "rgba(0,0,0,0)";
    layout.margin.t = 24;
    delete layout.title;
    if (dark.matches) { tinted(data); tinted(layout); }
    if (narrow.matches) {
      layout.font.size = 12; layout.margin.r = 24; layout.dragmode = false; layout.height += 18 * data.length;
      layout.xaxis.title.text = layout.xaxis.title.text.replace(/(.{16,28}?) (?=.{10,})/g, "$1<br>");
    }
    Plotly.react(box, data, layout, { ...CONFIG, displayModeBar: narrow.matches ? false : "hover" });
  });
  dark.addEventListener("change", draw);
  narrow.addEventListener("change", draw);
  document.addEventListener("redraw", draw);
  draw();
})();
