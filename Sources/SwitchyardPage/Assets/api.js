// The page's server. Every address is on this machine and of this origin.

const hash = new URLSearchParams(location.hash.slice(1));
if (hash.get('key')) {
    sessionStorage.setItem('key', hash.get('key'));
    history.replaceState(null, '', location.pathname + '#/');
}
let key = sessionStorage.getItem('key');

// A tab that was opened by hand asks the others for the key.
const between = 'BroadcastChannel' in window ? new BroadcastChannel('switchyard-key') : null;
between?.addEventListener('message', event => {
    if (event.data === 'key?' && key) between.postMessage({ key });
    else if (event.data?.key && !key) setKey(event.data.key);
});
if (!key) between?.postMessage('key?');

export function setKey(value) {
    key = value;
    sessionStorage.setItem('key', value);
    dispatchEvent(new Event('keychanged'));
}
export const currentKey = () => key;

export class Failure extends Error {
    constructor(status, error) {
        super(error.message || `The page's server answered with status ${status}.`);
        Object.assign(this, { status, code: error.code, position: error.position, length: error.length, explanation: error.explanation });
    }
}

const offline = 'The page’s server does not answer. It ends with the command that started it: start that again, and this page goes on.';

// Integers of 64 bits keep all their digits, in both directions.
const isLong = /[:[,]\s*-?\d{16,}/;
export function read(text) {
    if (!text) return null;
    if (!isLong.test(text)) return JSON.parse(text);
    return JSON.parse(text, (_, value, context) =>
        typeof value === 'number' && context?.source && /^-?\d+$/.test(context.source) && !Number.isSafeInteger(value)
            ? BigInt(context.source) : value);
}
/// Text that is JSON already goes into the body as it is.
export class RawJSON { constructor(text) { this.text = text; } }
export function written(value) {
    if (value instanceof RawJSON) return value.text;
    if (typeof value === 'bigint') return String(value);
    if (Array.isArray(value)) return `[${value.map(element => written(element ?? null)).join(',')}]`;
    if (value && typeof value === 'object') {
        const members = Object.entries(value).filter(([, member]) => member !== undefined);
        return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${written(member)}`).join(',')}}`;
    }
    return JSON.stringify(value ?? null);
}

function headers(more = {}) {
    return key ? { 'X-Page-Key': key, ...more } : more;
}

async function failure(response) {
    const text = await response.text();
    let error = {};
    try { error = JSON.parse(text).error ?? {}; } catch { error = { message: text.slice(0, 400) }; }
    if (response.status === 401) dispatchEvent(new Event('keyneeded'));
    return new Failure(response.status, error);
}

export async function call(method, path, body, { signal, isLast } = {}) {
    let response;
    try {
        response = await fetch(`/api/${path}`, {
            method, signal, cache: 'no-store', keepalive: Boolean(isLast),
            headers: headers(body === undefined ? {} : { 'Content-Type': 'application/json' }),
            body: body === undefined ? undefined : written(body),
        });
    } catch (error) {
        if (error.name === 'AbortError') throw error;
        throw new Failure(0, { code: 'unreachable', message: offline });
    }
    if (!response.ok) throw await failure(response);
    return read(await response.text());
}

export const query = values => {
    const parameters = new URLSearchParams();
    for (const [name, value] of Object.entries(values)) {
        if (value !== null && value !== undefined && value !== '') parameters.set(name, typeof value === 'object' ? written(value) : value);
    }
    const text = parameters.toString();
    return text ? `?${text}` : '';
};

export async function content(path, { signal } = {}) {
    let response;
    try {
        response = await fetch(`/api/${path}`, { headers: headers(), signal, cache: 'no-store' });
    } catch (error) {
        if (error.name === 'AbortError') throw error;
        throw new Failure(0, { code: 'unreachable', message: offline });
    }
    if (!response.ok) throw await failure(response);
    return response.blob();
}

/// Uploads with progress, which `fetch` does not report. Ends early when `signal` says so.
export function upload(path, file, progress, { signal } = {}) {
    return new Promise((resolve, reject) => {
        const request = new XMLHttpRequest();
        request.open('PUT', `/api/${path}`);
        for (const [name, value] of Object.entries(headers({ 'Content-Type': file.type || 'application/octet-stream' }))) {
            request.setRequestHeader(name, value);
        }
        request.upload.onprogress = event => progress(event.loaded, event.lengthComputable ? event.total : file.size);
        request.onload = () => {
            if (request.status < 300) return resolve(read(request.responseText));
            let error = {};
            try { error = JSON.parse(request.responseText).error ?? {}; } catch { error = { message: request.responseText.slice(0, 400) }; }
            reject(new Failure(request.status, error));
        };
        request.onerror = () => reject(new Failure(0, { code: 'unreachable', message: offline }));
        request.onabort = () => reject(new DOMException('The upload was cancelled.', 'AbortError'));
        signal?.addEventListener('abort', () => request.abort());
        request.send(file);
    });
}
