"""How pages look, on paper, wide screens and phones, light and dark: the style sheet, and the script that draws the figures."""

STYLE = """
:root { color-scheme: light dark; --page: #ffffff; --ink: #222222; --soft: #555555; --line: #bbbbbb; --code: #f3f3f3;
  --shade: rgba(0, 0, 0, .28); --alarm: #a3140f; --alarm-page: #fdeeed; }
@media (prefers-color-scheme: dark) { :root { --page: #15181c; --ink: #e6e6e6; --soft: #b3b3b3; --line: #555a61;
  --code: #262a30; --shade: rgba(255, 255, 255, .3); --alarm: #ff9a92; --alarm-page: #3a1715; } }
* { box-sizing: border-box; }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--page); max-width: 60rem; margin: 2rem auto;
  padding: 0 1rem; overflow-wrap: anywhere; }
h1 { font-size: 1.7rem; line-height: 1.2; } h2 { font-size: 1.25rem; margin: 2.5rem 0 0; }
h3 { font-size: 1rem; margin: 0 0 .5rem; }
p.lead { font-size: 1.15rem; } p.note, figcaption { color: var(--soft); font-size: .92rem; }
p.alarm { border: 2px solid var(--alarm); border-left-width: .6rem; background: var(--alarm-page); padding: .6rem .8rem; }
p.alarm strong { color: var(--alarm); text-transform: uppercase; }
.scroll { overflow-x: auto; margin: 1rem 0; background:
  linear-gradient(to right, var(--page) 40%, transparent) 0 0 / 2.5rem 100% no-repeat local,
  linear-gradient(to left, var(--page) 40%, transparent) 100% 0 / 2.5rem 100% no-repeat local,
  linear-gradient(to right, var(--shade), transparent) 0 0 / .9rem 100% no-repeat scroll,
  linear-gradient(to left, var(--shade), transparent) 100% 0 / .9rem 100% no-repeat scroll; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; overflow-wrap: normal; }
th, td { padding: .2rem .7rem; text-align: right; white-space: nowrap; vertical-align: top; }
th { border-bottom: 2px solid var(--ink); vertical-align: bottom; white-space: normal; }
td:first-child, th:first-child { text-align: left; padding-left: 0; min-width: 5.5rem; white-space: normal; }
tr.first td { border-top: 1px solid var(--line); }
th.words, td.words { text-align: left; } .facts td { white-space: normal; }
th.long, td.long { white-space: normal; overflow-wrap: anywhere; min-width: 10rem; } .facts td.long { min-width: 0; }
figure { margin: 1.5rem 0 2.5rem; } figcaption { margin-top: .4rem; } code { background: var(--code); padding: .1em .3em; }
summary { cursor: pointer; margin-top: 2.5rem; } summary h2 { display: inline; } details .scroll { font-size: .92rem; }
@media (max-width: 40rem) { body { margin: 1rem auto; } h1 { font-size: 1.4rem; } th, td { padding: .2rem .45rem; } }
"""

#: To be filled in with: tone in the light → in the dark, Plotly's configuration, where Plotly lies.
SCRIPT = """
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
"""
