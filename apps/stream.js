// Gradio brings all answers in one stream, which the server closes when nothing is left to answer.
// A browser that has much to do may learn of a new event's number before it learns that the stream
// is closed: then Gradio opens no new one, and the answer never comes. So the number is kept back
// until the stream has told of that event, as the server does at once, or has ended.
(() => {
  const plain = window.fetch.bind(window);
  let stream = null;

  class Stream {
    constructor(signal) {
      this.told = new Set(); // numbers of events
      this.waiting = new Map();
      this.open = true;
      this.rest = "";
      this.decoder = new TextDecoder();
      signal.addEventListener("abort", () => this.end()); // Gradio's way to be done with it
    }

    hear(bytes) {
      const lines = (this.rest + this.decoder.decode(bytes, { stream: true })).split("\n");
      this.rest = lines.pop();
      for (const line of lines) {
        for (const [, number] of line.matchAll(/"event_id":\s*"(\w+)"/g)) {
          this.told.add(number);
          this.waiting.get(number)?.();
          this.waiting.delete(number);
        }
      }
    }

    end() {
      this.open = false;
      this.waiting.forEach((go) => go());
      this.waiting.clear();
    }

    tellsOf(number) {
      if (!this.open || this.told.has(number)) return null;
      return new Promise((go) => this.waiting.set(number, go));
    }
  }

  async function followed(request) {
    const mine = (stream = new Stream(request.signal));
    const response = await plain(request).catch((error) => {
      mine.end();
      throw error;
    });
    if (!response.ok || !response.body) {
      mine.end();
      return response;
    }
    const listening = new TransformStream({
      transform(bytes, on) {
        mine.hear(bytes);
        on.enqueue(bytes);
      },
      flush: () => mine.end(),
    });
    return new Response(response.body.pipeThrough(listening), response);
  }

  window.fetch = async (what, how) => {
    const path = new URL(what.url ?? what, location.href).pathname;
    if (path.endsWith("/queue/data")) return followed(new Request(what, how));
    const response = await plain(what, how);
    if (path.endsWith("/queue/join") && response.ok) {
      const { event_id: number } = await response.clone().json();
      await stream?.tellsOf(number);
    }
    return response;
  };
})();
