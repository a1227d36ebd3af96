// Gradio sends each event by a request of its own, which is answered with the event's number, and
// brings the answers of all events in one stream, which the server closes when none is left. In a
// browser that has much to do three things can go wrong between the two, and here is what keeps
// answers from being lost or shown in another order than the server's:
// - A number may arrive before Gradio reads that the stream is closed: it opens no new one then, and
//   the answer never comes. So the number is kept back until a stream has told of that event, as the
//   server does at once, or has ended.
// - Gradio shows an answer that came before its number only when that arrives, which may be after
//   a later event's answer. So an event is sent only when the one before has its number,
// - and a number is kept back until Gradio has read what the stream has told so far.
(() => {
  const READ_MS = 20; // after which Gradio has read what a stream has told
  const MOST_MS = 5000; // that a number is kept back
  const plain = window.fetch.bind(window);
  const pause = (ms) => new Promise((go) => setTimeout(go, ms));
  const told = new Set(); // numbers of events
  let stream = null;
  let before = Promise.resolve(); // until the event before has its number

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
    });
    const ended = () => pause(READ_MS).then(() => mine.end());
    response.body.pipeTo(writable).then(ended, ended);
    return new Response(readable, response);
  }

  async function joined(...request) {
    const response = await plain(...request);
    if (response.ok && stream?.open) {
      const { event_id: number } = await response.clone().json();
      await Promise.race([stream.tellsOf(number), pause(MOST_MS)]);
      await pause(READ_MS);
    }
    return response;
  }

  window.fetch = (what, how) => {
    const path = new URL(what.url ?? what, location.href).pathname;
    if (path.endsWith("/queue/data")) return followed(what, how);
    if (!path.endsWith("/queue/join")) return plain(what, how);
    const answer = before.then(() => joined(what, how));
    before = answer.catch(() => {});
    return answer;
  };
})();
