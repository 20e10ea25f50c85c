// Keeps a study's page up to date: the server says that something has changed, the parts that differ are replaced.
(() => {
  const live = document.getElementById("live"), note = document.getElementById("connection");
  if (!live) return;
  const last = {};
  const show = (text, state) => {
    const page = document.createElement("template");
    page.innerHTML = text;
    for (const part of page.content.querySelectorAll("[data-part]")) {
      const name = part.dataset.part, now = part.innerHTML;
      const held = live.querySelector('[data-part="' + name + '"]');
      if (!held) { live.append(part); continue; }
      if (last[name] !== now) {
        const open = [...held.querySelectorAll("details")].map(one => one.open);
        held.innerHTML = now;
        held.querySelectorAll("details").forEach((one, i) => { one.open = open[i]; });
      }
      last[name] = now;
    }
    document.body.dataset.state = state;
    document.dispatchEvent(new Event("redraw"));
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
      ? "The server does not know this page any more: open your link once more."
      : "The connection is lost; trying again …";
  };
})();
