// Api: the source of the page's data. `served` calls the server that sent the page; `exported` reads data embedded in the
// file. Both have the same methods, so views do not depend on which one is used.

import { follow } from './stream.js';

const TOKEN_KEY = 'spelunk-token';
const BLOBS_KEPT = 300;

/** A server's error response. */
export class Problem extends Error {
  constructor(status, body) {
    super(body?.detail ?? body?.title ?? `the server returned status ${status}`);
    this.status = status;
    this.code = body?.code ?? '';
    this.hint = body?.hint ?? '';
    this.errors = Array.isArray(body?.errors) ? body.errors : [];
    // An unavailable server may come back; a request that was rejected would be rejected again.
    this.isFinal = status >= 400 && status < 500 && status !== 408 && status !== 429;
  }
}

/** The data source of this page. */
export function openOrigin() {
  const element = document.getElementById('exported');
  return element ? exported(JSON.parse(element.textContent)) : served();
}

/** Moves the token from the page's address to this tab's storage, so that bookmarks do not contain it. */
export function takeToken() {
  const fragment = location.hash.slice(1);
  if (!fragment.startsWith('token=')) return;
  const [token, ...rest] = fragment.slice('token='.length).split('&');
  keepToken(decodeURIComponent(token));
  history.replaceState(null, '', `${location.pathname}#${rest.join('&')}`);
}

/** Stores a token for this tab. */
export function keepToken(token) {
  sessionStorage.setItem(TOKEN_KEY, token);
}

function served() {
  const run = (id) => `/v1/runs/${encodeURIComponent(id)}`;
  const json = async (...request) => (await fetchOk(...request)).json();
  const send = (method, path, body) => json(path, { method, ...(body === undefined ? {} : jsonBody(body)) });
  const texts = cache(BLOBS_KEPT, async (key) => {
    const [id, digest] = key.split(' ');
    return (await fetchOk(`${run(id)}/blobs/${encodeURIComponent(digest)}`)).text();
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
          fetchOk(`${run(id)}/events`, {
            signal,
            headers: { Accept: 'text/event-stream', 'Last-Event-ID': String(seq) },
          }),
      }),
    events: async (id) =>
      lines(await (await fetchOk(`${run(id)}/events`, { headers: { Accept: 'application/x-ndjson' } })).text()),
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
    download: (path) => fetchOk(path).then((response) => response.blob()),
  };
}

async function fetchOk(path, options = {}) {
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
  const entries = Object.entries(values).filter(([, value]) => value !== undefined && value !== null && value !== '');
  return new URLSearchParams(entries.map(([name, value]) => [name, String(value)])).toString();
}

function lines(text) {
  const events = [];
  for (const line of text.split('\n')) {
    if (line.trim() === '') continue;
    try {
      events.push(JSON.parse(line));
    } catch {
      // The last line may be incomplete.
    }
  }
  return events;
}

/** Caches the latest results of `load`, but not its failures. */
function cache(max, load) {
  const entries = new Map();
  return (key) => {
    const known = entries.get(key);
    if (known) return known;
    const loaded = load(key);
    entries.set(key, loaded);
    loaded.catch(() => entries.delete(key));
    if (entries.size > max) entries.delete(entries.keys().next().value);
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

/** The text that an event contains, or refers to by its digest. */
export function textOf(origin, run, text) {
  if (!text) return Promise.resolve('');
  return typeof text.blob === 'string' ? origin.blob(run, text.blob) : Promise.resolve(text.text ?? '');
}
