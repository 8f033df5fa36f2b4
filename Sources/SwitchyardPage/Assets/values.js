// Values of documents. The server sends each with its kind, as `{"integer":5}`; people write plain JSON wherever that says enough.

export const kinds = ['string', 'integer', 'double', 'bool', 'timestamp', 'map', 'array', 'null', 'reference', 'geoPoint', 'bytes', 'vector'];
const kindSet = new Set(kinds);
const changes = new Set(['increment', 'maximum', 'minimum', 'arrayUnion', 'arrayRemove', 'serverTime', 'delete']);
export const kindNames = {
    string: 'text', integer: 'integer', double: 'number', bool: 'true/false', timestamp: 'time', map: 'map', array: 'list', null: 'null',
    reference: 'reference', geoPoint: 'place', bytes: 'bytes', vector: 'vector',
};

/// `[kind, content]` of a value with its kind.
export function parts(value) {
    const [kind] = Object.keys(value);
    return [kind, value[kind]];
}

// MARK: Showing

export function timeText(content) {
    if (typeof content === 'string') return content;
    const seconds = Number(content.seconds);
    const nanoseconds = Number(content.nanoseconds ?? 0);
    const date = new Date(seconds * 1000);
    if (Number.isNaN(date.getTime())) return String(content.seconds);
    const base = date.toISOString().replace(/\.\d+Z$/, '');
    if (!nanoseconds) return `${base}Z`;
    return `${base}.${String(nanoseconds).padStart(9, '0').replace(/0{3,6}$/, '')}Z`;
}

const numberText = value => typeof value === 'string' ? value : Number.isInteger(value) && Math.abs(value) < 1e21 ? `${value}.0` : String(value);

/// One line for a cell.
export function shortText(value, depth = 0) {
    const [kind, content] = parts(value);
    switch (kind) {
    case 'null': return 'null';
    case 'string': return depth ? JSON.stringify(content.length > 60 ? content.slice(0, 60) + '…' : content) : content;
    case 'integer': case 'bool': return String(content);
    case 'double': return numberText(content);
    case 'timestamp': return timeText(content);
    case 'bytes': return `${Math.floor(content.length * 3 / 4)} bytes`;
    case 'reference': return typeof content === 'string' ? content : content.path;
    case 'geoPoint': return `${content.latitude}, ${content.longitude}`;
    case 'vector': return `vector of ${content.length}`;
    case 'array': {
        if (depth > 1) return `[${content.length}]`;
        const shown = content.slice(0, 6).map(element => shortText(element, depth + 1)).join(', ');
        return `[${shown}${content.length > 6 ? ', …' : ''}]`;
    }
    case 'map': {
        const names = Object.keys(content);
        if (depth > 1) return `{${names.length}}`;
        const shown = names.slice(0, 4).map(name => `${name}: ${shortText(content[name], depth + 1)}`).join(', ');
        return `{${shown}${names.length > 4 ? ', …' : ''}}`;
    }
    default: return JSON.stringify(value);
    }
}

// MARK: As JSON that people write

function plainNumber(content) {
    // `1.0` stays a number with a point, as the reader tells integers from others by it.
    return typeof content === 'string' ? null : numberText(content);
}

/// The text of a document's data, indented, as short as it can be without a change of kinds.
export function jsonText(data) {
    return mapText(data, '');
}

function mapText(data, indent) {
    const names = Object.keys(data);
    if (!names.length) return '{}';
    const inner = indent + '  ';
    return `{\n${names.map(name => `${inner}${JSON.stringify(name)}: ${valueText(data[name], inner)}`).join(',\n')}\n${indent}}`;
}

function valueText(value, indent) {
    const [kind, content] = parts(value);
    switch (kind) {
    case 'null': return 'null';
    case 'string': return JSON.stringify(content);
    case 'integer': case 'bool': return String(content);
    case 'double': return plainNumber(content) ?? `{"double": ${JSON.stringify(content)}}`;
    case 'timestamp': return `{"timestamp": ${JSON.stringify(timeText(content))}}`;
    case 'array': {
        if (!content.length) return '[]';
        const simple = content.every(element => !['map', 'array'].includes(parts(element)[0]));
        const inner = indent + '  ';
        const all = content.map(element => valueText(element, inner));
        if (simple && all.join(', ').length < 60) return `[${all.join(', ')}]`;
        return `[\n${all.map(text => inner + text).join(',\n')}\n${indent}]`;
    }
    case 'map': {
        const names = Object.keys(content);
        const looksLikeKind = names.length === 1 && (kindSet.has(names[0]) || changes.has(names[0]));
        return looksLikeKind ? `{"map": ${mapText(content, indent)}}` : mapText(content, indent);
    }
    case 'reference': return `{"reference": ${JSON.stringify(content)}}`;
    default: return `{${JSON.stringify(kind)}: ${JSON.stringify(content)}}`;
    }
}

// MARK: Reading JSON, with the place of a mistake

export class JSONMistake extends Error {
    constructor(message, position) {
        super(message);
        this.position = position;
    }
}

/// The data of a document from what someone wrote, each value with its kind.
export function dataFromText(text) {
    const reader = new Reader(text);
    const value = reader.whole();
    if (value?.map === undefined) throw new JSONMistake('A document is an object, such as {"name": "Alice"}.', 0);
    return value.map;
}

class Reader {
    constructor(text) {
        this.text = text;
        this.position = 0;
    }

    whole() {
        const value = this.value(0, true);
        this.space();
        if (this.position < this.text.length) this.fail('Nothing may follow the last bracket.');
        return value;
    }

    fail(message, position = this.position) { throw new JSONMistake(message, position); }

    space() {
        while (/\s/.test(this.text[this.position] ?? '')) this.position += 1;
    }

    value(depth, isDocument = false) {
        if (depth > 100) this.fail('The value nests too deep.');
        this.space();
        const character = this.text[this.position];
        if (character === undefined) this.fail('The text ends here, and a value is missing.');
        if (character === '{') return this.object(depth, isDocument);
        if (character === '[') return this.array(depth);
        if (character === '"') return { string: this.string() };
        if (character === '-' || /\d/.test(character)) return this.number();
        for (const [word, value] of [['true', { bool: true }], ['false', { bool: false }], ['null', { null: true }]]) {
            if (this.text.startsWith(word, this.position)) {
                this.position += word.length;
                return value;
            }
        }
        return this.fail(character === "'" ? 'Text stands in double quotes.' : `“${character}” begins no value; text stands in double quotes.`);
    }

    number() {
        const start = this.position;
        const match = /-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y;
        match.lastIndex = start;
        const found = match.exec(this.text);
        if (!found) this.fail('This is no number.');
        this.position += found[0].length;
        if (found[2] || found[3]) return { double: Number(found[0]) };
        const whole = Number(found[0]);
        return { integer: Number.isSafeInteger(whole) ? whole : BigInt(found[0]) };
    }

    string() {
        const start = this.position;
        this.position += 1;
        while (this.position < this.text.length) {
            const character = this.text[this.position];
            if (character === '"') {
                this.position += 1;
                try { return JSON.parse(this.text.slice(start, this.position)); } catch { this.fail('This text has an escape that JSON does not know.', start); }
            }
            if (character === '\n') this.fail('A text ends on its line; a line break is written \\n.', start);
            this.position += character === '\\' ? 2 : 1;
        }
        return this.fail('The text is not closed by a quote.', start);
    }

    /// Elements are values alone: what a write does to a field has no meaning among them.
    array(depth) {
        this.arrays = (this.arrays ?? 0) + 1;
        const value = this.elements(depth);
        this.arrays -= 1;
        return value;
    }

    elements(depth) {
        this.position += 1;
        const elements = [];
        this.space();
        if (this.text[this.position] === ']') { this.position += 1; return { array: elements }; }
        while (true) {
            elements.push(this.value(depth + 1));
            this.space();
            const character = this.text[this.position];
            if (character === ',') { this.position += 1; this.space(); if (this.text[this.position] === ']') this.fail('No comma stands before the end of a list.', this.position); continue; }
            if (character === ']') { this.position += 1; return { array: elements }; }
            this.fail('A list goes on with “,” or ends with “]”.');
        }
    }

    object(depth, isDocument) {
        const start = this.position;
        this.position += 1;
        const members = {};
        this.space();
        if (this.text[this.position] === '}') { this.position += 1; return { map: members }; }
        while (true) {
            this.space();
            if (this.text[this.position] !== '"') this.fail('A name in double quotes is expected here.');
            const place = this.position;
            const name = this.string();
            if (Object.hasOwn(members, name)) this.fail(`“${name}” is here twice.`, place);
            this.space();
            if (this.text[this.position] !== ':') this.fail('“:” is expected after the name.');
            this.position += 1;
            const before = this.position;
            const value = this.value(depth + 1);
            Object.defineProperty(members, name, { value, enumerable: true, configurable: true, writable: true });
            this.space();
            const character = this.text[this.position];
            if (character === ',') { this.position += 1; this.space(); if (this.text[this.position] === '}') this.fail('No comma stands before the end of an object.', this.position); continue; }
            if (character === '}') {
                this.position += 1;
                const names = Object.keys(members);
                if (!isDocument && names.length === 1 && kindSet.has(names[0])) return this.ofKind(names[0], members[names[0]], before, start);
                if (!isDocument && !this.arrays && names.length === 1 && changes.has(names[0])) return { change: this.text.slice(start, this.position) };
                return { map: members };
            }
            this.fail('An object goes on with “,” or ends with “}”.');
        }
    }

    /// `{"timestamp": "2026-05-01T09:41:00Z"}` and the like: the content was read as a value of its own.
    ofKind(kind, value, position) {
        const [found, content] = parts(value);
        const wrong = expected => this.fail(`“${kind}” takes ${expected}.`, position);
        switch (kind) {
        case 'null': return content === true && found === 'bool' ? { null: true } : wrong('true');
        case 'bool': return found === 'bool' ? value : wrong('true or false');
        case 'string': return found === 'string' ? value : wrong('text');
        case 'integer': return found === 'integer' ? value : wrong('a whole number');
        case 'double':
            if (found === 'integer') return { double: Number(content) };
            if (found === 'string' && ['nan', 'inf', '-inf', '-0.0'].includes(content)) return { double: content };
            return found === 'double' ? value : wrong('a number, or "nan", "inf", "-inf"');
        case 'timestamp':
            if (found === 'string') return { timestamp: content };
            if (found === 'map' && content.seconds?.integer !== undefined) {
                return { timestamp: { seconds: content.seconds.integer, nanoseconds: content.nanoseconds?.integer ?? 0 } };
            }
            return wrong('a text such as 2026-05-01T09:41:00Z');
        case 'bytes': return found === 'string' ? { bytes: content } : wrong('Base64');
        case 'reference':
            if (found === 'string') return { reference: { path: content } };
            if (found === 'map' && content.path?.string !== undefined) {
                return { reference: content.origin?.string ? { path: content.path.string, origin: content.origin.string } : { path: content.path.string } };
            }
            return wrong('a path, such as "users/bob"');
        case 'geoPoint': {
            const numberOf = part => part && (parts(part)[0] === 'integer' || parts(part)[0] === 'double') ? Number(parts(part)[1]) : null;
            const latitude = found === 'map' ? numberOf(content.latitude) : null;
            const longitude = found === 'map' ? numberOf(content.longitude) : null;
            return latitude !== null && longitude !== null ? { geoPoint: { latitude, longitude } } : wrong('{"latitude": 48.4, "longitude": 10}');
        }
        case 'vector':
            return found === 'array' && content.every(element => ['integer', 'double'].includes(parts(element)[0]))
                ? { vector: content.map(element => Number(parts(element)[1])) } : wrong('a list of numbers');
        case 'array': return found === 'array' ? value : wrong('a list');
        default: return found === 'map' ? value : wrong('an object');
        }
    }
}

/// A field's name in a path or a query.
export const quoted = name => /^[A-Za-z_]\w*$/.test(name) ? name : `\`${name.replaceAll('\\', '\\\\').replaceAll('`', '\\`')}\``;

/// Whether two documents have the same data, whatever the order of their fields.
export function same(one, other) {
    return canonical(one) === canonical(other);
}
function canonical(value) {
    if (typeof value === 'bigint') return String(value);
    if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
    if (value && typeof value === 'object') {
        if (value.seconds !== undefined && Object.keys(value).every(name => ['seconds', 'nanoseconds', 'isEstimate'].includes(name))) return JSON.stringify(timeText(value));
        return `{${Object.keys(value).sort().map(name => `${JSON.stringify(name)}:${canonical(value[name])}`).join()}}`;
    }
    return JSON.stringify(value) ?? 'null';
}

/// A value of another kind, as near to this one as can be.
export function converted(value, kind) {
    const [from, content] = parts(value);
    if (from === kind) return value;
    const text = ['map', 'array', 'vector'].includes(from) ? '' : shortText(value);
    const number = Number(text);
    switch (kind) {
    case 'string': return { string: from === 'null' ? '' : text };
    case 'integer': return { integer: from === 'bool' ? Number(content) : Number.isFinite(number) ? Math.trunc(number) : 0 };
    case 'double': return { double: Number.isFinite(number) ? number : 0 };
    case 'bool': return { bool: !['', '0', '0.0', 'false', 'null'].includes(text) };
    case 'timestamp': {
        const date = new Date(from === 'string' ? content : NaN);
        return { timestamp: (Number.isNaN(date.getTime()) ? new Date() : date).toISOString() };
    }
    case 'null': return { null: true };
    case 'map': return { map: {} };
    case 'array': return { array: from === 'vector' ? content.map(element => ({ double: element })) : [] };
    case 'vector': return { vector: from === 'array' ? content.map(element => Number(shortText(element)) || 0) : [] };
    case 'reference': return { reference: { path: from === 'string' && content.includes('/') ? content : '' } };
    case 'geoPoint': return { geoPoint: { latitude: 0, longitude: 0 } };
    default: return { bytes: '' };
    }
}
