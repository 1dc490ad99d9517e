// Api: where the page gets runs from. `served` asks the server that sent the page; `exported` reads what was written into
// the file. Both answer the same questions, so no view knows which one it has.

import { follow } from './stream.js';

const TOKEN_KEY = 'spelunk-token';
const BLOBS_KEPT = 300;

/** What a server refused, as it said it. */
export class Problem extends Error {
  constructor(status, body) {
    super(body?.detail ?? body?.title ?? `the server returned status ${status}`);
    this.status = status;
    this.code = body?.code ?? '';
    this.hint = body?.hint ?? '';
    this.errors = Array.isArray(body?.errors) ? body.errors : [];
    // A server that is away may come back; one that says no will say it again.
    this.isFinal = status >= 400 && status < 500 && status !== 408 && status !== 429;
  }
}

/** The place that this page reads from. */
export function openOrigin() {
  const element = document.getElementById('exported');
  return element ? exported(JSON.parse(element.textContent)) : served();
}

/** Takes the token out of the page's address, so that it is in no bookmark, and keeps it for this tab. */
export function takeToken() {
  const fragment = location.hash.slice(1);
  if (!fragment.startsWith('token=')) return;
  const [token, ...rest] = fragment.slice('token='.length).split('&');
  keepToken(decodeURIComponent(token));
  history.replaceState(null, '', `${location.pathname}#${rest.join('&')}`);
}

/** Keeps a token for this tab. */
export function keepToken(token) {
  sessionStorage.setItem(TOKEN_KEY, token);
}

function served() {
  const run = (id) => `/v1/runs/${encodeURIComponent(id)}`;
  const json = async (...request) => (await ask(...request)).json();
  const send = (method, path, body) => json(path, { method, ...(body === undefined ? {} : jsonBody(body)) });
  const texts = cache(BLOBS_KEPT, async (key) => {
    const [id, digest] = key.split(' ');
    return (await ask(`${run(id)}/blobs/${encodeURIComponent(digest)}`)).text();
  });
  return {
    isExported: false,
    list: (filter) => json(`/v1/runs?${query(filter)}`),
    server: () => json('/v1/server'),
    fleet: () => json('/v1/fleet'),
    complete: async (prefix) => (await json(`/v1/paths?${query({ prefix })}`)).paths,
    watch: (id, after, watcher) =>
      follow({
        after,
        ...watcher,
        open: (seq, signal) =>
          ask(`${run(id)}/events`, {
            signal,
            headers: { Accept: 'text/event-stream', 'Last-Event-ID': String(seq) },
          }),
      }),
    events: async (id) =>
      lines(await (await ask(`${run(id)}/events`, { headers: { Accept: 'application/x-ndjson' } })).text()),
    blob: (id, digest) => texts(`${id} ${digest}`),
    report: (id) => json(`${run(id)}/report?format=json`),
    plan: (id) => json(`${run(id)}/plan`),
    source: (id, { source, line, context }) => json(`${run(id)}/source?${query({ source, line, context })}`),
    create: (request, files) =>
      files.length > 0
        ? json('/v1/runs', { method: 'POST', body: upload(request, files) })
        : send('POST', '/v1/runs', request),
    planOf: (request) => send('POST', '/v1/plan', request),
    cancel: (id) => send('POST', `${run(id)}/cancel`),
    decide: (id, call, decision) => send('POST', `${run(id)}/tools/${encodeURIComponent(call)}`, { decision }),
    resume: (id) => send('POST', `${run(id)}/resume`),
    reportAddress: (id, format) => `${run(id)}/report?format=${format}`,
    download: (path) => ask(path).then((response) => response.blob()),
  };
}

async function ask(path, options = {}) {
  const headers = { ...options.headers };
  const token = sessionStorage.getItem(TOKEN_KEY);
  if (token) headers.Authorization = `Bearer ${token}`;
  const response = await fetch(path, { ...options, headers, credentials: 'omit', referrerPolicy: 'no-referrer' });
  if (!response.ok) throw new Problem(response.status, await response.json().catch(() => null));
  return response;
}

function jsonBody(body) {
  return { body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } };
}

function upload(request, files) {
  const form = new FormData();
  form.append('request', new Blob([JSON.stringify(request)], { type: 'application/json' }));
  for (const file of files) form.append('file', file, file.webkitRelativePath || file.name);
  return form;
}

function query(values) {
  const kept = Object.entries(values).filter(([, value]) => value !== undefined && value !== null && value !== '');
  return new URLSearchParams(kept.map(([name, value]) => [name, String(value)])).toString();
}

function lines(text) {
  const events = [];
  for (const line of text.split('\n')) {
    if (line.trim() === '') continue;
    try {
      events.push(JSON.parse(line));
    } catch {
      // A torn last line is no event yet.
    }
  }
  return events;
}

/** Keeps what was asked for lately; a failure is not kept. */
function cache(max, load) {
  const kept = new Map();
  return (key) => {
    const known = kept.get(key);
    if (known) return known;
    const loaded = load(key);
    kept.set(key, loaded);
    loaded.catch(() => kept.delete(key));
    if (kept.size > max) kept.delete(kept.keys().next().value);
    return loaded;
  };
}

function exported(data) {
  const missing = (what) => Promise.reject(new Problem(404, { detail: what }));
  return {
    isExported: true,
    run: data.run,
    leftOut: data.left_out ?? { blobs: 0, bytes: 0 },
    watch: (_id, after, { onEvents, onLink }) => {
      onLink('connecting');
      onEvents(data.events.filter((event) => event.seq > after));
      onLink('ended');
      return () => {};
    },
    events: async () => data.events,
    blob: (_id, digest) =>
      Object.hasOwn(data.blobs, digest)
        ? Promise.resolve(data.blobs[digest])
        : missing('this text was omitted to keep the file small'),
    report: async () => data.report,
    plan: async () => data.plan,
    source: (_id, { source, line }) => {
      const found = data.excerpts.find(
        (excerpt) =>
          excerpt.source === source && excerpt.first_line <= line && line < excerpt.first_line + excerpt.lines.length,
      );
      return found
        ? Promise.resolve(found)
        : missing(data.excerpts_remark ?? 'these lines were not included in the file');
    },
  };
}

/** The text an event holds or names. */
export function textOf(origin, run, text) {
  if (!text) return Promise.resolve('');
  return typeof text.blob === 'string' ? origin.blob(run, text.blob) : Promise.resolve(text.text ?? '');
}
