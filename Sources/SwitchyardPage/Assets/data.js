// Documents: the tree of collections, a list of any length, one document beside it.

import { h, button, fill, say, paced, count, plural, icon } from './dom.js';
import { ask, state, go, when, replacePlace, sentActing, can, address } from './state.js';
import { Grid, put, putNode } from './grid.js';
import { Source, pageSize } from './source.js';
import { DocumentPanel, idOf, parentOf, remove } from './document.js';
import { parts, shortText, kindNames, jsonText, quoted } from './values.js';
import { dialog, failed, toast, nothing, wrongBox } from './dialogs.js';
import { explanation } from './explain.js';
import { on } from './events.js';
import { field, $ } from './dom.js';
import { performUndo } from './undo.js';

const mostColumns = 14;
const isDocument = path => path.split('/').length % 2 === 0;

export class DataView {
    title = 'Data';

    constructor() {
        this.roots = null;
        this.below = new Map();
        this.unfolded = new Set();
        this.stops = [];
        this.tree = h('div.tree', { role: 'tree', 'aria-label': 'Collections', onkeydown: event => this.treeKey(event) });
        this.panel = new DocumentPanel({
            onclose: () => this.place(this.collection, null), onopen: path => this.follow(path), onchange: () => { this.loadRoots(); this.source?.touched(); },
            onundo: () => performUndo(), onloaded: (path, collections) => this.learned(path, collections),
        });
        this.text = h('input.query-text.mono', {
            id: 'query', type: 'text', spellcheck: 'false', autocomplete: 'off', autocapitalize: 'off', placeholder: 'where … order by … limit …',
            'aria-label': 'Filter, order and limit', 'aria-describedby': 'query-mistake',
            onkeydown: event => {
                if (event.key === 'Enter') this.run();
                if (event.key === 'Escape' && this.text.value) { event.stopPropagation(); this.text.value = ''; this.run(); }
            },
        });
        this.mistake = h('div.mistake', { id: 'query-mistake', role: 'alert', hidden: true });
        this.group = h('input', { type: 'checkbox', id: 'is-group', onchange: () => this.run() });
        this.status = h('span.list-count', { role: 'status' });
        this.live = h('span.live', { hidden: true }, 'live');
        this.marks = h('div.marks', { hidden: true, role: 'toolbar', 'aria-label': 'Marked documents' });
        this.redraw = paced(() => this.drawList());
        this.grid = new Grid({
            label: 'Documents', columns: [{ id: '', title: 'ID', width: 'minmax(140px, 1fr)' }], isMarkable: true,
            draw: (cells, index, row) => this.drawRow(cells, index, row),
            onopen: index => this.openAt(index), onactive: index => { if (this.panel.isShown && !this.panel.isDirty && !this.isNarrow) this.openAt(index, true); },
            onmark: () => this.drawMarks(), onrange: (first, last) => this.source?.see(first, last), onsort: column => this.sort(column),
            onkey: (event, index) => {
                if (event.key === 'Delete' || event.key === 'Backspace') this.deleteMarked(index);
            },
            empty: nothing('No documents here', null),
        });
        this.heading = h('h1.list-title', 'Data');
        this.list = h('section.list', { 'aria-label': 'Documents of the collection' },
            h('header.list-head',
                button('', () => this.showTree(), { kind: 'quiet square back', icon: 'back', label: 'Back to the collections' }),
                this.heading, this.live, this.status,
                h('span.grow'),
                button('Count', () => this.countNow(), { kind: 'quiet small', label: 'Count the documents of this query' }),
                this.addButton = button('Add document', () => this.add(), { kind: 'small', icon: 'plus', label: 'Add document', key: 'n' })),
            h('div.query', { role: 'search' }, icon('search'), this.text,
                h('label.check', { for: 'is-group', title: 'All collections with this name, wherever they are' }, this.group, 'group'),
                button('', () => this.help(), { kind: 'quiet square', icon: 'more', label: 'What a query can say' }),
                button('Run', () => this.run(), { kind: 'small', label: 'Run the query' })),
            this.mistake, this.marks, this.grid.element);
        this.element = h('div.panes.data', { 'data-shows': 'tree' },
            h('aside.side', { 'aria-label': 'Collections' },
                h('header.side-head', h('h2', 'Collections'), button('', () => this.newCollection(), { kind: 'quiet square', icon: 'plus', label: 'New collection' })),
                this.tree),
            this.list, this.panel.element);
    }

    get isNarrow() { return matchMedia('(max-width: 760px)').matches; }

    start() {
        this.stops = [
            when('acting', () => { this.restart(); if (this.panel.path) this.panel.open(this.panel.path); }),
            on('reset', () => { this.loadRoots(); if (this.panel.path) this.panel.load(true); }),
            on('gap', () => this.loadRoots()),
            when('written', () => this.undone()),
        ];
        this.loadRoots();
        this.ticker = setInterval(() => { if (this.hasFresh) { this.hasFresh = false; this.redraw(); } }, 800);
    }

    stop() {
        for (const stop of this.stops) stop();
        clearInterval(this.ticker);
        this.source?.end();
        this.source = null;
        this.grid.close();
    }

    /// The page has written something, here or in another tab.
    undone() {
        this.loadRoots();
        this.source?.touched();
        if (this.panel.path) this.panel.reload();
    }

    // MARK: Places

    /// `#/backend/data/users` and `#/backend/data/users/alice`, with the query as `q`.
    show(rest, parameters) {
        const path = rest.join('/');
        const backend = state.backend.id;
        const text = parameters.get('q') ?? '';
        const isGroup = parameters.get('group') === '1';
        const collection = path ? (rest.length % 2 === 0 ? parentOf(path) : path) : null;
        if (backend !== this.backend) {
            this.backend = backend;
            this.roots = null;
            this.collection = undefined;
            this.loadRoots();
        }
        if (collection !== this.collection || text !== this.query || isGroup !== this.isGroup) {
            this.collection = collection;
            this.query = text;
            this.isGroup = isGroup;
            this.restart();
        }
        const document = path && rest.length % 2 === 0 ? path : null;
        if (document && document !== this.panel.path) {
            this.panel.open(document);
            this.showActive(document);
        } else if (!document && this.panel.isShown && !this.panel.isNew) {
            this.panel.hide();
        }
        this.element.dataset.shows = document || this.panel.isShown ? 'detail' : collection ? 'list' : 'tree';
        this.drawTree();
    }

    place(collection, document, { isReplacing = false } = {}) {
        if (!document && this.panel.isNew) this.panel.hide();
        const rest = document ? document.split('/') : collection ? collection.split('/') : [];
        const parameters = collection === this.collection || (document && parentOf(document) === this.collection)
            ? { q: this.query, group: this.isGroup ? '1' : '' } : {};
        if (isReplacing) {
            replacePlace('data', rest, parameters);
            this.show(state.rest, state.parameters);
        } else {
            go('data', rest, parameters);
        }
        if (!document) this.grid.element.focus({ preventScroll: true });
    }

    follow(path) { isDocument(path) ? go('data', path.split('/'), parentOf(path) === this.collection ? { q: this.query, group: this.isGroup ? '1' : '' } : {}) : this.place(path, null); }

    showTree() { go('data', []); }

    // MARK: The tree

    async loadRoots() {
        const backend = this.backend;
        try {
            const { collections } = await ask('GET', 'collections');
            if (backend !== this.backend) return;
            this.roots = collections;
            this.failure = null;
            if (!this.collection && collections.length && !this.isNarrow && state.view === 'data' && state.rest.length === 0) {
                return this.place(collections[0].path, null, { isReplacing: true });
            }
        } catch (error) {
            this.failure = error;
        }
        this.drawTree();
    }

    learned(path, collections) {
        if (!collections) return;
        this.below.set(path, collections);
        this.drawTree();
    }

    drawTree() {
        if (this.failure) return fill(this.tree, wrongBox(this.failure, () => this.loadRoots()));
        if (!this.roots) return fill(this.tree, h('p.quiet-text', 'Loading…'));
        const had = document.activeElement?.closest?.('.tree-item')?.dataset.path;
        const open = this.panel.path;
        const nodes = [];
        const line = (path, label, depth, kind, children) => {
            const isCurrent = path === this.collection && !this.panel.path || path === open;
            const isOpen = children.length > 0 && !this.folded?.has(path);
            nodes.push(h('div.tree-item', {
                role: 'treeitem', tabindex: '-1', 'aria-level': String(depth + 1), 'aria-selected': String(isCurrent), 'aria-expanded': children.length ? String(isOpen) : null,
                'data-path': path, class: `${isCurrent ? 'current' : ''} depth-${Math.min(depth, 6)}`,
                onclick: () => kind === 'document' ? this.panel.leave(() => this.follow(path)) : this.panel.leave(() => this.place(path, null)),
            }, icon(kind === 'document' ? 'file' : kind === 'table' ? 'table' : 'data'), h('span.tree-name', label)));
            if (isOpen) children.forEach(draw => draw(depth + 1));
        };
        const collection = (path, isTable) => depth => {
            // Of the documents, those that are open or have been: a collection may have a million.
            const visited = [...new Set([...this.below.keys(), open].filter(document => document && parentOf(document) === path && (document === open || this.below.get(document)?.length || open?.startsWith(document + '/') || this.collection?.startsWith(document + '/'))))];
            const ancestors = [open, this.collection].filter(Boolean).map(place => place.split('/')).filter(place => place.length > path.split('/').length + 1 && place.slice(0, path.split('/').length).join('/') === path).map(place => place.slice(0, path.split('/').length + 1).join('/'));
            const documents = [...new Set([...visited, ...ancestors])].slice(0, 20);
            line(path, path.split('/').at(-1), depth, isTable ? 'table' : 'collection', documents.map(document => documentNode(document)));
        };
        const documentNode = path => depth => {
            const known = (this.below.get(path) ?? []).map(found => found.path);
            const further = [open, this.collection].filter(place => place?.startsWith(path + '/')).map(place => place.split('/').slice(0, path.split('/').length + 1).join('/'));
            line(path, idOf(path), depth, 'document', [...new Set([...known, ...further])].map(found => collection(found, false)));
        };
        const roots = [...this.roots];
        const first = this.collection?.split('/')[0];
        if (first && !roots.some(root => root.path === first)) roots.push({ id: first, path: first });
        for (const root of roots) collection(root.path, root.isTable)(0);
        fill(this.tree, nodes.length ? nodes : nothing('Nothing here yet', 'Documents appear as soon as something is written.'));
        const current = nodes.find(node => node.dataset.path === had) ?? nodes.find(node => node.classList.contains('current')) ?? nodes[0];
        current?.setAttribute('tabindex', '0');
        if (had) current?.focus();
    }

    treeKey(event) {
        const all = [...this.tree.querySelectorAll('.tree-item')];
        const index = all.indexOf(event.target.closest('.tree-item'));
        if (index < 0) return;
        const item = all[index];
        const level = Number(item.getAttribute('aria-level'));
        const move = to => { if (!all[to]) return; item.tabIndex = -1; all[to].tabIndex = 0; all[to].focus(); };
        this.folded ??= new Set();
        switch (event.key) {
        case 'ArrowDown': move(index + 1); break;
        case 'ArrowUp': move(index - 1); break;
        case 'Home': move(0); break;
        case 'End': move(all.length - 1); break;
        case 'Enter': case ' ': item.click(); break;
        case 'ArrowLeft':
            if (item.getAttribute('aria-expanded') === 'true') { this.folded.add(item.dataset.path); this.drawTree(); }
            else move(all.findLastIndex((other, place) => place < index && Number(other.getAttribute('aria-level')) < level));
            break;
        case 'ArrowRight':
            if (item.getAttribute('aria-expanded') === 'false') { this.folded.delete(item.dataset.path); this.drawTree(); }
            else if (item.getAttribute('aria-expanded') === 'true') move(index + 1);
            break;
        default: return;
        }
        event.preventDefault();
        event.stopPropagation();
    }

    newCollection() {
        const input = h('input.mono', { placeholder: 'users', spellcheck: 'false', autocomplete: 'off' });
        dialog('New collection', [field('Path', input, { hint: 'A collection exists once it has a document. A path such as users/alice/notes leads below a document.' })], [{
            text: 'Next', run: () => {
                const path = input.value.trim().replace(/^\/+|\/+$/g, '');
                if (!path || isDocument(path)) throw new Error('The path of a collection has an odd number of parts, such as users or users/alice/notes.');
                this.place(path, null);
                requestAnimationFrame(() => this.add(path));
            },
        }]);
    }

    // MARK: The query

    run() {
        const parameters = { q: this.text.value.trim(), group: this.group.checked ? '1' : '' };
        if (parameters.q === this.query && this.group.checked === this.isGroup) return this.restart();
        go('data', this.collection?.split('/') ?? [], parameters);
    }

    restart() {
        this.source?.end();
        this.source = null;
        this.grid.marked.clear();
        this.drawMarks();
        this.showMistake(null);
        fill(this.heading, this.collection ? (this.isGroup ? `${idOf(this.collection)} (group)` : this.collection) : 'Data');
        this.list.toggleAttribute('data-blank', !this.collection);
        this.text.value = this.query ?? '';
        this.group.checked = Boolean(this.isGroup);
        this.columns = null;
        this.live.hidden = true;
        fill(this.status);
        if (!this.collection) {
            this.grid.setTotal(0);
            fill(this.grid.blank, nothing('Choose a collection', 'Its documents are shown here, as they change.'));
            return;
        }
        fill(this.grid.blank, nothing('Loading…'));
        this.grid.setTotal(0);
        this.grid.element.scrollTop = 0;
        this.grid.active = -1;
        const source = new Source({
            collection: this.isGroup ? idOf(this.collection) : this.collection, isGroup: Boolean(this.isGroup), text: this.query ?? '',
            onchange: () => this.redraw(), onfailure: error => this.failed(error), ontouch: paths => this.touched(paths),
        });
        this.source = source;
        source.start();
    }

    failed(error) {
        if (error.position !== undefined && error.position !== null) {
            this.showMistake(error);
            fill(this.grid.blank, nothing('The query cannot be read', 'Correct it above, then press Enter.'));
        } else {
            fill(this.grid.blank, wrongBox(error, () => this.restart()), error.explanation ? explanation(error.explanation) : null);
        }
        fill(this.status);
        if (this.grid.total) toast(error.message, { kind: 'bad' });
        else this.grid.setTotal(0);
    }

    /// The error under the place in the text where it is.
    showMistake(error) {
        this.mistake.hidden = !error;
        this.text.toggleAttribute('aria-invalid', Boolean(error));
        fill(this.mistake);
        if (!error) return;
        const text = this.query ?? '';
        const bytes = new TextEncoder().encode(text);
        const decode = part => new TextDecoder().decode(part);
        const start = Math.min(error.position, bytes.length);
        const before = decode(bytes.slice(0, start));
        const length = error.length ?? (decode(bytes.slice(start)).match(/^(\w+|\s|.)/)?.[0].length || 1);
        const marked = decode(bytes.slice(start, start + length));
        fill(this.mistake, h('pre.mistake-place', { 'aria-hidden': 'true' }, h('span', before), h('mark', marked || ' '), h('span', decode(bytes.slice(start + length)))),
            h('p', `${error.message.split('\n')[0]}`));
        this.text.focus();
        this.text.setSelectionRange(before.length, before.length + marked.length);
    }

    sort(column) {
        const now = this.text.value.match(/order by\s+(\S+?)(\s+desc|\s+asc)?(?=\s*(,|$|\s+(limit|start|end|offset|select)))/i);
        const name = quoted(column.id);
        const isThis = now?.[1] === name;
        const next = !isThis ? `order by ${name}` : now[2]?.trim() === 'desc' ? '' : `order by ${name} desc`;
        const others = this.text.value.replace(/order by\s+.*?(?=\s+(limit|start|end|offset|select)\b|$)/i, ' ').replace(/\s+/g, ' ').trim();
        const place = others.search(/\b(start|end|limit|offset|select)\b/);
        this.text.value = (place < 0 ? `${others} ${next}` : `${others.slice(0, place)}${next} ${others.slice(place)}`).replace(/\s+/g, ' ').trim();
        this.run();
    }

    help() {
        const line = (text, words) => h('tr', h('td', h('code', text)), h('td', words));
        dialog('What a query can say', h('table.help', h('tbody',
            line('where age > 17 and city = "Ulm"', 'conditions, joined by and, or, ( )'),
            line('where city in ["Ulm", "Bonn"]', 'one of several; also not in'),
            line('where tags includes "new"', 'an element of a list; also includes any'),
            line('where note is null', 'also is not null, is nan'),
            line('where at > timestamp "2026-05-01"', 'times; also reference "users/bob", bytes "…"'),
            line('order by name desc, age', 'several, with desc'),
            line('limit 20 offset 40', 'also limit last 20'),
            line('start at "B" end before "C"', 'values of what it is ordered by'))), [], { isWide: true });
    }

    async countNow() {
        if (!this.source) return;
        try {
            const started = performance.now();
            const { count: number } = await ask('POST', 'count', this.source.input);
            toast(`${plural(Number(number), 'document')} · counted in ${Math.round(performance.now() - started)} ms`, { seconds: 5 });
        } catch (error) { failed('Counting failed', error); }
    }

    // MARK: The list

    drawList() {
        const source = this.source;
        if (!source) return;
        if (!this.columns || this.hasNewColumns()) this.chooseColumns();
        if (!source.failure) fill(this.grid.blank, nothing(this.query ? 'Nothing matches' : 'No documents here', this.query ? 'The query is right; no document has what it asks for.' : 'They appear as soon as something writes them.',
            this.query ? null : button('Add document', () => this.add(), { icon: 'plus' })));
        this.grid.setTotal(source.length);
        // Documents that come and go move the open one.
        if (this.panel.path && document.activeElement !== this.grid.element) this.follows(this.panel.path);
        const known = source.total !== null;
        fill(this.status, known ? plural(source.total, 'document') : `more than ${count(source.known)}`);
        this.live.hidden = !source.isLive;
        if (source.sight) source.see(...source.sight);
    }

    hasNewColumns() {
        const known = new Set(this.columns.map(column => column.id));
        if (known.size > mostColumns) return false;
        return this.firstDocuments().some(document => Object.keys(document.data).some(name => !known.has(name)));
    }

    firstDocuments() { return [...this.source.pages.values()].slice(0, 3).flatMap(page => page.documents.slice(0, 40)); }

    chooseColumns() {
        const documents = this.firstDocuments();
        if (!documents.length) return;
        const found = new Map();
        for (const document of documents) {
            for (const [name, value] of Object.entries(document.data)) {
                const entry = found.get(name) ?? { name, kinds: new Set(), longest: 0 };
                const [kind] = parts(value);
                entry.kinds.add(kind);
                entry.longest = Math.max(entry.longest, Math.min(60, shortText(value).length));
                found.set(name, entry);
            }
        }
        const fields = [...found.values()].slice(0, mostColumns);
        const order = this.query?.match(/order by\s+(`[^`]+`|\S+?)(\s+desc)?(?=\s*(,|$|\s))/i);
        const longestID = Math.max(...documents.map(document => this.label(document).length));
        this.columns = [{ id: '', title: 'ID', width: `minmax(${clamp(longestID * 7.4 + 44, 120, 260)}px, 1fr)` }, ...fields.map(entry => {
            const isNumber = [...entry.kinds].every(kind => kind === 'integer' || kind === 'double');
            const width = clamp(Math.max(entry.longest, entry.name.length + 3) * 7.2 + 24, 76, 300);
            return {
                id: entry.name, title: entry.name, isNumber, width: `minmax(${Math.round(width)}px, ${isNumber ? '.6fr' : '1.2fr'})`, canSort: true,
                sort: order?.[1] === quoted(entry.name) ? (order[2] ? 'descending' : 'ascending') : 'none',
            };
        })];
        this.grid.setColumns(this.columns);
    }

    label(document) { return this.isGroup ? document.path : document.id ?? idOf(document.path); }

    drawRow(cells, index, row) {
        const document = this.source?.at(index);
        row.classList.toggle('waiting', !document);
        row.dataset.key = document?.path ?? '';
        const isFresh = document && this.source.isFresh(document.path);
        row.classList.toggle('fresh', Boolean(isFresh));
        if (isFresh) this.hasFresh = true;
        const columns = this.grid.columns;
        for (let place = 0; place < columns.length; place += 1) {
            const cell = cells[place];
            if (!cell) continue;
            const base = columns[place].isNumber ? 'number ' : '';
            if (!document) { put(cell, '', { className: base }); continue; }
            if (place === 0) {
                if (!cell.tick) {
                    cell.tick = h('span.tick', { 'aria-hidden': 'true' });
                    cell.label = h('span.id');
                    putNode(cell, cell.tick, cell.label);
                }
                cell.label.textContent = this.label(document);
                continue;
            }
            const value = document.data[columns[place].id];
            if (value === undefined) { put(cell, '', { className: `${base}absent` }); continue; }
            const [kind] = parts(value);
            put(cell, shortText(value).slice(0, 300), { className: `${base}kind-${kind}`, title: kind === 'string' ? undefined : kindNames[kind] });
        }
    }

    openAt(index, isReplacing = false) {
        const document = this.source?.at(index);
        if (!document) return;
        this.panel.leave(() => {
            const rest = document.path.split('/');
            const parameters = { q: this.query, group: this.isGroup ? '1' : '' };
            if (this.isGroup) {
                // The list stays as it is; only the document opens.
                this.panel.open(document.path);
                this.element.dataset.shows = 'detail';
            } else if (isReplacing) {
                replacePlace('data', rest, parameters);
                this.show(state.rest, state.parameters);
            } else {
                go('data', rest, parameters);
            }
        });
    }

    showActive(path) {
        const found = this.source?.find(path);
        if (found && this.grid.active !== found.index) this.grid.setActive(found.index, { isQuiet: true });
    }

    follows(path) {
        const found = this.source.find(path);
        if (found && this.grid.active !== found.index) this.grid.setActive(found.index, { isQuiet: true, isScrolling: false });
    }

    touched(paths) {
        if (this.panel.isShown && this.panel.path && (!paths || paths.includes(this.panel.path))) this.panel.reload();
    }

    // MARK: Marked documents

    drawMarks() {
        const number = this.grid.marked.size;
        this.marks.hidden = number === 0;
        if (!number) return;
        fill(this.marks, h('span', { role: 'status' }, `${plural(number, 'document')} marked`),
            button('Delete', () => this.deleteMarked(-1), { kind: 'small danger', icon: 'trash' }),
            button('Copy as JSON', () => this.copyMarked(), { kind: 'small', icon: 'copy' }),
            button('Unmark all', () => { this.grid.marked.clear(); this.grid.refreshMarks(); this.drawMarks(); }, { kind: 'small quiet' }));
    }

    async deleteMarked(index) {
        const paths = this.grid.marked.size ? [...this.grid.marked] : [this.source?.at(index)?.path].filter(Boolean);
        if (!paths.length) return;
        try {
            const number = await remove(paths);
            this.grid.marked.clear();
            this.drawMarks();
            toast(number === 1 ? `Deleted ${paths[0]}` : `Deleted ${number} documents`, { action: { text: 'Undo', run: () => performUndo() } });
            say(`${number} deleted`);
            if (paths.includes(this.panel.path)) this.place(this.collection, null);
            this.source?.touched();
        } catch (error) { failed('Deleting failed', error); }
    }

    copyMarked() {
        const all = [...this.grid.marked].map(path => this.source.find(path)?.document).filter(Boolean);
        const text = all.map(document => jsonText(document.data)).join(',\n');
        navigator.clipboard.writeText(all.length === 1 ? text : `[${text}]`).then(() => toast(`${plural(all.length, 'document')} copied`, { seconds: 3 }), error => failed('Copying failed', error));
    }

    add(collection = this.collection) {
        if (!collection) return this.newCollection();
        this.panel.leave(() => {
            this.panel.create(collection);
            this.element.dataset.shows = 'detail';
        });
    }

    // MARK: Keys

    /// Esc closes the document, wherever the focus is.
    escape() { if (this.panel.isShown) this.panel.leave(() => this.panel.onclose()); }

    keys = [
        ['/', 'Filter', () => { this.text.focus(); this.text.select(); }],
        ['n', 'Add a document', () => this.add()],
        ['e', 'Fields or JSON', () => { if (this.panel.isShown) this.panel.setForm(this.panel.form === 'fields' ? 'json' : 'fields'); }],
    ];
}

const clamp = (value, least, most) => Math.round(Math.max(least, Math.min(most, value)));
