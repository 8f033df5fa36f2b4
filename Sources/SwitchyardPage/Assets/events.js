// What happens, as it happens: one stream for all tabs of this page.

import { currentKey, read } from './api.js';

const listeners = new Map();
const stateListeners = new Set();
export const connection = { state: 'connecting', tabs: 1, way: 'none' };

/// Calls `listener(data)` for each event of the kind. Returns how to stop.
export function on(kind, listener) {
    if (!listeners.has(kind)) listeners.set(kind, new Set());
    listeners.get(kind).add(listener);
    return () => listeners.get(kind).delete(listener);
}

export function onState(listener) {
    stateListeners.add(listener);
    return () => stateListeners.delete(listener);
}

/// When the stream is open, or after a while without it.
export function opened() {
    if (connection.state === 'open') return Promise.resolve();
    return new Promise(done => {
        const finish = () => { clearTimeout(timer); stop(); done(); };
        const stop = onState(({ state }) => { if (state === 'open') finish(); });
        const timer = setTimeout(finish, 5000);
    });
}

/// Reads once more when the stream opens: what happened between a view's first read and that is in neither.
export function onceOpened(work) {
    if (connection.state !== 'open') opened().then(work);
}

/// For reads that begin while earlier ones are on their way: an older answer must not replace a newer one.
export function turns() {
    let last = 0;
    return () => {
        const own = ++last;
        return () => own === last;
    };
}

function setState(state, tabs) {
    const wasLost = connection.state === 'lost';
    Object.assign(connection, { state, tabs: tabs ?? connection.tabs });
    for (const listener of stateListeners) listener(connection);
    // Whatever was missed is read again.
    if (wasLost && state === 'open') deliver('gap', '{}');
}

function deliver(kind, text) {
    const all = listeners.get(kind);
    if (!all?.size) return;
    const data = read(text);
    for (const listener of all) {
        try { listener(data); } catch (error) { console.error(error); }
    }
}

const kinds = ['request', 'app', 'data', 'outbox', 'accounts', 'faults', 'files', 'messages', 'reset', 'gap'];
const name = `switchyard-tab-${crypto.randomUUID?.() ?? Math.random()}`;

export function start() {
    if ('SharedWorker' in window) return startShared();
    if ('BroadcastChannel' in window && navigator.locks) return startElected();
    startAlone(() => {});
}

function startShared() {
    connection.way = 'worker';
    const worker = new SharedWorker('/assets/stream.js', { name: 'switchyard-events' });
    worker.onerror = () => {
        connection.way = 'alone';
        startAlone(() => {});
    };
    worker.port.onmessage = ({ data }) => {
        if (data.state) setState(data.state, data.tabs);
        if (data.kind) deliver(data.kind, data.data);
    };
    worker.port.start();
    const introduce = () => worker.port.postMessage({ key: currentKey(), name });
    if (navigator.locks) navigator.locks.request(name, () => { introduce(); return new Promise(() => {}); });
    else introduce();
    addEventListener('keychanged', () => worker.port.postMessage({ key: currentKey() }));
    addEventListener('pagehide', () => { if (!navigator.locks) worker.port.postMessage({ bye: true }); });
}

/// Without shared workers, the tab that holds the lock reads the stream, and tells the others.
function startElected() {
    connection.way = 'elected';
    const channel = new BroadcastChannel('switchyard-events');
    channel.onmessage = ({ data }) => {
        if (data.state) setState(data.state);
        if (data.kind) deliver(data.kind, data.data);
        if (data.ask && isLeader) channel.postMessage({ state: connection.state });
    };
    let isLeader = false;
    channel.postMessage({ ask: true });
    navigator.locks.request('switchyard-events', () => {
        isLeader = true;
        startAlone(message => channel.postMessage(message));
        return new Promise(() => {});
    });
}

function startAlone(pass) {
    let source;
    let isKnown = false;
    const open = () => {
        source?.close();
        const key = currentKey();
        source = new EventSource(`/api/events${key ? `?key=${encodeURIComponent(key)}` : ''}`);
        const tell = state => { setState(state); pass({ state }); };
        // A new stream is there with its first event, a resumed one as soon as it is open.
        source.onopen = () => { if (isKnown) tell('open'); };
        for (const kind of ['ready', 'gap']) source.addEventListener(kind, () => { isKnown = true; tell('open'); });
        source.onerror = () => {
            tell('lost');
            if (source.readyState === EventSource.CLOSED) {
                isKnown = false;
                setTimeout(open, 1000);
            }
        };
        for (const kind of kinds) {
            source.addEventListener(kind, event => {
                deliver(kind, event.data);
                pass({ kind, data: event.data });
            });
        }
    };
    open();
    addEventListener('keychanged', open);
}
