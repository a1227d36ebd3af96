// Input methods: what is being composed (the pinyin of a word) is no text yet. Gradio hears of it
// only when the composition has ended, so nothing is answered before, and the Enter that takes a
// word from the list asks for nothing.
(() => {
  const isText = (box) => box instanceof HTMLTextAreaElement || box instanceof HTMLInputElement;
  const UNKNOWN_KEY = 229; // of a key that the input method has taken, also where its Enter ends it

  addEventListener(
    "input",
    (event) => {
      if (event.isComposing && isText(event.target)) event.stopImmediatePropagation();
    },
    true,
  );
  for (const kind of ["keydown", "keypress"]) {
    addEventListener(
      kind,
      (event) => {
        if (event.isComposing || event.keyCode === UNKNOWN_KEY) event.stopImmediatePropagation();
      },
      true,
    );
  }
  addEventListener("compositionend", (event) => {
    if (isText(event.target)) event.target.dispatchEvent(new Event("input", { bubbles: true }));
  });
})();
