// Timeline: the calls of a run over its active time; pauses between processes are omitted. Overlapping calls are in separate
// lanes, which makes parallel work visible. Above them is the number of calls in progress, below them when code ran.

import { el, button, perFrame } from './dom.js';
import { time } from './units.js';
import { activeMs } from './fold.js';

const STRIP_PX = 34;
const AXIS_PX = 20;
const LANE_PX_MAX = 18;
const LANES_PX_MAX = 340;
const BAR_PX_MIN = 2;
const SPAN_MS_MIN = 5;

/** Gives each call the first lane that is free when it starts. Returns `{bars, nLanes}`, in order of start. */
export function lanes(calls, nowMs) {
  const bars = [];
  const freeAt = [];
  for (const call of calls) {
    const end = call.settledActiveMs ?? Math.max(nowMs, call.startedActiveMs);
    let lane = freeAt.findIndex((at) => at <= call.startedActiveMs);
    if (lane < 0) lane = freeAt.length;
    freeAt[lane] = Math.max(end, call.startedActiveMs + 1);
    bars.push({ call, lane, start: call.startedActiveMs, end });
  }
  return { bars, nLanes: freeAt.length };
}

/** The number of calls in progress: `[atMs, n]` at each change. */
export function levels(bars) {
  const changes = [];
  // A call that took no time still counts.
  for (const bar of bars) changes.push([bar.start, 1], [Math.max(bar.end, bar.start + 1), -1]);
  changes.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const steps = [];
  let n = 0;
  for (const [at, change] of changes) {
    n += change;
    const last = steps[steps.length - 1];
    if (last && last[0] === at) last[1] = n;
    else steps.push([at, n]);
  }
  return steps;
}

/** The chart with its buttons. `onOpen(call)` is called when a bar is chosen. */
export function timeline({ onOpen }) {
  const canvas = el('canvas', {
    class: 'timeline',
    tabindex: '0',
    role: 'img',
    'aria-label': 'Timeline of calls',
    'aria-describedby': 'timeline-keys',
  });
  const hint = el(
    'p',
    { class: 'hint', id: 'timeline-keys' },
    'Arrow keys move between calls, Enter opens one, + and − zoom, 0 shows all. Drag to move, Ctrl and wheel to zoom.',
  );
  const caption = el('p', { class: 'under' });
  const state = {
    bars: [],
    steps: [],
    nLanes: 0,
    cells: [],
    end: 1,
    from: 0,
    to: 1,
    isWhole: true,
    chosen: null,
    lanePx: LANE_PX_MAX,
    peak: 0,
  };
  const draw = perFrame(() => paint(canvas, state));
  const move = (from, to) => {
    const span = Math.min(Math.max(to - from, SPAN_MS_MIN), state.end);
    state.from = Math.min(Math.max(0, from), state.end - span);
    state.to = state.from + span;
    state.isWhole = span >= state.end;
    draw();
  };
  const zoom = (factor, at = (state.from + state.to) / 2) =>
    move(at - (at - state.from) * factor, at + (state.to - at) * factor);
  const describe = (bar) => {
    caption.textContent = bar
      ? `${bar.call.id} · ${bar.call.model ?? ''} · ${word(bar.call)} · ${time(bar.end - bar.start)}`
      : restLine(state);
  };
  const step = (by) => {
    const idx = state.bars.findIndex((bar) => bar.call.id === state.chosen);
    const bar = state.bars[Math.min(state.bars.length - 1, Math.max(0, idx + by))];
    if (!bar) return;
    state.chosen = bar.call.id;
    if (bar.end < state.from || bar.start > state.to) move(bar.start, bar.start + (state.to - state.from));
    describe(bar);
    draw();
  };
  const keys = {
    ArrowRight: () => step(1),
    ArrowLeft: () => step(-1),
    '+': () => zoom(0.6),
    '=': () => zoom(0.6),
    '-': () => zoom(1.6),
    0: () => move(0, state.end),
    Enter: () => state.chosen && onOpen(state.chosen),
  };
  canvas.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(keys, event.key)) return;
    event.preventDefault();
    keys[event.key]();
  });
  handle(canvas, state, { move, zoom, describe, onOpen, draw });
  new ResizeObserver(draw).observe(canvas);
  const tools = el(
    'div',
    { class: 'tools', role: 'group', 'aria-label': 'Zoom' },
    button('−', () => zoom(1.6), { 'aria-label': 'Zoom out' }),
    button('+', () => zoom(0.6), { 'aria-label': 'Zoom in' }),
    button('All', () => move(0, state.end)),
    caption,
  );
  return {
    element: el('div', { class: 'timeline-box' }, tools, canvas, hint),
    redraw: draw,
    show(run, extraMs = 0) {
      const now = activeMs(run) + extraMs;
      Object.assign(state, lanes(run.calls.values(), now), {
        cells: Array.from(run.cells.values()).flat(),
        end: Math.max(1, now),
      });
      state.steps = levels(state.bars);
      state.peak = state.steps.reduce((most, [, n]) => Math.max(most, n), 0);
      state.lanePx = Math.max(3, Math.min(LANE_PX_MAX, Math.floor(LANES_PX_MAX / Math.max(1, state.nLanes))));
      canvas.style.setProperty('height', `${STRIP_PX + AXIS_PX + 14 + Math.max(1, state.nLanes) * state.lanePx}px`);
      canvas.setAttribute(
        'aria-label',
        `Timeline: ${state.bars.length} calls in ${time(state.end)}, at most ${state.peak} at once. The same calls are listed below.`,
      );
      if (state.isWhole) [state.from, state.to] = [0, state.end];
      if (!caption.textContent || !state.chosen) describe(null);
      draw();
    },
    select(id) {
      state.chosen = id;
      describe(state.bars.find((bar) => bar.call.id === id));
      draw();
    },
  };
}

function restLine(state) {
  return `${state.bars.length} calls, at most ${state.peak} at once`;
}

function word(call) {
  if (call.state === 'failed') return `failed: ${call.code}`;
  return call.served === 'cache' ? 'from cache' : call.state;
}

/** Pointer input: drag moves, wheel with Ctrl zooms, a click opens. */
function handle(canvas, state, { move, zoom, describe, onOpen, draw }) {
  let held = null;
  const msAt = (event) =>
    state.from + ((event.clientX - canvas.getBoundingClientRect().left) / canvas.clientWidth) * (state.to - state.from);
  const barAt = (event) => {
    const lane = Math.floor((event.clientY - canvas.getBoundingClientRect().top - STRIP_PX - AXIS_PX) / state.lanePx);
    const at = msAt(event);
    const slack = ((state.to - state.from) / canvas.clientWidth) * 3;
    return state.bars.find((bar) => bar.lane === lane && at >= bar.start - slack && at <= bar.end + slack);
  };
  canvas.addEventListener('pointerdown', (event) => {
    held = { x: event.clientX, from: state.from, to: state.to, isDrag: false };
  });
  canvas.addEventListener('pointermove', (event) => {
    if (!held) return describe(barAt(event) ?? state.bars.find((bar) => bar.call.id === state.chosen));
    const by = event.clientX - held.x;
    held.isDrag ||= Math.abs(by) > 4;
    if (!held.isDrag) return undefined;
    canvas.setPointerCapture(event.pointerId);
    const ms = (by / canvas.clientWidth) * (held.to - held.from);
    return move(held.from - ms, held.to - ms);
  });
  canvas.addEventListener('pointerup', (event) => {
    const bar = held && !held.isDrag ? barAt(event) : null;
    held = null;
    if (!bar) return;
    state.chosen = bar.call.id;
    draw();
    onOpen(bar.call.id);
  });
  canvas.addEventListener('pointerleave', () => {
    held = null;
  });
  canvas.addEventListener(
    'wheel',
    (event) => {
      if (!event.ctrlKey && !event.shiftKey) return;
      event.preventDefault();
      const span = state.to - state.from;
      if (event.shiftKey)
        move(
          state.from + Math.sign(event.deltaY || event.deltaX) * span * 0.1,
          state.to + Math.sign(event.deltaY || event.deltaX) * span * 0.1,
        );
      else zoom(event.deltaY > 0 ? 1.25 : 0.8, msAt(event));
    },
    { passive: false },
  );
}

function paint(canvas, state) {
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  if (width === 0 || height === 0) return;
  const scale = window.devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * scale)) canvas.width = Math.round(width * scale);
  if (canvas.height !== Math.round(height * scale)) canvas.height = Math.round(height * scale);
  const style = getComputedStyle(canvas);
  const color = (name) => style.getPropertyValue(`--${name}`).trim();
  const pen = canvas.getContext('2d');
  pen.setTransform(scale, 0, 0, scale, 0, 0);
  pen.clearRect(0, 0, width, height);
  const x = (ms) => ((ms - state.from) / (state.to - state.from)) * width;
  drawStrip(pen, state, x, width, color);
  drawAxis(pen, state, x, width, height, color);
  drawBars(pen, state, x, width, color);
  pen.fillStyle = color('cell');
  for (const cell of state.cells) {
    const [left, right] = [x(cell.startedActiveMs), x(cell.endedActiveMs)];
    if (right >= 0 && left <= width) pen.fillRect(left, height - 8, Math.max(BAR_PX_MIN, right - left), 5);
  }
}

function drawStrip(pen, state, x, width, color) {
  if (state.peak === 0) return;
  pen.fillStyle = color('strip');
  pen.beginPath();
  pen.moveTo(0, STRIP_PX);
  let before = 0;
  for (const [at, n] of state.steps) {
    pen.lineTo(x(at), STRIP_PX - (before / state.peak) * (STRIP_PX - 6));
    pen.lineTo(x(at), STRIP_PX - (n / state.peak) * (STRIP_PX - 6));
    before = n;
  }
  pen.lineTo(Math.max(width, x(state.end)), STRIP_PX);
  pen.fill();
}

function drawAxis(pen, state, x, width, height, color) {
  const wanted = (state.to - state.from) / Math.max(2, width / 110);
  const power = 10 ** Math.floor(Math.log10(Math.max(wanted, 1e-6)));
  const every = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= wanted) ?? wanted;
  pen.font = '11px system-ui, sans-serif';
  pen.textBaseline = 'middle';
  for (let at = Math.ceil(state.from / every) * every, n = 0; at <= state.to && n < 200; at += every, n += 1) {
    pen.fillStyle = color('line');
    pen.fillRect(Math.round(x(at)), STRIP_PX, 1, height - STRIP_PX);
    pen.fillStyle = color('soft');
    if (x(at) < width - 40) pen.fillText(time(at), x(at) + 4, STRIP_PX + AXIS_PX / 2);
  }
}

function drawBars(pen, state, x, width, color) {
  const colors = { replied: color('call'), cache: color('cached'), failed: color('high'), open: color('medium') };
  const gap = state.lanePx > 6 ? 2 : 1;
  for (const bar of state.bars) {
    const [left, right] = [x(bar.start), x(bar.end)];
    if (right < -2 || left > width + 2) continue;
    const top = STRIP_PX + AXIS_PX + bar.lane * state.lanePx;
    pen.fillStyle = bar.call.served === 'cache' ? colors.cache : colors[bar.call.state];
    const wide = Math.max(BAR_PX_MIN, right - left - (right - left > 6 ? 1 : 0));
    pen.beginPath();
    pen.roundRect(left, top, wide, state.lanePx - gap, Math.min(3, wide / 2));
    pen.fill();
    if (bar.call.retries.length > 0) {
      pen.fillStyle = colors.failed;
      pen.fillRect(left, top, Math.min(3, wide), state.lanePx - gap);
    }
    if (bar.call.id === state.chosen) {
      pen.strokeStyle = color('ink');
      pen.lineWidth = 2;
      pen.strokeRect(left - 1, top - 1, wide + 2, state.lanePx - gap + 2);
    }
  }
}
