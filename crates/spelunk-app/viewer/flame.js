// Flame: frames as lanes over the time of the run, children below their parents, with the calls and cells of each frame
// below it. Bars in progress grow.

import { el, perFrame } from './dom.js';
import { activeMs } from './fold.js';
import { time } from './units.js';

const LANE_PX = 15;
const LANE_PX_MIN = 3;
const FLAME_PX_MAX = 360;
const LABEL_PX_MIN = 46;

/**
 * The bars of a run: `{kind, id, role, state, start, end, depth, lane}`. Lanes are counted from the top; bars that overlap
 * at the same depth get separate lanes.
 */
export function flameBars(run, nowMs) {
  const bars = [];
  const bar = (kind, id, depth, role, state, start, end) =>
    bars.push({ kind, id, depth, role, state, start, end: Math.max(end ?? nowMs, start) });
  const depthOf = (frame) => String(frame).split('.').length - 1;
  for (const frame of run.frames.values())
    bar('frame', frame.id, depthOf(frame.id) * 2, frame.strategy, frame.state, frame.openedActiveMs, frame.closedActiveMs);
  const root = run.model ? `${run.model.provider}/${run.model.name}` : '';
  for (const call of run.calls.values()) {
    const role = call.served === 'cache' ? 'cached' : call.model === root ? 'root' : 'sub';
    bar('call', call.id, depthOf(call.frame) * 2 + 1, role, call.state, call.startedActiveMs, call.settledActiveMs);
  }
  for (const cell of Array.from(run.cells.values()).flat())
    bar('cell', cell.id, depthOf(cell.frame) * 2 + 1, 'cell', cell.outcome.is, cell.startedActiveMs, cell.endedActiveMs);
  return inLanes(bars);
}

function inLanes(bars) {
  bars.sort((a, b) => a.depth - b.depth || a.start - b.start || b.end - a.end);
  let [depth, first, freeAt] = [-1, 0, []];
  for (const bar of bars) {
    if (bar.depth !== depth) [depth, first, freeAt] = [bar.depth, first + freeAt.length, []];
    let lane = freeAt.findIndex((at) => at <= bar.start);
    if (lane < 0) lane = freeAt.length;
    freeAt[lane] = Math.max(bar.end, bar.start + 1);
    bar.lane = first + lane;
  }
  return { bars, nLanes: first + freeAt.length };
}

/** The chart. `onOpen(kind, id)` is called when a bar is chosen. */
export function flame({ onOpen }) {
  const canvas = el('canvas', { class: 'timeline flame', tabindex: '0', role: 'img', 'aria-label': 'Frames over time' });
  const caption = el('p', { class: 'under' });
  const state = { bars: [], nLanes: 0, end: 1, chosen: '', lanePx: LANE_PX };
  const draw = perFrame(() => paintFlame(canvas, state));
  const keyOf = (bar) => `${bar.kind} ${bar.id}`;
  const describe = (bar) => {
    caption.textContent = bar
      ? `${bar.kind} ${bar.id} · ${bar.role} · ${bar.state} · ${time(bar.end - bar.start)}`
      : 'Frames in green, calls of the root model in blue, of the sub-model in teal, cells in violet.';
  };
  const chosenBar = () => state.bars.find((bar) => keyOf(bar) === state.chosen);
  const at = (event) => {
    const box = canvas.getBoundingClientRect();
    const ms = ((event.clientX - box.left) / box.width) * state.end;
    const slack = (state.end / box.width) * 3;
    const lane = Math.floor((event.clientY - box.top) / state.lanePx);
    return state.bars.find((bar) => bar.lane === lane && ms >= bar.start - slack && ms <= bar.end + slack);
  };
  const choose = (bar) => {
    if (!bar) return;
    state.chosen = keyOf(bar);
    describe(bar);
    draw();
  };
  const step = (by) => {
    const idx = state.bars.findIndex((bar) => keyOf(bar) === state.chosen);
    choose(state.bars[Math.min(state.bars.length - 1, Math.max(0, idx + by))]);
  };
  const open = (bar) => bar && onOpen(bar.kind, bar.id);
  const keys = { ArrowRight: () => step(1), ArrowLeft: () => step(-1), Enter: () => open(chosenBar()) };
  canvas.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(keys, event.key)) return;
    event.preventDefault();
    keys[event.key]();
  });
  canvas.addEventListener('pointermove', (event) => describe(at(event) ?? chosenBar()));
  canvas.addEventListener('click', (event) => {
    const bar = at(event);
    choose(bar);
    open(bar);
  });
  new ResizeObserver(draw).observe(canvas);
  return {
    element: el('div', { class: 'timeline-box' }, el('h2', {}, 'Frames'), canvas, caption),
    show(run, extraMs = 0) {
      const now = activeMs(run) + extraMs;
      Object.assign(state, flameBars(run, now), { end: Math.max(1, now) });
      state.lanePx = Math.max(LANE_PX_MIN, Math.min(LANE_PX, Math.floor(FLAME_PX_MAX / Math.max(1, state.nLanes))));
      canvas.style.setProperty('height', `${Math.max(1, state.nLanes) * state.lanePx + 4}px`);
      canvas.setAttribute(
        'aria-label',
        `${run.frames.size} frames over ${time(state.end)}, children below their parents. The tree shows the same frames.`,
      );
      if (!caption.textContent || !state.chosen) describe(null);
      draw();
    },
    select(kind, id) {
      state.chosen = `${kind} ${id}`;
      describe(chosenBar());
      draw();
    },
  };
}

function paintFlame(canvas, state) {
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  if (width === 0 || height === 0) return;
  const scale = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  const style = getComputedStyle(canvas);
  const color = (name) => style.getPropertyValue(`--${name}`).trim();
  const colors = { cell: color('cell'), root: color('call'), sub: color('sub'), cached: color('cached') };
  const [frame, failed, ink, light] = [color('frame'), color('high'), color('ink'), color('card')];
  const pen = canvas.getContext('2d');
  pen.setTransform(scale, 0, 0, scale, 0, 0);
  pen.clearRect(0, 0, width, height);
  pen.font = '11px system-ui, sans-serif';
  pen.textBaseline = 'middle';
  for (const bar of state.bars) {
    const left = (bar.start / state.end) * width;
    const wide = Math.max(2, ((bar.end - bar.start) / state.end) * width - 1);
    const [top, high] = [bar.lane * state.lanePx + 2, state.lanePx - 1];
    const isBad = ['failed', 'raised', 'limited'].includes(bar.state);
    pen.fillStyle = isBad ? failed : (colors[bar.role] ?? frame);
    pen.globalAlpha = bar.state === 'open' ? 0.6 : 1;
    pen.fillRect(left, top, wide, high);
    pen.globalAlpha = 1;
    if (wide >= LABEL_PX_MIN && high >= 11) {
      pen.fillStyle = light;
      pen.fillText(`${bar.kind === 'frame' ? `${bar.role} ` : ''}${bar.id}`.slice(0, Math.floor(wide / 6.5)), left + 4, top + high / 2);
    }
    if (`${bar.kind} ${bar.id}` === state.chosen) {
      pen.strokeStyle = ink;
      pen.lineWidth = 2;
      pen.strokeRect(left, top, wide, high);
    }
  }
}
