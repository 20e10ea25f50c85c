// A personal link carries its token behind the #, which no server and no log sees: it is exchanged for a cookie here, once.
const enter = async () => {
  const said = document.getElementById("said");
  const token = location.hash.slice(1);
  history.replaceState(null, "", location.pathname);
  if (!token) {
    said.textContent = "This page is the beginning of a personal link: open the whole link that you were given.";
    return;
  }
  try {
    const answer = await fetch("/enter", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ token }),
    });
    const body = await answer.json();
    if (answer.ok) location.replace(body.to);
    else said.textContent = body.error.sentence[0].toUpperCase() + body.error.sentence.slice(1) + ".";
  } catch {
    said.textContent = "The server does not answer: open your link once more in a moment.";
  }
};
// a link that is opened where this page is shown already only changes what stands behind the #
addEventListener("hashchange", enter);
enter();
