// Run: the page of one run. Events are collected as they come and folded once per picture; what is not in sight is drawn
// when it is looked at.

import { announce, el, fill, say } from './dom.js';
import { answerOf, apply, emptyRun, openCalls, stateOf } from './fold.js';
import { count, head, listed, shortName, whole } from './units.js';
import { textOf } from './api.js';
import { prose } from './prose.js';
import { citationKey, citationList, sourceDialog } from './source.js';
import { masthead } from './masthead.js';
import { timeline } from './timeline.js';
import { callList } from './calls.js';
import { tree } from './tree.js';
import { cells } from './cells.js';
import { detail } from './detail.js';
import { findings } from './findings.js';
import { treemap } from './treemap.js';
import { log } from './log.js';

const TABS = [['answer', 'Answer'], ['timeline', 'Timeline'], ['tree', 'Tree'], ['cells', 'Cells'], ['findings', 'Findings'], ['plan', 'Plan'], ['events', 'Events']];
/** Events are folded for so long, then a picture is due. */
const FOLD_MS_MAX = 10;
const EVENTS_AT_ONCE = 100;
const DRAW_MS_MIN = 120;
const REPORT_MS_MIN = 2000;
const TASKS_SHOWN = 12;

/** The page. `tab` is the one to begin with. */
export function runPage({ origin, id, tab, go }) {
  const source = sourceDialog(origin, id);
  const state = { run: emptyRun(), events: [], queue: [], isScheduled: false, drawnAtMs: 0, tab: TABS.some(([name]) => name === tab) ? tab : 'answer', link: 'connecting', reportSeq: -1, reportAtMs: -REPORT_MS_MIN, isReportDue: false, isGone: false, timers: new Set() };
  const top = masthead({ origin, id, go });
  const panels = makePanels(origin, id, source.open, (kind, name) => choose(kind, name));
  const box = el('div', { class: 'panel', role: 'tabpanel', id: 'run-panel', 'aria-labelledby': `tab-${state.tab}` });
  const tabs = tabList(state, (name) => showTab(name, true));
  const element = el('article', { class: 'run' }, top.element, tabs, box, source.element);

  const choose = (kind, name) => {
    const panel = panels[state.tab];
    panel.detail?.show(state.run, kind, name);
    panel.select?.(kind, name);
  };
  const draw = () => {
    state.drawnAtMs = performance.now();
    top.show(state.run, state.link);
    panels[state.tab].show(state);
    const nOf = { cells: state.run.nCells, findings: sumOf(state.run.tasks?.findings), events: state.run.nEvents, timeline: state.run.calls.size };
    for (const mark of tabs.querySelectorAll('.n')) say(mark, nOf[mark.dataset.of] ? nOf[mark.dataset.of].toLocaleString('en') : '');
    if (['findings', 'plan', 'answer'].includes(state.tab)) refreshReport();
  };
  const later = (work, ms) => {
    const timer = setTimeout(() => { state.timers.delete(timer); if (!state.isGone) work(); }, ms);
    state.timers.add(timer);
  };
  /** Findings and plan are folded by the server; they are asked for again when the run has moved on. */
  const refreshReport = () => {
    const [run, now] = [state.run, performance.now()];
    if (state.reportSeq === run.seqLast || run.seqLast === 0) return;
    const waitMs = state.reportAtMs + REPORT_MS_MIN - now;
    if (waitMs > 0 && !run.outcome) {
      if (!state.isReportDue) later(() => { state.isReportDue = false; refreshReport(); }, waitMs);
      state.isReportDue = true;
      return;
    }
    [state.reportSeq, state.reportAtMs] = [run.seqLast, now];
    origin.report(id).then((report) => { if (!state.isGone) { panels.findings.take(report); panels.answer.take(report); } }).catch(() => {});
    if (state.tab === 'plan') origin.plan(id).then((plan) => !state.isGone && panels.plan.take(plan)).catch((error) => panels.plan.fail(error));
  };
  const pump = () => {
    state.isScheduled = false;
    if (state.isGone) return;
    const before = stateOf(state.run);
    foldSome(state);
    if (before !== stateOf(state.run) && state.run.nEvents > 0) announce(`The run is ${stateOf(state.run)}`);
    const isDue = performance.now() - state.drawnAtMs >= DRAW_MS_MIN || (state.queue.length === 0 && state.run.outcome);
    if (isDue) draw();
    if (state.queue.length > 0) schedule();
    else if (!isDue) later(draw, DRAW_MS_MIN);
  };
  const schedule = () => {
    if (state.isScheduled) return;
    state.isScheduled = true;
    // A page in the background is given no pictures, and must not pile up events.
    if (document.hidden) later(pump, 250);
    else requestAnimationFrame(pump);
  };
  const showTab = (name, isChosen) => {
    state.tab = name;
    for (const one of tabs.children) {
      const isOn = one.id === `tab-${name}`;
      one.setAttribute('aria-selected', String(isOn));
      one.tabIndex = isOn ? 0 : -1;
      if (isOn && isChosen) one.focus();
      if (isOn) tabs.scrollLeft = Math.max(0, one.offsetLeft - tabs.offsetLeft - 40);
    }
    box.setAttribute('aria-labelledby', `tab-${name}`);
    fill(box, panels[name].element);
    if (name === 'plan') state.reportSeq = -1;
    if (isChosen) history.replaceState(null, '', `#/run/${encodeURIComponent(id)}/${name}`);
    draw();
  };
  const stop = origin.watch(id, 0, {
    onEvents: (events) => { for (const event of events) state.queue.push(event); schedule(); },
    onLink: (word, error) => {
      state.link = word;
      if (word === 'refused') top.fail(error);
      schedule();
    },
  });
  const clock = setInterval(() => { if (!document.hidden && !state.run.outcome && state.link === 'live') top.tick(state.run); }, 1000);
  showTab(state.tab, false);
  return {
    element, title: `Run ${shortName(id)}`, tabs: TABS.map(([name]) => name), showTab: (name) => showTab(name, true), redraw: () => draw(),
    leave: () => { state.isGone = true; stop(); clearInterval(clock); for (const timer of state.timers) clearTimeout(timer); },
  };
}

/** Folds what has come in, as far as there is time before the next picture. */
function foldSome(state) {
  const began = performance.now();
  let n = 0;
  while (n < state.queue.length && (n % EVENTS_AT_ONCE !== 0 || performance.now() - began < FOLD_MS_MAX)) {
    const seqBefore = state.run.seqLast;
    apply(state.run, state.queue[n]);
    if (state.run.seqLast > seqBefore) state.events.push(state.queue[n]);
    n += 1;
  }
  state.queue.splice(0, n);
}

function tabList(state, onChoose) {
  const names = TABS.map(([name]) => name);
  return el('div', { class: 'tabs', role: 'tablist', 'aria-label': 'Views of the run', on: {
    keydown: (event) => {
      const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (by) onChoose(names[(names.indexOf(state.tab) + by + names.length) % names.length]);
    },
  } }, TABS.map(([name, label]) => el('button', { type: 'button', role: 'tab', id: `tab-${name}`, 'aria-controls': 'run-panel', on: { click: () => onChoose(name) } },
    label, ' ', el('span', { class: 'n', data: { of: name } }))));
}

function sumOf(counts) {
  return Object.values(counts ?? {}).reduce((sum, n) => sum + whole(n), 0);
}

/** The views of a run. Each has `element` and `show(state)`. */
function makePanels(origin, id, openSource, choose) {
  const context = { origin, runId: id, openSource };
  const [line, calls, frames] = [timeline({ onOpen: (call) => choose('call', call) }), callList({ onOpen: (call) => choose('call', call) }), tree({ onOpen: choose })];
  const [lineDetail, treeDetail] = [detail(context), detail(context)];
  const [code, found, map, journal] = [cells(context), findings(context), treemap({}), log()];
  const fault = el('p', { class: 'failure', hidden: true });
  return {
    answer: answerPanel(context),
    timeline: {
      element: el('div', {}, line.element, el('div', { class: 'split' }, calls.element, lineDetail.element)), detail: lineDetail,
      show: ({ run }) => { line.show(run); calls.show(run); }, select: (_kind, name) => { line.select(name); calls.select(name); },
    },
    tree: { element: el('div', { class: 'split' }, frames.element, treeDetail.element), detail: treeDetail, show: ({ run }) => frames.show(run) },
    cells: { element: code.element, show: ({ run }) => code.show(run) },
    findings: { element: found.element, show: () => {}, take: found.show },
    plan: { element: el('div', {}, fault, map.element), show: () => {}, take: (plan) => { fault.hidden = true; map.show(plan); }, fail: (error) => { fault.hidden = false; say(fault, error.message); } },
    events: { element: journal.element, show: ({ events }) => journal.show(events) },
  };
}

/** The answer, its evidence, and what people should know besides. */
function answerPanel(context) {
  const [body, evidence, remarks, coverage] = [el('div', { class: 'card' }), el('section', { class: 'evidence', 'aria-label': 'Evidence' }), el('div', {}), el('div', {})];
  let shown = null;
  const write = (run, answer) => {
    const places = new Map(answer.citations.map((citation) => [`${citation.document}:${citation.line}`, citation]));
    const open = (place) => context.openSource(places.get(place));
    textOf(context.origin, context.runId, answer.answer).then((text) => fill(body, prose(text, new Set(places.keys()), open)))
      .catch((error) => fill(body, el('p', { class: 'failure' }, error.message)));
    const checked = new Map(run.citations.map(({ citation, found }) => [citationKey(citation), found]));
    fill(evidence, el('h2', {}, 'Evidence'), answer.citations.length > 0 ? citationList(answer.citations, checked, context.openSource)
      : el('p', { class: 'empty' }, 'The answer cites nothing.'));
  };
  return {
    element: el('div', { class: 'answer-page' }, el('div', {}, remarks, body, coverage), evidence),
    show({ run }) {
      const answer = answerOf(run);
      const name = answer ? `${answer.closedAtMs}` : `${run.seqLast} ${stateOf(run)} ${speaking(run).reduce((sum, call) => sum + call.streamed.length, 0)}`;
      fill(remarks, warnings(run));
      if (name === shown) return;
      shown = name;
      if (answer) write(run, answer);
      else fill(body, underWay(run));
    },
    take(report) {
      fill(coverage, (report.errors ?? []).length > 0 ? el('details', { class: 'text' }, el('summary', {}, 'Errors on the way ', el('span', { class: 'n' }, String(report.errors.length))),
        el('ul', { class: 'plain' }, report.errors.slice(0, 100).map((error) => el('li', {}, el('code', {}, error.call ?? error.frame), ` ${error.code}: ${error.message}`)))) : null);
    },
  };
}

function underWay(run) {
  const { outcome, tasks } = run;
  if (outcome?.is === 'failed') return el('p', { class: 'failure' }, `The run failed: ${outcome.message || outcome.code}`);
  if (outcome) return el('p', { class: 'empty' }, 'There is no answer.');
  return [tasks ? tasksSoFar(run) : el('p', { class: 'empty' }, run.nEvents === 0 ? 'Waiting for the first event…' : `${count(openCalls(run), 'call')} under way.`),
    run.progress ? el('p', { class: 'hint' }, `${run.progress.what}: ${run.progress.done} of ${run.progress.total}`) : null,
    speaking(run).map((call) => el('section', {}, el('h4', {}, `Call ${call.id} says`), el('pre', { class: 'code stream', tabindex: '0' }, call.streamed)))];
}

/** How far analysts have come, and what the latest of them found. */
function tasksSoFar(run) {
  const { done, failed, planned } = run.tasks;
  const told = ({ findings: counts, relevant }) => (sumOf(counts) > 0 ? `${count(sumOf(counts), 'finding')} (${listed(counts)})` : relevant ? 'nothing found' : 'not relevant');
  return [el('p', {}, `Analysts have read ${done + failed} of ${count(planned, 'part')}${openCalls(run) > 0 ? `; ${count(openCalls(run), 'call')} under way` : ''}.`),
    el('progress', { max: String(Math.max(1, planned)), value: String(done + failed), 'aria-label': 'Parts that were read' }),
    el('ul', { class: 'plain' }, run.reported.slice(-TASKS_SHOWN).reverse().map((task) => el('li', {}, el('code', {}, head(task.label, 120)), ' ', el('span', { class: 'hint' }, told(task)))))];
}

/** The calls whose replies are being written; the latest ones. */
function speaking(run) {
  return Array.from(run.calls.values()).filter((call) => call.state === 'open' && call.streamed).slice(-3);
}

function warnings(run) {
  const stopped = run.outcome?.is === 'partial' ? [{ message: `This answer is partial: ${run.outcome.stopped_by}.`, hint: '' }] : [];
  return [...stopped, ...run.warnings].map(({ message, hint }) => el('p', { class: 'warning' }, message, hint ? el('span', { class: 'hint' }, ` ${hint}`) : null));
}
