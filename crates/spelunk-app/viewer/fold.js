// Fold: the state of a run, computed from its events. It mirrors `RunView` of the engine; both are tested against the same
// totals (`viewer-tests/golden`). Pure and total: every prefix of a journal yields a state, and an unknown event is only
// counted.

import { whole } from './units.js';
import { effectSteps, forgetPendingConsent } from './effects.js';

/** Codes of failures caused by a limit: such a call was never sent. */
export const LIMIT_CODES = [
  'calls-exhausted',
  'tokens-exhausted',
  'cost-exhausted',
  'time-exhausted',
  'depth-exceeded',
  'children-exceeded',
  'turns-exhausted',
  'cells-exhausted',
  'desk-full',
];

const STREAMED_CHARS_MAX = 4000;
const WARNINGS_MAX = 1000;

/** A run before its first event. */
export function emptyRun() {
  return {
    seqLast: 0,
    nEvents: 0,
    nUnknown: 0,
    question: null,
    strategy: null,
    chosen: null,
    model: null,
    subModel: null,
    focus: 'general',
    sources: [],
    limits: {},
    corpus: null,
    engine: '',
    documents: 0,
    corpusBytes: 0,
    skipped: {},
    redacted: {},
    bytesRead: 0,
    documentsRead: 0,
    /** What each frame was shown while it has no answer; `read` holds it once the frame has answered. */
    shown: new Map(),
    read: new Map(),
    frames: new Map(),
    children: new Map(),
    calls: new Map(),
    cells: new Map(),
    nCells: 0,
    tools: new Map(),
    nTools: 0,
    effects: new Map(),
    tasks: null,
    reported: [],
    spent: { input_tokens: 0, cached_tokens: 0, cache_written_tokens: 0, output_tokens: 0, cost_microusd: 0 },
    warnings: [],
    citations: [],
    limitsReached: [],
    aside: [],
    nRequestsAside: 0,
    outcome: null,
    startedAtMs: 0,
    updatedAtMs: 0,
    resumed: 0,
    earlierMs: 0,
    segmentAtMs: 0,
    progress: null,
  };
}

/** Applies one event. A recorded event that was applied already is skipped, because a stream may repeat events. */
export function apply(run, event) {
  if (!event || typeof event !== 'object') return run;
  const isEphemeral = event.type === 'call.streamed' || event.type === 'progress.ticked';
  if (!isEphemeral && whole(event.seq) <= run.seqLast) return run;
  // The pause between two processes does not count as active time.
  if (event.type === 'run.resumed') run.earlierMs = activeMs(run);
  run.updatedAtMs = whole(event.at_ms);
  run.seqLast = Math.max(run.seqLast, whole(event.seq));
  if (!isEphemeral) {
    run.nEvents += 1;
    run.progress = null;
  }
  const step = STEPS[event.type];
  if (step && Object.hasOwn(STEPS, event.type)) step(run, event);
  else run.nUnknown += 1;
  return run;
}

/** Applies many events. */
export function applyAll(run, events) {
  for (const event of events) apply(run, event);
  return run;
}

const STEPS = {
  'run.started': (run, event) => {
    run.question = event.question ?? null;
    run.strategy = event.strategy ?? null;
    run.model = event.model ?? null;
    run.subModel = event.sub_model ?? null;
    run.focus = event.focus ?? 'general';
    run.sources = Array.isArray(event.sources) ? event.sources : [];
    run.limits = event.limits ?? {};
    run.corpus = event.corpus ?? null;
    run.engine = event.engine ?? '';
    run.startedAtMs = run.segmentAtMs = whole(event.at_ms);
  },
  'run.resumed': (run, event) => {
    if (event.again_from !== undefined && event.again_from !== null) setAside(run, whole(event.again_from), event);
    forgetPendingConsent(run);
    run.outcome = null;
    run.resumed += 1;
    run.segmentAtMs = whole(event.at_ms);
  },
  'run.finished': (run, event) => {
    run.outcome = event.outcome ?? null;
  },
  'source.scanned': (run, event) => {
    run.documents += whole(event.documents);
    run.corpusBytes += whole(event.bytes);
    sum(run.skipped, event.skipped);
    sum(run.redacted, event.redacted);
  },
  'frame.opened': openFrame,
  'frame.closed': closeFrame,
  'strategy.chosen': (run, event) => {
    run.chosen = event.strategy ?? null;
  },
  'passages.chosen': (run, event) => {
    run.shown.set(event.frame, { documents: whole(event.documents), bytes: whole(event.bytes) });
  },
  'call.started': startCall,
  'call.retried': (run, event) => {
    const call = run.calls.get(event.call);
    if (!call) return;
    call.retries.push(event.code);
    // Older engines counted a call once, however often it was retried.
    if (call.isCounted) call.nRequests += 1;
  },
  'call.wasted': (run, event) => {
    for (const name of Object.keys(run.spent)) run.spent[name] += whole(event.usage?.[name]);
  },
  'call.settled': settleCall,
  'call.streamed': (run, event) => {
    const call = run.calls.get(event.call);
    if (call && call.state === 'open') call.streamed = (call.streamed + (event.text ?? '')).slice(-STREAMED_CHARS_MAX);
  },
  'cell.ran': addCell,
  'desk.laid': () => {},
  'tool.ran': addTool,
  ...effectSteps({ addTwig, activeMs }),
  'question.added': (run, event) => {
    run.outcome = null;
    run.limitsReached = [];
    run.question = event.question ?? run.question;
  },
  'value.observed': () => {},
  'tasks.planned': (run, event) => {
    const tasks = tasksOf(run);
    tasks.planned = whole(event.tasks);
    tasks.documents = whole(event.documents);
    tasks.byType = event.by_type ?? {};
  },
  'findings.recalled': (run, event) => {
    tasksOf(run).recalled = whole(event.units);
  },
  'task.reported': (run, event) => {
    const tasks = tasksOf(run);
    tasks.done += 1;
    sum(tasks.findings, event.findings);
    run.reported.push({
      task: whole(event.task),
      label: event.label ?? '',
      relevant: event.relevant === true,
      findings: event.findings ?? {},
    });
  },
  'citation.checked': (run, event) => {
    const { seq, frame, citation, found } = event;
    run.citations.push({ citation, found, seq, frame });
  },
  'limit.reached': (run, event) => {
    run.limitsReached.push({ limit: event.limit, value: event.value, seq: whole(event.seq) });
  },
  'warning.raised': warn,
  'progress.ticked': (run, event) => {
    const documents = event.documents_total ? [whole(event.documents_done), whole(event.documents_total)] : null;
    run.progress = { what: event.what, documents, done: whole(event.done), total: whole(event.total) };
  },
};

/** Reopens everything that ended because of a limit that has since been raised. What was spent stays counted. */
function setAside(run, from, event) {
  run.aside.push([from, whole(event.seq)]);
  for (const frame of run.frames.values()) {
    if (frame.closedSeq === null || frame.closedSeq < from || isComplete(frame)) continue;
    if (frame.state === 'failed' && frame.strategy === 'analyst' && run.tasks) {
      run.tasks.failed = Math.max(0, run.tasks.failed - 1);
    }
    Object.assign(frame, { state: 'open', closedSeq: null, closedAtMs: null, closedActiveMs: null });
  }
  for (const call of run.calls.values()) {
    if (call.state !== 'failed' || call.settledSeq < from) continue;
    Object.assign(call, { state: 'open', settledSeq: null, settledAtMs: null, settledActiveMs: null });
  }
  const counts = ({ seq, frame }) => seq < from || (run.frames.has(frame) && isComplete(run.frames.get(frame)));
  run.citations = run.citations.filter(counts);
  run.limitsReached = run.limitsReached.filter((reached) => reached.seq < from);
}

function isAside(run, seq) {
  return run.aside.some(([from, until]) => seq >= from && seq < until);
}

/** Whether a frame ended with a complete answer. */
function isComplete(frame) {
  return frame.state === 'answered' && frame.grounding?.is !== 'partial';
}

function openFrame(run, event) {
  const before = run.frames.get(event.frame);
  if (before && !isAside(run, before.seq)) return;
  run.frames.set(event.frame, {
    id: event.frame,
    strategy: event.strategy,
    question: event.question,
    note: event.note ?? null,
    state: 'open',
    seq: event.seq,
    openedAtMs: whole(event.at_ms),
    openedActiveMs: activeMs(run),
    closedActiveMs: null,
    closedAtMs: null,
    closedSeq: null,
    answer: null,
    citations: [],
    grounding: null,
    code: null,
    message: '',
    nCalls: 0,
    tokens: 0,
    cost: 0,
  });
  addTwig(run, parentOf(event.frame), { kind: 'frame', id: event.frame, seq: event.seq }, Boolean(before));
}

/** Counts the text that a frame was shown, once it has answered. A frame's own figures replace those of its descendants. */
function countRead(run, id, strategy) {
  const own = run.shown.get(id);
  if (!own) return;
  run.shown.delete(id);
  const below = strategy === 'analyst' ? [] : Array.from(run.read.keys()).filter((other) => other.startsWith(`${id}.`));
  for (const other of [id, ...below]) {
    run.documentsRead -= run.read.get(other)?.documents ?? 0;
    run.bytesRead -= run.read.get(other)?.bytes ?? 0;
    run.read.delete(other);
  }
  run.read.set(id, own);
  run.documentsRead += own.documents;
  run.bytesRead += own.bytes;
}

function closeFrame(run, event) {
  const frame = run.frames.get(event.frame);
  const outcome = event.outcome ?? {};
  if (outcome.is === 'answered') countRead(run, event.frame, frame?.strategy);
  if (frame?.strategy === 'analyst' && outcome.is === 'failed' && run.tasks) run.tasks.failed += 1;
  if (!frame) return;
  frame.closedAtMs = whole(event.at_ms);
  frame.closedSeq = whole(event.seq);
  frame.closedActiveMs = activeMs(run);
  if (outcome.is === 'answered') {
    frame.state = 'answered';
    frame.answer = outcome.answer ?? null;
    frame.citations = Array.isArray(outcome.citations) ? outcome.citations : [];
    frame.grounding = outcome.grounding ?? null;
  } else {
    frame.state = 'failed';
    frame.code = outcome.code ?? 'unrecognised';
    frame.message = outcome.message ?? '';
  }
}

/** An event with a reservation means that a request is sent; a resumed run sends unfinished requests again. */
function startCall(run, event) {
  const isSent = Boolean(event.reserved);
  const before = run.calls.get(event.call);
  if (before && !isAside(run, before.seq)) {
    before.nRequests += isSent ? 1 : 0;
    before.isCounted ||= isSent;
    return;
  }
  // Requests already sent stay counted when another call takes this one's place.
  run.nRequestsAside += before?.nRequests ?? 0;
  run.calls.set(event.call, {
    id: event.call,
    frame: event.frame,
    model: event.model,
    prompt: event.text,
    state: 'open',
    retries: [],
    nRequests: isSent ? 1 : 0,
    isCounted: isSent,
    seq: event.seq,
    startedAtMs: whole(event.at_ms),
    startedActiveMs: activeMs(run),
    settledAtMs: null,
    settledActiveMs: null,
    settledSeq: null,
    reply: null,
    usage: null,
    served: null,
    stop: null,
    code: null,
    message: '',
    streamed: '',
  });
  addTwig(run, event.frame, { kind: 'call', id: event.call, seq: event.seq }, Boolean(before));
}

/** Ends a call. Later ends of the same call are ignored. */
function settleCall(run, event) {
  const call = run.calls.get(event.call);
  if (!call || call.state !== 'open') return;
  const outcome = event.outcome ?? {};
  call.settledAtMs = whole(event.at_ms);
  call.settledSeq = whole(event.seq);
  call.settledActiveMs = activeMs(run);
  call.streamed = '';
  const isReplied = outcome.is === 'replied';
  const isSent = isReplied ? event.served === 'live' : !LIMIT_CODES.includes(outcome.code ?? 'unrecognised');
  // Older engines recorded only the end of a request, not that it was sent.
  if (isSent && !call.isCounted) call.nRequests += 1;
  if (!isReplied) {
    call.state = 'failed';
    call.code = outcome.code ?? 'unrecognised';
    call.message = outcome.message ?? '';
    return;
  }
  Object.assign(call, {
    state: 'replied',
    reply: outcome.reply,
    usage: outcome.usage ?? {},
    stop: outcome.stop,
    served: event.served,
  });
  for (const name of Object.keys(run.spent)) run.spent[name] += whole(call.usage[name]);
  const frame = run.frames.get(call.frame);
  if (frame) {
    frame.nCalls += 1;
    frame.tokens += whole(call.usage.input_tokens) + whole(call.usage.output_tokens);
    frame.cost += whole(call.usage.cost_microusd);
  }
}

function addCell(run, event) {
  // An earlier cell with this number was set aside, with all later ones.
  const before = run.cells.get(event.frame) ?? [];
  const kept = upTo(before, (cell) => cell.cell < whole(event.cell));
  const isAgain = kept !== before;
  run.cells.set(event.frame, kept);
  run.nCells += 1 + kept.length - before.length;
  const endedActiveMs = activeMs(run);
  run.cells.get(event.frame).push({
    id: `${event.frame}:${whole(event.cell)}`,
    frame: event.frame,
    cell: whole(event.cell),
    code: event.code,
    output: event.output,
    outcome: event.outcome ?? {},
    tookMs: whole(event.took_ms),
    seq: event.seq,
    calls: whole(event.calls),
    children: whole(event.children),
    startedActiveMs: Math.max(0, endedActiveMs - whole(event.took_ms)),
    endedActiveMs,
  });
  addTwig(run, event.frame, { kind: 'cell', id: `${event.frame}:${whole(event.cell)}`, seq: event.seq }, isAgain);
}

/** A tool call by an agent, on its desk. */
function addTool(run, event) {
  const before = run.tools.get(event.frame) ?? [];
  const kept = upTo(before, (tool) => tool.tool < whole(event.tool));
  const isAgain = kept !== before;
  run.tools.set(event.frame, kept);
  run.nTools += 1 + kept.length - before.length;
  const id = `${event.frame}!${whole(event.tool)}`;
  run.tools.get(event.frame).push({
    id,
    tool: whole(event.tool),
    frame: event.frame,
    name: String(event.name ?? ''),
    arguments: event.arguments,
    output: event.output,
    hasFailed: event.failed === true,
    startedActiveMs: Math.max(0, activeMs(run) - whole(event.took_ms)),
    paths: (Array.isArray(event.files) ? event.files : []).map((file) => String(file?.path ?? '')),
    tookMs: whole(event.took_ms),
    seq: event.seq,
  });
  addTwig(run, event.frame, { kind: 'tool', id, seq: event.seq }, isAgain);
}

/** Adds a warning once: a resumed run repeats its warnings. */
function warn(run, event) {
  const [message, hint] = [event.message ?? '', event.hint ?? ''];
  const isKnown = run.warnings.some((other) => other.message === message && other.hint === hint);
  if (!isKnown && run.warnings.length < WARNINGS_MAX) run.warnings.push({ message, hint });
}

function tasksOf(run) {
  run.tasks ??= { planned: 0, documents: 0, recalled: 0, done: 0, failed: 0, findings: {}, byType: {} };
  return run.tasks;
}

/** The items that come before; the list itself if all of them do. */
function upTo(list, isBefore) {
  return list.length === 0 || isBefore(list.at(-1)) ? list : list.filter(isBefore);
}

/** Adds a twig. One that replaces another is listed where it happened, not where the other was. */
function addTwig(run, frame, twig, isAgain) {
  const own = run.children.get(frame) ?? [];
  const others = isAgain ? own.filter((other) => other.kind !== twig.kind || other.id !== twig.id) : own;
  others.push(twig);
  run.children.set(frame, others);
}

function sum(sums, counts) {
  for (const [name, n] of Object.entries(counts ?? {})) {
    Object.defineProperty(sums, name, {
      value: whole(sums[name]) + whole(n),
      enumerable: true,
      writable: true,
      configurable: true,
    });
  }
}

/** The frame that opened this one; the root has none. */
export function parentOf(frame) {
  const at = String(frame).lastIndexOf('.');
  return at < 0 ? '' : String(frame).slice(0, at);
}

/** The time during which a process worked on the run. */
export function activeMs(run) {
  return run.earlierMs + Math.max(0, run.updatedAtMs - run.segmentAtMs);
}

const callsOf = (run) => Array.from(run.calls.values());

/** Requests that were sent: answered, retried or given up. Answers from the cache do not count. */
export function paidCalls(run) {
  return callsOf(run).reduce((n, call) => n + call.nRequests, run.nRequestsAside);
}

/** Calls answered from the cache. */
export function cachedCalls(run) {
  return callsOf(run).filter((call) => call.state === 'replied' && call.served === 'cache').length;
}

/** Calls that are waiting for a reply. */
export function openCalls(run) {
  return callsOf(run).filter((call) => call.state === 'open').length;
}

/** The answer of the root frame: `{answer, citations, grounding}`, or nothing. */
export function answerOf(run) {
  const root = run.frames.get('0');
  return root?.state === 'answered' ? root : null;
}

/** The state of a run, in a few words. */
export function stateOf(run) {
  const outcome = run.outcome;
  if (!outcome) return 'unfinished';
  if (outcome.is === 'partial') return `limited: ${outcome.stopped_by}`;
  if (outcome.is === 'failed') return `failed: ${outcome.code}`;
  return String(outcome.is);
}
