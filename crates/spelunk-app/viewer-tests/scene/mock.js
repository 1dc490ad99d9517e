// Mock: a small server that implements the viewer's API from journals in memory, so that a test controls when events arrive
// and when connections break. Other tests run the same pages against the real server.

import { readFileSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';

const VIEWER = path.join(import.meta.dirname, '..', '..', 'viewer');
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'";
const TYPES = { '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml' };

/** Starts it. `runs` is `{id: {events, report, plan, blobs, source, row}}`; `push` adds events to a run. */
export async function startMock(runs) {
  const mock = { runs, requests: [], watchers: new Set(), created: [], refuse: null, token: null };
  const server = http.createServer((request, response) => {
    const address = new URL(request.url, 'http://localhost');
    mock.requests.push({
      method: request.method,
      path: address.pathname,
      query: address.search,
      headers: request.headers,
    });
    respond(mock, request, response, address).catch((error) => {
      response.writeHead(500);
      response.end(String(error));
    });
  });
  await new Promise((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  mock.url = `http://127.0.0.1:${server.address().port}/`;
  mock.push = (id, ...events) => {
    runs[id].events.push(
      ...events.filter((event) => event.seq && !['call.streamed', 'progress.ticked'].includes(event.type)),
    );
    for (const watcher of mock.watchers) if (watcher.id === id) for (const event of events) watcher.send(event);
  };
  mock.cut = () => {
    for (const watcher of mock.watchers) watcher.response.destroy();
    mock.watchers.clear();
  };
  mock.stop = () => {
    server.closeAllConnections();
    server.close();
  };
  return mock;
}

async function respond(mock, request, response, address) {
  const parts = address.pathname.split('/').filter(Boolean);
  if (parts.length === 0) return send(response, 200, 'text/html', page(), { 'Content-Security-Policy': POLICY });
  if (parts[0] === 'assets')
    return send(response, 200, TYPES[path.extname(parts[1])], readFileSync(path.join(VIEWER, path.basename(parts[1]))));
  if (mock.token && request.headers.authorization !== `Bearer ${mock.token}`)
    return problem(response, 401, 'a token is needed', 'unauthorized');
  if (parts[1] === 'server')
    return json(response, {
      version: '0',
      roots: ['service'],
      strategies: ['direct', 'repl', 'map'],
      limits_default: { calls_max: 500, cost_microusd_max: 5000000, tokens_max: 10000000, run_ms_max: 1800000 },
      has_model: true,
      model_names: ['openai/scripted'],
      auth: Boolean(mock.token),
      scopes: [],
    });
  if (parts[1] === 'paths')
    return json(response, {
      paths: (mock.paths ?? []).filter((name) => name.startsWith(address.searchParams.get('prefix') ?? '')),
    });
  if (parts[1] === 'plan') return json(response, mock.plan ?? { manifest: [], tasks: [] });
  if (parts[1] !== 'runs') return problem(response, 404, 'nothing here');
  if (parts.length === 2)
    return request.method === 'POST' ? create(mock, request, response) : list(mock, response, address);
  const run = mock.runs[decodeURIComponent(parts[2])];
  return run
    ? ofRun(mock, run, parts, request, response, address)
    : problem(response, 404, `there is no run \`${parts[2]}\``, 'run-not-found');
}

function ofRun(mock, run, [, , id, what, digest], request, response, address) {
  if (what === 'events') return events(mock, id, run, request, response);
  if (what === 'blobs')
    return run.blobs?.[digest] === undefined
      ? problem(response, 404, 'no such blob')
      : send(response, 200, 'text/plain; charset=utf-8', run.blobs[digest]);
  if (what === 'report')
    return json(
      response,
      typeof run.report === 'function' ? run.report() : (run.report ?? { findings: [], errors: [] }),
    );
  if (what === 'plan') return json(response, run.plan ?? { documents: [] });
  if (what === 'source')
    return run.source ? json(response, run.source(address.searchParams)) : problem(response, 404, 'the source is gone');
  if (what === 'cancel' || what === 'resume') {
    mock.done = `${what} ${id}`;
    run.isIdle = false;
    return json(response, {});
  }
  return problem(response, 404, 'nothing here');
}

function events(mock, id, run, request, response) {
  if (request.headers.accept === 'application/x-ndjson')
    return send(
      response,
      200,
      'application/x-ndjson',
      run.events.map((event) => `${JSON.stringify(event)}\n`).join(''),
    );
  response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
  const after = Number(request.headers['last-event-id'] ?? 0);
  const send_ = (event) => {
    const isRecorded = !['call.streamed', 'progress.ticked'].includes(event.type);
    response.write(`${isRecorded ? `id: ${event.seq}\n` : ''}event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    if (event.type === 'run.finished') response.end('event: end\ndata: {}\n\n');
  };
  response.write(': hello\n\n');
  const watcher = { id, send: send_, response };
  mock.watchers.add(watcher);
  request.on('close', () => mock.watchers.delete(watcher));
  for (const event of run.events) if (event.seq > after) send_(event);
  if (run.isIdle) response.end('event: end\ndata: {"state":"open"}\n\n');
  return undefined;
}

function list(mock, response, address) {
  const [q, state, limit] = [
    address.searchParams.get('q') ?? '',
    address.searchParams.get('state') ?? '',
    Number(address.searchParams.get('limit') ?? 50),
  ];
  const from = Number(address.searchParams.get('cursor') ?? 0);
  const rows = Object.entries(mock.runs)
    .map(([run, { row }]) => ({
      run,
      lifecycle: 'active',
      calls: 0,
      cost_microusd: 0,
      state: 'open',
      question: '',
      queued: false,
      ...row,
    }))
    .filter((row) => row.question.toLowerCase().includes(q.toLowerCase()) && row.state.startsWith(state))
    .sort((a, b) => (a.run < b.run ? 1 : -1));
  json(response, {
    runs: rows.slice(from, from + limit),
    ...(rows.length > from + limit ? { next: String(from + limit) } : {}),
  });
}

async function create(mock, request, response) {
  let body = '';
  for await (const piece of request) body += piece;
  mock.created.push({ type: request.headers['content-type'], body });
  if (mock.refuse) return send(response, mock.refuse.status, 'application/problem+json', JSON.stringify(mock.refuse));
  const id = Object.keys(mock.runs).sort().pop();
  return send(response, 202, 'application/json', JSON.stringify({ run: id, id, state: 'open', links: {} }));
}

function page() {
  const head =
    '<link rel="icon" href="/assets/icon.svg" type="image/svg+xml"><link rel="stylesheet" href="/assets/viewer.css"><script type="module" src="/assets/main.js"></script>';
  return readFileSync(path.join(VIEWER, 'page.html'), 'utf8').replace('<!--head-->', head);
}

function json(response, value) {
  return send(response, 200, 'application/json', JSON.stringify(value));
}

function problem(response, status, detail, code = '') {
  return send(
    response,
    status,
    'application/problem+json',
    JSON.stringify({ type: 'about:blank', title: detail, status, detail, code, hint: '' }),
  );
}

function send(response, status, type, body, headers = {}) {
  response.writeHead(status, { 'Content-Type': type, ...headers });
  response.end(body);
}
