// Says what the shares of a mediator sum to while they are typed; the server checks them in any case.
for (const shares of document.querySelectorAll("[data-sum]")) {
  const said = shares.querySelector("output");
  const show = () => {
    const typed = [...shares.querySelectorAll("input")].map(one => one.value.trim().replace(",", ".").replace("%", ""));
    const sum = typed.reduce((sum, text) => sum + (parseFloat(text) || 0), 0);
    said.textContent = typed.some(Boolean) ? "sum: " + +sum.toFixed(2) + "%" : "";
    said.classList.toggle("wrong", typed.some(Boolean) && Math.abs(sum - 100) > 0.5);
  };
  shares.addEventListener("input", show);
  show();
}
