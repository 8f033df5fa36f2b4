// Elements without markup in strings: nothing that a document contains is ever read as HTML.

const svgNames = new Set(['svg', 'path', 'circle', 'rect', 'line', 'g']);

/// `h('button.quiet', {onclick, 'aria-label': 'Close'}, 'text', [more])`. A property that is false, null or undefined is left out.
export function h(selector, ...rest) {
    const [name, ...classes] = selector.split('.');
    const element = svgNames.has(name)
        ? document.createElementNS('http://www.w3.org/2000/svg', name)
        : document.createElement(name || 'div');
    if (classes.length) element.setAttribute('class', classes.join(' '));
    let children = rest;
    const first = rest[0];
    if (first && typeof first === 'object' && !(first instanceof Node) && !Array.isArray(first)) {
        children = rest.slice(1);
        for (const [key, value] of Object.entries(first)) set(element, key, value);
    }
    add(element, children);
    return element;
}

function set(element, key, value) {
    if (value === null || value === undefined || value === false) return;
    if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else if (key === 'value' || key === 'checked' || key === 'disabled' || key === 'hidden' || key === 'open') element[key] = value;
    else if (key === 'class') element.classList.add(...value.split(' ').filter(Boolean));
    else if (key === 'dataset') Object.assign(element.dataset, value);
    else element.setAttribute(key, value === true ? '' : value);
}

export function add(element, children) {
    for (const child of [children].flat(Infinity)) {
        if (child === null || child === undefined || child === false) continue;
        element.append(child instanceof Node ? child : String(child));
    }
    return element;
}

/// Replaces everything in it.
export function fill(element, ...children) {
    element.replaceChildren();
    return add(element, children);
}

export const $ = (selector, root = document) => root.querySelector(selector);
export const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];

/// Says something to a screen reader, without showing it.
export function say(text) {
    const place = document.getElementById('said');
    place.textContent = '';
    requestAnimationFrame(() => { place.textContent = text; });
}

/// Runs at most once per frame, and not while the tab is hidden: a tab in the background costs nothing.
export function paced(work) {
    let isWaiting = false;
    const run = () => { isWaiting = false; work(); };
    return () => {
        if (isWaiting) return;
        isWaiting = true;
        if (document.hidden) {
            document.addEventListener('visibilitychange', () => requestAnimationFrame(run), { once: true });
        } else {
            requestAnimationFrame(run);
        }
    };
}

/// Runs when nothing has asked for it for so long.
export function settled(milliseconds, work) {
    let timer = 0;
    const later = (...values) => {
        clearTimeout(timer);
        timer = setTimeout(() => work(...values), milliseconds);
    };
    later.cancel = () => clearTimeout(timer);
    return later;
}

// A field keeps its label, its control and what is wrong with it together.
let lastID = 0;
export function field(label, control, { hint, isWide } = {}) {
    const id = control.id || `f${++lastID}`;
    control.id = id;
    const note = hint ? h('p.hint', { id: `${id}-hint` }, hint) : null;
    if (note) control.setAttribute('aria-describedby', note.id);
    return h(isWide ? 'div.field.wide' : 'div.field', h('label', { for: id }, label), control, note);
}

export function select(options, chosen, onchange, properties = {}) {
    const element = h('select', { ...properties, onchange: event => onchange?.(event.target.value) },
        options.map(option => {
            const [value, text] = Array.isArray(option) ? option : [option, option];
            return h('option', { value }, text);
        }));
    element.value = chosen ?? '';
    return element;
}

export const button = (text, onclick, { kind = '', icon: name, label, key, ...rest } = {}) =>
    h('button', {
        type: 'button', class: kind, onclick, 'aria-label': label, title: label && key ? `${label} (${key})` : label,
        'aria-keyshortcuts': key, ...rest,
    }, name ? icon(name) : null, text ? h('span', text) : null);

const shapes = {
    data: 'M3 5c0-1.2 2.2-2 5-2s5 .8 5 2-2.2 2-5 2-5-.8-5-2Zm0 0v6c0 1.2 2.2 2 5 2s5-.8 5-2V5M3 8c0 1.2 2.2 2 5 2s5-.8 5-2',
    requests: 'M2 5h9m0 0L8.500 2.500M11 5 8.500 7.500M14 11H5m0 0 2.500-2.500M5 11l2.500 2.500',
    outbox: 'M2.500 4h11v8.500h-11zM2.800 4.400 8 8.800l5.200-4.400',
    accounts: 'M8 8a2.700 2.700 0 1 0 0-5.400A2.700 2.700 0 0 0 8 8Zm-5 5.500c.4-2.400 2.400-3.600 5-3.600s4.600 1.200 5 3.600',
    files: 'M2.500 12.500v-9h4l1.500 2h5.500v7z',
    messages: 'M3 11.500h10c-1-1-1.500-1.900-1.500-4.200a3.500 3.500 0 0 0-7 0c0 2.300-.5 3.200-1.500 4.200Zm3.600 1.800c.4.600 2.400.600 2.800 0',
    app: 'M5 2.500h6v11H5zM7.200 11.600h1.600',
    faults: 'M8.800 2 3.500 9H8l-.8 5 5.300-7H8z',
    table: 'M2.500 3.500h11v9h-11zM2.500 6.500h11M6.500 6.500v6',
    folder: 'M2.500 12.500v-9h4l1.500 2h5.500v7z',
    file: 'M4 2.500h5l3 3v8H4zM9 2.500v3h3',
    plus: 'M8 3v10M3 8h10',
    minus: 'M3 8h10',
    close: 'M4 4l8 8M12 4l-8 8',
    undo: 'M5.500 4 3 6.500 5.500 9M3 6.500h6.500a3.500 3.500 0 0 1 0 7H6',
    copy: 'M5.500 5.500h8v8h-8zM3 10.500H2.500v-8h8V3',
    trash: 'M3 4.500h10M6 4.500v-2h4v2M4.200 4.500l.6 9h6.400l.6-9M6.800 7v4M9.200 7v4',
    replay: 'M13 8a5 5 0 1 1-1.600-3.700M11.600 1.800v2.700H8.900',
    check: 'M3 8.500 6.500 12 13 4.500',
    chevron: 'M6 4l4 4-4 4',
    down: 'M4 6l4 4 4-4',
    back: 'M10 3.500 5.500 8l4.500 4.500',
    search: 'M7 11.500a4.500 4.500 0 1 0 0-9 4.500 4.500 0 0 0 0 9Zm3.300-1.200L13.500 13.500',
    sun: 'M8 10.600a2.600 2.600 0 1 0 0-5.200 2.600 2.600 0 0 0 0 5.200ZM8 1.500v1.400M8 13.100v1.400M1.500 8h1.400M13.100 8h1.400M3.400 3.400l1 1M11.600 11.600l1 1M12.600 3.400l-1 1M4.400 11.600l-1 1',
    moon: 'M13 9.600A5.500 5.500 0 0 1 6.400 3 5.500 5.500 0 1 0 13 9.600Z',
    auto: 'M8 2.500a5.500 5.500 0 1 0 0 11ZM8 2.500a5.500 5.500 0 0 1 0 11',
    link: 'M6.500 9.500l3-3M7 4.500l1.300-1.300a2.700 2.700 0 0 1 3.900 3.900L10.900 8.400M9 11.500l-1.300 1.300a2.700 2.700 0 0 1-3.900-3.900l1.300-1.300',
    upload: 'M8 10.500v-8M4.800 5.500 8 2.300l3.200 3.200M2.500 10.500v3h11v-3',
    download: 'M8 2.500v8M4.800 7.500 8 10.700l3.200-3.200M2.500 10.500v3h11v-3',
    reset: 'M3 8a5 5 0 1 0 1.600-3.700M4.400 1.800v2.700h2.700',
    pause: 'M5.500 3.500v9M10.500 3.500v9',
    play: 'M5 3.500v9l7-4.500z',
    lock: 'M4 7.500h8v6H4zM5.500 7.500V5.200a2.500 2.500 0 0 1 5 0v2.300',
    mask: 'M2 4.500c2 .8 4 .8 6-.4 2 1.200 4 1.200 6 .4 0 5-1.400 7.500-3.300 7.500C9.300 12 8.900 10 8 10s-1.300 2-2.700 2C3.400 12 2 9.500 2 4.500ZM4.800 7.400h1.400M9.800 7.400h1.400',
    more: 'M3.500 8h.01M8 8h.01M12.500 8h.01',
    warn: 'M8 2.500 14 13H2zM8 6.500v3M8 11.300v.01',
    keys: 'M2 4.500h12v7H2zM4.500 7h.01M7 7h.01M9.500 7h.01M11.800 7h.01M5 9.300h6',
};

export function icon(name) {
    return h('svg.icon', { viewBox: '0 0 16 16', 'aria-hidden': 'true', focusable: 'false' }, h('path', { d: shapes[name] ?? shapes.more }));
}

// MARK: Times and sizes

/// The contract has RFC 3339 texts, and milliseconds since 1970.
export function time(value) {
    if (value === null || value === undefined || value === '') return null;
    if (typeof value === 'object' && 'seconds' in value) return new Date(Number(value.seconds) * 1000 + (value.nanoseconds ?? 0) / 1e6);
    const date = new Date(typeof value === 'bigint' ? Number(value) : value);
    return Number.isNaN(date.getTime()) ? null : date;
}

const two = number => String(number).padStart(2, '0');
export function clock(value, { hasMilliseconds } = {}) {
    const date = time(value);
    if (!date) return '—';
    const text = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
    return hasMilliseconds ? `${text}.${String(date.getMilliseconds()).padStart(3, '0')}` : text;
}

export function day(value) {
    const date = time(value);
    if (!date) return '—';
    const text = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
    return `${text} ${two(date.getHours())}:${two(date.getMinutes())}`;
}

export function since(value) {
    const date = time(value);
    if (!date) return '';
    const seconds = Math.max(0, Math.round((Date.now() - date.getTime()) / 1000));
    if (seconds < 60) return `${seconds} s`;
    if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
    if (seconds < 86400) return `${Math.floor(seconds / 3600)} h`;
    return `${Math.floor(seconds / 86400)} d`;
}

export function size(bytes) {
    if (bytes === null || bytes === undefined) return '';
    if (bytes < 1000) return `${bytes} B`;
    if (bytes < 1e6) return `${(bytes / 1e3).toFixed(bytes < 1e4 ? 1 : 0)} kB`;
    if (bytes < 1e9) return `${(bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0)} MB`;
    return `${(bytes / 1e9).toFixed(1)} GB`;
}

export const count = number => Number(number).toLocaleString('en').replaceAll(',', '\u202f');
export const plural = (number, one, many = `${one}s`) => `${count(number)} ${number === 1 ? one : many}`;
export const milliseconds = value => value === null || value === undefined ? '…' : value < 10 ? `${Number(value).toFixed(1)} ms` : value < 10000 ? `${Math.round(value)} ms` : `${(value / 1000).toFixed(1)} s`;
