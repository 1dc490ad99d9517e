// Stream: reads the events of a run with `fetch`, because an `EventSource` cannot send a token. After a disconnect it
// continues after the last event that it received, with a longer delay each time.

const WAIT_MS_MIN = 500;
const WAIT_MS_MAX = 15000;
/** The server sends a heartbeat more often than this. */
const SILENCE_MS_MAX = 60000;
/** Our server never sends a longer line. */
const LINE_CHARS_MAX = 32 * 1024 * 1024;

/** Parses an event stream. `feed(text)` returns the messages that it completes: `{id, event, data}`. */
export function sseReader() {
  let rest = '';
  let message = fresh();
  return {
    feed(text) {
      rest += text;
      if (rest.length > LINE_CHARS_MAX) throw new Error('the server sent an endless line');
      const messages = [];
      const lines = rest.split('\n');
      rest = lines.pop();
      for (const raw of lines) {
        const line = raw.endsWith('\r') ? raw.slice(0, -1) : raw;
        if (line === '') {
          if (message.data.length > 0 || message.event) messages.push({ ...message, data: message.data.join('\n') });
          message = fresh();
        } else {
          readField(message, line);
        }
      }
      return messages;
    },
  };
}

function fresh() {
  return { id: null, event: '', data: [] };
}

function readField(message, line) {
  const at = line.indexOf(':');
  if (at === 0) return;
  const name = at < 0 ? line : line.slice(0, at);
  const value = at < 0 ? '' : line.slice(at + 1).replace(/^ /, '');
  if (name === 'data') message.data.push(value);
  else if (name === 'event') message.event = value;
  else if (name === 'id') message.id = value;
}

/**
 * Follows a run. `open(after, signal)` returns a response; `onEvents(events)` receives events in order, `onLink(word)` one of
 * `connecting`, `live`, `waiting`, `ended` or `refused` (with the error). Returns a function that stops it.
 */
export function follow({ after, open, onEvents, onLink }) {
  const stopping = new AbortController();
  let seq = after;
  let waitMs = WAIT_MS_MIN;
  const loop = async () => {
    while (!stopping.signal.aborted) {
      onLink('connecting');
      try {
        const isOver = await readOnce(
          open,
          seq,
          stopping.signal,
          (events) => {
            for (const event of events) seq = Math.max(seq, Number(event.seq) || 0);
            waitMs = WAIT_MS_MIN;
            onEvents(events);
          },
          () => onLink('live'),
        );
        if (isOver) {
          onLink('ended');
          return;
        }
      } catch (error) {
        if (stopping.signal.aborted) return;
        if (error.isFinal) {
          onLink('refused', error);
          return;
        }
      }
      onLink('waiting');
      await pause(waitMs * (0.75 + Math.random() / 2), stopping.signal);
      waitMs = Math.min(waitMs * 2, WAIT_MS_MAX);
    }
  };
  loop();
  return () => stopping.abort();
}

/** Reads one connection to its end; true if the server ended the stream. */
async function readOnce(open, seq, signal, onEvents, onLive) {
  const silence = new AbortController();
  const both = AbortSignal.any([signal, silence.signal]);
  let timer = setTimeout(() => silence.abort(), SILENCE_MS_MAX);
  try {
    const response = await open(seq, both);
    onLive();
    const decoder = new TextDecoder();
    const reader = response.body.getReader();
    const lines = sseReader();
    for (;;) {
      const { done, value } = await reader.read();
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), SILENCE_MS_MAX);
      if (done) return false;
      const messages = lines.feed(decoder.decode(value, { stream: true }));
      const isOver = messages.some((message) => message.event === 'end');
      const events = messages
        .filter((message) => message.event !== 'end')
        .map(eventOf)
        .filter(Boolean);
      if (events.length > 0) onEvents(events);
      if (isOver) return true;
    }
  } finally {
    clearTimeout(timer);
  }
}

function eventOf(message) {
  try {
    return JSON.parse(message.data);
  } catch {
    return null;
  }
}

function pause(ms, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
  });
}
