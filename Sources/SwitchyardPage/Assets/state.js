// What the whole tab knows: the backend, as whom it acts, what can be undone.

import { call } from './api.js';

export const site = { title: 'Switchyard', version: '', backends: [] };
export const state = { backend: null, acting: null, view: 'data', rest: [], parameters: new URLSearchParams() };

const listeners = new Map();
export function when(name, listener) {
    if (!listeners.has(name)) listeners.set(name, new Set());
    listeners.get(name).add(listener);
    return () => listeners.get(name).delete(listener);
}
export function changed(name, value) {
    for (const listener of [...(listeners.get(name) ?? [])]) listener(value);
}

/// A path of the API of the chosen backend.
export const at = path => `b/${encodeURIComponent(state.backend.id)}/${path}`;
export const ask = (method, path, body, options) => call(method, at(path), body, options);
export const can = name => state.backend?.can?.[name] !== false;

// MARK: Acting as

/// Each tab has its own, so that two people can be watched side by side.
export function loadActing() {
    try { state.acting = JSON.parse(sessionStorage.getItem('acting') ?? 'null'); } catch { state.acting = null; }
}
export function actAs(acting) {
    state.acting = acting;
    sessionStorage.setItem('acting', JSON.stringify(acting));
    changed('acting', acting);
}
export const actingBody = () => state.acting ?? null;
export function actingName(acting = state.acting) {
    if (!acting) return 'Project';
    if (acting.signedOut) return 'Signed out';
    return acting.name || acting.user;
}
/// What the server reads: without what is only shown.
export function sentActing() {
    const acting = state.acting;
    if (!acting) return null;
    if (acting.signedOut) return { signedOut: true };
    const sent = { user: acting.user };
    if (acting.claims && Object.keys(acting.claims).length) sent.claims = acting.claims;
    if (acting.assurance) sent.assurance = acting.assurance;
    return sent;
}

// MARK: Places

/// `#/backend/view/part/part?name=value`: every place has an address, and Back works.
export function address(view, rest = [], parameters = {}, backend = state.backend?.id) {
    const path = [backend, view, ...rest].map(part => encodeURIComponent(part)).join('/');
    const query = new URLSearchParams(Object.entries(parameters).filter(([, value]) => value)).toString();
    return `#/${path}${query ? `?${query}` : ''}`;
}
export function go(view, rest = [], parameters = {}) {
    const next = address(view, rest, parameters);
    if (next === location.hash) changed('place');
    else location.hash = next;
}
/// Changes the address without a step in the history.
export function replacePlace(view, rest, parameters) {
    history.replaceState(null, '', address(view, rest, parameters));
    readPlace();
}
export function readPlace() {
    const [path, query = ''] = location.hash.replace(/^#\/?/, '').split('?');
    const parts = path.split('/').filter(Boolean).map(decodeURIComponent);
    state.parameters = new URLSearchParams(query);
    state.backend = site.backends.find(backend => backend.id === parts[0]) ?? state.backend ?? site.backends[0] ?? null;
    state.view = parts[1] ?? 'data';
    state.rest = parts.slice(2);
}

// MARK: Undo

const steps = [];
const limit = 100;
/// `undo` puts everything back; it is asked for at most once.
export function did(label, undo) {
    steps.push({ label, undo, backend: state.backend?.id });
    if (steps.length > limit) steps.shift();
    changed('undo');
    tellOthers();
}
// The page's own writes are no requests of an app: other tabs learn of them here.
const tabs = 'BroadcastChannel' in globalThis ? new BroadcastChannel('switchyard-writes') : null;
tabs?.addEventListener('message', event => { if (event.data === state.backend?.id) changed('written'); });
export const tellOthers = () => tabs?.postMessage(state.backend?.id);

export const lastStep = () => steps.at(-1) ?? null;
export async function undoLast() {
    const step = steps.pop();
    if (!step) return null;
    changed('undo');
    try {
        await step.undo();
        tellOthers();
        return step;
    } catch (error) {
        steps.push(step);
        changed('undo');
        throw error;
    }
}
export function forgetSteps() {
    steps.length = 0;
    changed('undo');
}
