// Keeps a study's page up to date: the server says that something has changed, and the parts that differ are replaced in place.
// What is folded out, focused or scrolled stays as it is.
(() => {
  const live = document.getElementById("live"), note = document.getElementById("connection");
  if (!live) return;
  const parts = root => [...root.querySelectorAll("[data-part]")];
  const last = Object.fromEntries(parts(live).map(part => [part.dataset.part, part.innerHTML]));
  const focusable = part => [...part.querySelectorAll("a, button, summary, input, select")];
  const replace = (held, now) => {
    const open = [...held.querySelectorAll("details")].map(one => one.open);
    const focus = focusable(held).indexOf(document.activeElement);
    held.innerHTML = now;
    held.querySelectorAll("details").forEach((one, i) => { one.open = open[i] ?? one.open; });
    if (focus >= 0) (focusable(held)[focus] ?? held).focus({ preventScroll: true });
  };
  const show = (text, state) => {
    const page = document.createElement("template");
    page.innerHTML = text;
    let before = null;
    for (const part of parts(page.content)) {
      const name = part.dataset.part, now = part.innerHTML;
      const held = live.querySelector('[data-part="' + name + '"]');
      if (!held) before.after(part);
      else if (last[name] !== now) replace(held, now);
      last[name] = now;
      before = live.querySelector('[data-part="' + name + '"]');
    }
    document.body.dataset.state = state;
  };
  const fresh = async () => {
    try {
      const answer = await fetch(live.dataset.parts);
      if (answer.ok) show(await answer.text(), answer.headers.get("x-state"));
    } catch { /* the connection says so, and tries again */ }
  };
  const source = new EventSource(live.dataset.live);
  source.addEventListener("change", fresh);
  source.onopen = () => { note.textContent = "Live: this page keeps itself up to date."; fresh(); };
  source.onerror = () => {
    note.textContent = source.readyState === EventSource.CLOSED
      ? "The server no longer accepts this page: open your link once more."
      : "The connection is lost; trying again …";
  };
})();
