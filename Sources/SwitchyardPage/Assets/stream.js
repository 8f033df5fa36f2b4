// The one stream of events, shared by all tabs: a worker reads it, and each tab is a port. A tab holds a lock with its name for as
// long as it lives; whoever else gets the lock knows that the tab is gone.

const kinds = ['request', 'app', 'data', 'outbox', 'accounts', 'faults', 'files', 'messages', 'reset', 'gap'];
const ports = new Set();
let source = null;
let key = null;
let state = 'connecting';

function tell(message) {
    for (const port of ports) port.postMessage(message);
}

function setState(next) {
    state = next;
    tell({ state, tabs: ports.size });
}

function open() {
    source?.close();
    source = new EventSource(`/api/events${key ? `?key=${encodeURIComponent(key)}` : ''}`);
    // A new stream is there with its first event, a resumed one as soon as it is open.
    let isKnown = false;
    source.onopen = () => { if (isKnown) setState('open'); };
    for (const kind of ['ready', 'gap']) source.addEventListener(kind, () => { isKnown = true; setState('open'); });
    source.onerror = () => {
        setState('lost');
        // The browser tries again by itself, but not after an answer that is no stream.
        if (source.readyState === EventSource.CLOSED) setTimeout(open, 1000);
    };
    for (const kind of kinds) source.addEventListener(kind, event => tell({ kind, data: event.data, id: event.lastEventId }));
}

onconnect = event => {
    const port = event.ports[0];
    ports.add(port);
    port.onmessage = ({ data }) => {
        if (data.key !== undefined && (data.key !== key || !source)) {
            key = data.key;
            open();
        }
        if (data.name) {
            navigator.locks?.request(data.name, () => {
                ports.delete(port);
                tell({ state, tabs: ports.size });
            });
        }
        if (data.bye) ports.delete(port);
        port.postMessage({ state, tabs: ports.size });
        tell({ state, tabs: ports.size });
    };
    port.start();
};
