// Gradio brings all answers in one stream, which the server closes when nothing is left to answer.
// A browser that has much to do may learn of a new event's number before it reads that the stream
// is closed: then Gradio opens no new one, and the answer never comes. So the number is kept back
// until a stream has told of that event, as the server does at once, or has ended.
(() => {
  const plain = window.fetch.bind(window);
  const READ_MS = 50; // Gradio reads the last words of a stream at once, when nothing else runs
  const told = new Set(); // numbers of events
  let stream = null;

  class Stream {
    constructor() {
      this.open = true;
      this.waiting = new Map();
      this.rest = "";
      this.decoder = new TextDecoder();
    }

    hear(bytes) {
      const lines = (this.rest + this.decoder.decode(bytes, { stream: true })).split("\n");
      this.rest = lines.pop();
      for (const line of lines) {
        for (const [, number] of line.matchAll(/"event_id":\s*"(\w+)"/g)) {
          told.add(number);
          this.waiting.get(number)?.();
          this.waiting.delete(number);
        }
      }
    }

    tellsOf(number) {
      if (!this.open || told.has(number)) return null;
      return new Promise((go) => this.waiting.set(number, go));
    }

    end() {
      this.open = false;
      this.waiting.forEach((go) => go());
      this.waiting.clear();
    }
  }

  async function followed(...request) {
    const mine = (stream = new Stream());
    const response = await plain(...request).catch((error) => {
      mine.end();
      throw error;
    });
    if (!response.ok || !response.body) {
      mine.end();
      return response;
    }
    const { readable, writable } = new TransformStream({
      transform(bytes, on) {
        mine.hear(bytes);
        on.enqueue(bytes);
      },
      flush: () => setTimeout(() => mine.end(), READ_MS),
    });
    response.body.pipeTo(writable).catch(() => mine.end());
    return new Response(readable, response);
  }

  window.fetch = async (what, how) => {
    const path = new URL(what.url ?? what, location.href).pathname;
    if (path.endsWith("/queue/data")) return followed(what, how);
    const response = await plain(what, how);
    if (path.endsWith("/queue/join") && response.ok) {
      const { event_id: number } = await response.clone().json();
      await stream?.tellsOf(number);
    }
    return response;
  };
})();
