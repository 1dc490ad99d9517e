// Run: the page of one run and its views. A view is drawn only while it is visible.

import { announce, el, fill, setText } from './dom.js';
import { stateOf } from './fold.js';
import { itemAddress, shortName, total } from './units.js';
import { failurePage } from './states.js';
import { sourceDialog } from './source.js';
import { masthead } from './masthead.js';
import { consentPanel } from './consent.js';
import { watchRun } from './watch.js';
import { answerPanel } from './answer.js';
import { timeline } from './timeline.js';
import { callList } from './calls.js';
import { flame } from './flame.js';
import { findCell, findTool, tree } from './tree.js';
import { cells } from './cells.js';
import { detail } from './detail.js';
import { findings } from './findings.js';
import { treemap } from './treemap.js';
import { log } from './log.js';

const TABS = [
  ['answer', 'Answer'],
  ['timeline', 'Timeline'],
  ['tree', 'Tree'],
  ['cells', 'Cells'],
  ['findings', 'Findings'],
  ['plan', 'Plan'],
  ['events', 'Events'],
];
const REPORT_MS_MIN = 2000;

/** The page. `tab` is the view to start with. */
export function runPage({ origin, id, tab, item = [], go }) {
  const source = sourceDialog(origin, id);
  const state = { tab: TABS.some(([name]) => name === tab) ? tab : 'answer', announced: null, wanted: item };
  const top = masthead({ origin, id, go });
  const consent = consentPanel({ origin, id, onFail: top.fail });
  const choose = (kind, name) => {
    state.wanted = [];
    panels[state.tab].detail?.show(watch.run, kind, name);
    panels[state.tab].select?.(kind, name);
    history.replaceState(null, '', itemAddress(id, state.tab, kind, name));
  };
  const panels = makePanels(origin, id, source.open, choose);
  const box = el('div', { class: 'panel', role: 'tabpanel', id: 'run-panel', 'aria-labelledby': `tab-${state.tab}` });
  const tabs = tabList(state, (name) => showTab(name, true));
  const element = el('article', { class: 'run' }, top.element, consent.element, tabs, box, source.element);

  const draw = () => {
    top.show(watch.run, watch.link);
    consent.show(watch.run, watch.link);
    panels[state.tab].show(watch);
    panels[state.tab].detail?.refresh(watch.run);
    showCounts(tabs, watch.run, state.nFindings);
    const [kind, name] = state.wanted;
    if (name && panels[state.tab].detail && holds(watch.run, kind, name)) choose(kind, name);
    if (['findings', 'plan', 'answer'].includes(state.tab)) reports.refresh(state.tab);
    const word = stateOf(watch.run);
    if (state.announced !== null && state.announced !== word) announce(`The run is ${word}`);
    if (watch.run.nEvents > 0) state.announced = word;
  };
  const showTab = (name, isChosen) => {
    state.tab = name;
    if (isChosen) state.wanted = [];
    mark(tabs, name, isChosen);
    box.setAttribute('aria-labelledby', `tab-${name}`);
    fill(box, panels[name].element);
    reports.forget();
    if (isChosen) history.replaceState(null, '', `#/run/${encodeURIComponent(id)}/${name}`);
    draw();
  };
  const watch = watchRun({ origin, id, onDraw: draw, onRefused: (error) => (error.status === 401 || error.status === 404 ? refuse(error) : top.fail(error)) });
  const refuse = (error) => fill(element, failurePage(error, () => go(`#/run/${encodeURIComponent(id)}`)));
  const reports = reporter(origin, id, watch, panels, (report) => {
    state.nFindings = report?.findings?.length ?? 0;
    showCounts(tabs, watch.run, state.nFindings);
  });
  const clock = setInterval(() => {
    if (document.hidden || watch.run.outcome || watch.link !== 'live') return;
    panels[state.tab].tick?.(watch.run, top.tick(watch.run));
  }, 1000);
  showTab(state.tab, false);
  return {
    element,
    title: `Run ${shortName(id)}`,
    // A getter, because the page is created before the run is folded.
    get tabs() {
      return TABS.map(([name]) => name).filter((name) => name !== 'plan' || watch.run.tasks);
    },
    showTab: (name) => showTab(name, true),
    redraw: draw,
    dispose: () => {
      watch.stop();
      clearInterval(clock);
    },
  };
}

/** Fetches findings and plan, which the server computes, again after new events, but not too often. */
function reporter(origin, id, watch, panels, onReport) {
  let [seq, atMs, isDue] = [-1, -REPORT_MS_MIN, false];
  const refresh = (tab) => {
    const { run } = watch;
    if (seq === run.seqLast || run.seqLast === 0) return;
    const waitMs = atMs + REPORT_MS_MIN - performance.now();
    if (waitMs > 0 && !run.outcome && seq >= 0) {
      if (!isDue) watch.later(() => ((isDue = false), refresh(tab)), waitMs);
      isDue = true;
      return;
    }
    [seq, atMs] = [run.seqLast, performance.now()];
    origin
      .report(id)
      .then((report) => {
        panels.findings.take(report);
        panels.answer.take(report);
        onReport(report);
      })
      .catch(panels.findings.fail);
    if (tab === 'plan') origin.plan(id).then(panels.plan.take).catch(panels.plan.fail);
  };
  return { refresh, forget: () => (seq = -1) };
}

/** Whether a run already has this frame, call, cell or tool. */
function holds(run, kind, name) {
  if (kind === 'frame') return run.frames.has(name);
  if (kind === 'call') return run.calls.has(name);
  if (kind === 'effect') return run.effects.has(name);
  return Boolean(kind === 'cell' ? findCell(run, name) : kind === 'tool' && findTool(run, name));
}

/** Shows the number of items in each view. A run without tasks has no plan; only a report merges equal findings. */
function showCounts(tabs, run, nFindings) {
  tabs.querySelector('#tab-plan').hidden = !run.tasks;
  const nOf = {
    cells: run.nCells + run.nTools,
    findings: nFindings ?? total(run.tasks?.findings),
    events: run.nEvents,
    timeline: run.calls.size,
  };
  for (const place of tabs.querySelectorAll('.n')) {
    const n = nOf[place.dataset.of];
    setText(place, n ? n.toLocaleString('en') : '');
  }
}

function mark(tabs, name, isChosen) {
  for (const one of tabs.children) {
    const isOn = one.id === `tab-${name}`;
    one.setAttribute('aria-selected', String(isOn));
    one.tabIndex = isOn ? 0 : -1;
    if (isOn && isChosen) one.focus();
    if (isOn) tabs.scrollLeft = Math.max(0, one.offsetLeft - tabs.offsetLeft - 40);
  }
}

function tabList(state, onChoose) {
  const names = TABS.map(([name]) => name);
  return el(
    'div',
    {
      class: 'tabs',
      role: 'tablist',
      'aria-label': 'Views of the run',
      on: {
        keydown: (event) => {
          const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
          const there = names.filter((name) => !document.getElementById(`tab-${name}`).hidden);
          if (by) onChoose(there[(there.indexOf(state.tab) + by + there.length) % there.length]);
        },
      },
    },
    TABS.map(([name, label]) =>
      el(
        'button',
        {
          type: 'button',
          role: 'tab',
          id: `tab-${name}`,
          'aria-controls': 'run-panel',
          on: { click: () => onChoose(name) },
        },
        label,
        ' ',
        el('span', { class: 'n', data: { of: name } }),
      ),
    ),
  );
}

/** The views of a run. Each has `element` and `show(state)`. */
function makePanels(origin, id, openSource, choose) {
  const context = { origin, runId: id, openSource };
  const [line, lanes, calls, frames] = [
    timeline({ onOpen: (call) => choose('call', call) }),
    flame({ onOpen: choose }),
    callList({ onOpen: (call) => choose('call', call) }),
    tree({ onOpen: choose }),
  ];
  const [lineDetail, treeDetail] = [detail(context), detail(context)];
  const [code, found, map, journal] = [cells(context), findings(context), treemap({}), log()];
  return {
    answer: answerPanel(context),
    timeline: {
      element: el(
        'div',
        {},
        el('div', { class: 'pictures' }, line.element, lanes.element),
        el('div', { class: 'split' }, calls.element, lineDetail.element),
      ),
      detail: lineDetail,
      show: ({ run }) => {
        line.show(run);
        lanes.show(run);
        calls.show(run);
      },
      tick: (run, extraMs) => {
        line.show(run, extraMs);
        lanes.show(run, extraMs);
      },
      select: (kind, name) => {
        lanes.select(kind, name);
        if (kind !== 'call') return;
        line.select(name);
        calls.select(name);
      },
    },
    tree: {
      element: el('div', { class: 'split' }, frames.element, treeDetail.element),
      detail: treeDetail,
      show: ({ run }) => frames.show(run),
      select: frames.select,
    },
    cells: { element: code.element, show: ({ run }) => code.show(run) },
    findings: fromServer(found),
    plan: fromServer(map),
    events: { element: journal.element, show: ({ events }) => journal.show(events) },
  };
}

/** A view of data from the server: `take` receives the data, `fail` the error. */
function fromServer(view) {
  const fault = el('p', { class: 'failure', hidden: true });
  return {
    element: el('div', {}, fault, view.element),
    show: () => {},
    take: (value) => {
      fault.hidden = true;
      view.show(value);
    },
    fail: (error) => {
      fault.hidden = false;
      setText(fault, error.message);
    },
  };
}
