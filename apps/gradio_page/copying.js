// What is copied is the visitor's own text: the signs that show its invisible characters (␣ for a
// space, ↵ for the end of a line) become these characters again.
addEventListener("copy", (event) => {
  const selection = getSelection();
  if (selection.isCollapsed || event.target.matches?.("textarea, input")) return;
  const range = selection.getRangeAt(0);
  const at = range.commonAncestorContainer;
  const own = document.createElement("div");
  own.append(range.cloneContents());
  const signs = own.querySelectorAll("[data-c]");
  if (!signs.length || !(at.closest ? at : at.parentElement).closest("[role=tabpanel]")) return;
  for (const sign of signs) {
    const character = document.createElement("span");
    character.textContent = String.fromCodePoint(parseInt(sign.dataset.c, 16));
    character.style.whiteSpace = "pre";
    if (sign.nextSibling?.nodeName === "BR") sign.nextSibling.remove(); // one break is enough
    sign.replaceWith(character);
  }
  own.style = "position: fixed; left: -9999px"; // drawn: only then it has lines and cells
  document.body.append(own);
  event.clipboardData.setData("text/plain", own.innerText);
  own.remove();
  event.preventDefault();
});
