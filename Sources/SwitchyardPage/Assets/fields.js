// The fields of a document as a form: one line for each, with its kind.

import { h, button, select, fill, say } from './dom.js';
import { kinds, kindNames, parts, converted, timeText } from './values.js';

const most = 2n ** 63n;

function node(name, value) {
    const [kind, content] = parts(value);
    const made = { name, kind, isOpen: true };
    if (kind === 'map') made.nodes = Object.entries(content).map(([name, value]) => node(name, value));
    else if (kind === 'array') made.nodes = content.map(value => node(null, value));
    else made.content = content;
    return made;
}

class FieldMistake extends Error {
    constructor(message, control) {
        super(message);
        this.control = control;
    }
}

/// Reads the value of a line back; throws what is wrong with it.
function value(made) {
    switch (made.kind) {
    case 'map': return { map: members(made.nodes) };
    case 'array': return { array: made.nodes.map(value) };
    default: return { [made.kind]: made.read ? made.read() : made.content };
    }
}

function members(nodes) {
    const found = {};
    for (const made of nodes) {
        if (made.name === '') throw new FieldMistake('A field needs a name.', made.nameControl);
        if (Object.hasOwn(found, made.name)) throw new FieldMistake(`There are two fields with the name “${made.name}”.`, made.nameControl);
        Object.defineProperty(found, made.name, { value: value(made), enumerable: true, configurable: true, writable: true });
    }
    return found;
}

export class FieldEditor {
    /// `onchange` is called with each edit. References lead to `onfollow(path)`.
    constructor({ onchange, onfollow, isFixed = false }) {
        Object.assign(this, { onchange, onfollow, isFixed });
        this.element = h('div.fields', { role: 'group', 'aria-label': 'Fields' });
        this.nodes = [];
    }

    show(data) {
        this.nodes = Object.entries(data).map(([name, value]) => node(name, value));
        this.draw();
    }

    /// The document's data; throws the first mistake, and marks where it is.
    read() {
        for (const control of this.element.querySelectorAll('[aria-invalid]')) control.removeAttribute('aria-invalid');
        try {
            return members(this.nodes);
        } catch (error) {
            if (error.control) {
                error.control.setAttribute('aria-invalid', 'true');
                error.control.focus();
            }
            throw error;
        }
    }

    draw(focus) {
        fill(this.element, this.list(this.nodes, null),
            button('Add field', () => this.insert(this.nodes, false), { kind: 'quiet small add', icon: 'plus' }));
        if (focus) this.element.querySelector(`[data-focus="${focus}"]`)?.focus();
    }

    insert(nodes, isList) {
        const made = node(isList ? null : '', { string: '' });
        made.isNew = true;
        nodes.push(made);
        this.draw();
        (made.nameControl ?? made.control)?.focus();
        this.onchange?.();
    }

    list(nodes, parent) {
        const isList = parent?.kind === 'array';
        return h('div.field-list', { role: 'list' }, nodes.map((made, index) => this.line(made, index, nodes, isList)));
    }

    line(made, index, nodes, isList) {
        const edited = () => this.onchange?.();
        const label = isList ? `Element ${index}` : made.name || 'New field';
        const name = isList
            ? h('span.field-index', String(index))
            : h('input.field-name', {
                value: made.name, 'aria-label': 'Name of the field', spellcheck: 'false', autocomplete: 'off', placeholder: 'name',
                oninput: event => { made.name = event.target.value; edited(); },
            });
        made.nameControl = isList ? null : name;
        const kind = select(kinds.map(kind => [kind, kindNames[kind]]), made.kind, chosen => {
            let now;
            try { now = value(made); } catch { now = { string: '' }; }
            Object.assign(made, { nodes: undefined, read: undefined, content: undefined }, node(made.name, converted(now, chosen)));
            this.draw();
            made.control?.focus();
            edited();
        }, { 'aria-label': `Kind of ${label}`, class: 'field-kind' });
        const remove = button('', () => {
            nodes.splice(nodes.indexOf(made), 1);
            this.draw();
            say(`${label} removed`);
            edited();
        }, { kind: 'quiet square field-remove', icon: 'minus', label: `Remove ${label}` });
        const hasParts = made.kind === 'map' || made.kind === 'array';
        const fold = hasParts ? button('', () => { made.isOpen = !made.isOpen; this.draw(); }, {
            kind: `quiet square fold${made.isOpen ? ' open' : ''}`, icon: 'chevron', label: `${made.isOpen ? 'Fold' : 'Unfold'} ${label}`,
            'aria-expanded': String(made.isOpen),
        }) : null;
        const control = hasParts
            ? h('span.field-count', made.kind === 'map' ? `${made.nodes.length} ${made.nodes.length === 1 ? 'field' : 'fields'}` : `${made.nodes.length} ${made.nodes.length === 1 ? 'element' : 'elements'}`)
            : this.control(made, label, edited);
        return h('div.field-item', { role: 'listitem' },
            h('div.field-line', { 'data-kind': made.kind }, fold, name, kind, h('div.field-value', control), remove),
            hasParts && made.isOpen
                ? h('div.field-inner', this.list(made.nodes, made),
                    button(made.kind === 'map' ? 'Add field' : 'Add element', () => this.insert(made.nodes, made.kind === 'array'), { kind: 'quiet small add', icon: 'plus', label: `${made.kind === 'map' ? 'Add field' : 'Add element'} to ${label}` }))
                : null);
    }

    control(made, label, edited) {
        const properties = { 'aria-label': `Value of ${label}`, spellcheck: 'false', autocomplete: 'off' };
        const text = (shown, read, more = {}) => {
            const input = h('input', { ...properties, value: shown, class: 'mono', oninput: edited, ...more });
            made.read = () => read(input.value.trim(), input);
            made.control = input;
            return input;
        };
        const wrong = (message, input) => { throw new FieldMistake(`${label}: ${message}`, input); };
        switch (made.kind) {
        case 'string': {
            const area = h('textarea.grows', { ...properties, rows: String(Math.min(12, made.content.split('\n').length)), value: made.content, oninput: event => { made.content = event.target.value; edited(); } });
            made.control = area;
            return area;
        }
        case 'integer':
            return text(String(made.content), (value, input) => {
                if (!/^[+-]?\d+$/.test(value)) wrong('a whole number is expected.', input);
                const number = BigInt(value);
                if (number >= most || number < -most) wrong('the number does not fit in 64 bits.', input);
                return Number.isSafeInteger(Number(number)) ? Number(number) : number;
            }, { inputmode: 'numeric' });
        case 'double':
            return text(String(made.content), (value, input) => {
                if (['nan', 'inf', '-inf', '-0.0'].includes(value)) return value;
                if (value === '' || !Number.isFinite(Number(value))) wrong('a number is expected, or nan, inf, -inf.', input);
                return Number(value);
            }, { inputmode: 'decimal' });
        case 'bool': {
            const choice = select(['true', 'false'], String(made.content), chosen => { made.content = chosen === 'true'; edited(); }, properties);
            made.control = choice;
            return choice;
        }
        case 'timestamp': {
            const input = text(timeText(made.content), (value, input) => {
                if (!/^\d{4}-\d\d-\d\d([Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d))?$/.test(value)) wrong('a time such as 2026-05-01T09:41:00Z is expected.', input);
                return value;
            });
            return h('span.field-pair', input, button('Now', () => { input.value = new Date().toISOString(); edited(); }, { kind: 'quiet small', label: `Set ${label} to now` }));
        }
        case 'reference': {
            const origin = made.content.origin;
            const input = text(typeof made.content === 'string' ? made.content : made.content.path, (value, input) => {
                if (!value.includes('/')) wrong('the path of a document is expected, such as users/bob.', input);
                return origin ? { path: value, origin } : { path: value };
            });
            return h('span.field-pair', input, button('Open', () => this.onfollow?.(input.value.trim()), { kind: 'quiet small', label: `Open ${label}` }));
        }
        case 'geoPoint': {
            const part = (name, shown) => h('input', { ...properties, class: 'mono', 'aria-label': `${name} of ${label}`, value: String(shown), inputmode: 'decimal', oninput: edited });
            const [latitude, longitude] = [part('Latitude', made.content.latitude), part('Longitude', made.content.longitude)];
            made.control = latitude;
            made.read = () => {
                const number = (input, limit) => {
                    const value = Number(input.value);
                    if (input.value.trim() === '' || !(Math.abs(value) <= limit)) wrong(`a number from −${limit} to ${limit} is expected.`, input);
                    return value;
                };
                return { latitude: number(latitude, 90), longitude: number(longitude, 180) };
            };
            return h('span.field-pair', latitude, longitude);
        }
        case 'bytes':
            return text(made.content, (value, input) => {
                if (!/^[A-Za-z0-9+/]*={0,2}$/.test(value) || value.length % 4 !== 0) wrong('Base64 is expected.', input);
                return value;
            });
        case 'vector':
            return text(made.content.join(', '), (value, input) => {
                const numbers = value === '' ? [] : value.split(',').map(part => part.trim() === '' ? NaN : Number(part));
                if (numbers.some(Number.isNaN)) wrong('numbers with commas between them are expected.', input);
                return numbers;
            });
        default:
            made.control = null;
            return h('span.field-null', 'null');
        }
    }
}
