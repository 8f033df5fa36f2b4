// One document: as fields or as JSON, both to edit; live, and never overwritten while someone edits it.

import { h, button, fill, say, settled, day } from './dom.js';
import { ask, sentActing, did, state, actingName, at, can } from './state.js';
import { RawJSON } from './api.js';
import { FieldEditor } from './fields.js';
import { explanation, verdict } from './explain.js';
import { dataFromText, jsonText, same, quoted, JSONMistake } from './values.js';
import { confirm, dialog, failed, toast, wrongBox } from './dialogs.js';

export const parentOf = path => path.split('/').slice(0, -1).join('/');
export const idOf = path => path.split('/').at(-1);

/// Writes, and remembers how to put everything back.
export async function write(label, body) {
    const answer = await ask('POST', 'write', { ...body, as: sentActing() });
    const path = answer.path ?? body.path;
    did(label, () => body.kind === 'update' && answer.before
        ? ask('POST', 'write', { kind: 'update', path, data: back(Object.keys(body.data), answer.before), as: null })
        : restore(path, answer.before));
    return answer;
}

/// The fields that differ, by their paths: what is not touched stays as it is, and a row keeps what its table works out.
function changes(before, after) {
    const found = {};
    for (const [name, value] of Object.entries(after)) {
        if (!Object.hasOwn(before, name) || !same(before[name], value)) found[quoted(name)] = sent(value);
    }
    for (const name of Object.keys(before)) if (!Object.hasOwn(after, name)) found[quoted(name)] = { delete: true };
    return found;
}

/// The same fields as they were.
function back(paths, before) {
    const known = new Map(Object.entries(before).map(([name, value]) => [quoted(name), value]));
    return Object.fromEntries(paths.map(path => [path, known.get(path) ?? { delete: true }]));
}

/// What a write does to a field, such as `{"serverTime": true}`, goes as it was written.
function sent(value) {
    if (value.change !== undefined) return new RawJSON(value.change);
    if (value.map) return { map: sentMembers(value.map) };
    return value;
}
const sentMembers = members => Object.fromEntries(Object.entries(members).map(([name, value]) => [name, sent(value)]));

/// Undo acts as the project: what someone may do, they may not always take back.
export function restore(path, before) {
    return before === null || before === undefined
        ? ask('POST', 'write', { kind: 'delete', path, as: null })
        : ask('POST', 'write', { kind: 'set', path, data: before, as: null });
}

export async function remove(paths) {
    const done = [];
    try {
        for (const path of paths) {
            const answer = await ask('POST', 'write', { kind: 'delete', path, as: sentActing() });
            done.push([path, answer.before]);
        }
    } finally {
        if (done.length) {
            const label = done.length === 1 ? `Delete ${done[0][0]}` : `Delete ${done.length} documents`;
            did(label, async () => { for (const [path, before] of done) await restore(path, before); });
        }
    }
    return done.length;
}

export class DocumentPanel {
    /// `onclose()`, `onopen(path)` for a place elsewhere, `onchange()` after each write.
    constructor({ onclose, onopen, onchange, onundo, onloaded }) {
        Object.assign(this, { onclose, onopen, onchange, onundo, onloaded });
        this.form = sessionStorage.getItem('form') ?? 'fields';
        this.reload = settled(150, () => this.load(true));
        this.body = h('div.panel-body');
        this.foot = h('footer.panel-foot');
        this.head = h('header.panel-head');
        this.note = h('div.panel-note', { role: 'status' });
        this.element = h('section.panel', {
            'aria-label': 'Document', hidden: true,
            onkeydown: event => {
                if ((event.ctrlKey || event.metaKey) && (event.key === 's' || event.key === 'Enter')) {
                    event.preventDefault();
                    this.save();
                }
                if (event.key === 'Escape' && !event.defaultPrevented) {
                    event.preventDefault();
                    event.stopPropagation();
                    this.leave(() => this.onclose());
                }
            },
        }, this.head, this.note, this.body, this.foot);
    }

    get isShown() { return !this.element.hidden; }

    /// Runs when nothing is lost by it.
    leave(then) {
        if (!this.isDirty) return then();
        confirm('Discard the changes?', `What you changed in ${this.path ?? 'the new document'} is not saved.`, 'Discard', () => {
            this.isDirty = false;
            then();
        });
    }

    hide() {
        this.element.hidden = true;
        this.path = null;
        this.isDirty = false;
    }

    async open(path) {
        this.element.hidden = false;
        this.isNew = false;
        this.path = path;
        this.isDirty = false;
        this.theirs = null;
        this.snapshot = null;
        this.failure = null;
        fill(this.note);
        this.drawHead();
        await this.load();
    }

    /// A document that does not exist yet, perhaps with the data of another one.
    create(collection, data = {}, id = '') {
        this.element.hidden = false;
        this.isNew = true;
        this.turn = (this.turn ?? 0) + 1;
        this.path = null;
        this.collection = collection;
        this.isDirty = Object.keys(data).length > 0;
        this.snapshot = { data };
        this.failure = null;
        fill(this.note);
        this.idControl = h('input.mono', { id: 'new-id', value: id, placeholder: 'automatic', spellcheck: 'false', autocomplete: 'off', 'aria-label': 'ID of the new document' });
        this.drawHead();
        this.draw();
        this.idControl.focus();
    }

    async load(isAgain = false) {
        const path = this.path;
        if (!path || this.isNew) return;
        try {
            const found = await ask('POST', 'get', { path, as: sentActing() });
            if (this.path !== path) return;
            this.failure = null;
            if (isAgain && this.snapshot && this.isDirty) {
                if (!same(found.data ?? null, this.snapshot.data ?? null)) this.changedElsewhere(found);
                return;
            }
            const isSame = isAgain && this.snapshot && this.snapshot.exists === found.exists && same(found.data ?? null, this.snapshot.data ?? null);
            this.snapshot = found;
            if (isSame) return this.drawHead();
            fill(this.note);
            this.drawHead();
            // Not under the hands of someone who stands in a field.
            this.draw();
            this.onloaded?.(path);
        } catch (error) {
            if (error.name === 'AbortError' || this.path !== path) return;
            this.failure = error;
            this.drawHead();
            fill(this.body, wrongBox(error, () => this.load()), error.explanation ? explanation(error.explanation) : null);
            fill(this.foot);
            if (state.acting) this.checkAccess();
        }
    }

    changedElsewhere(found) {
        this.theirs = found;
        fill(this.note, h('div.notice', h('span', found.exists ? 'This document has changed on the server while you edit it.' : 'This document was deleted while you edit it.'),
            button('Show the new one', () => { this.snapshot = found; this.isDirty = false; fill(this.note); this.drawHead(); this.draw(); }, { kind: 'small' }),
            button('Keep mine', () => { this.snapshot = { ...this.snapshot, data: found.data, exists: found.exists }; fill(this.note); }, { kind: 'small quiet' })));
    }

    /// Buttons stay as they are while the document changes, and so does the focus.
    drawHead() {
        const meta = [];
        if (this.snapshot?.exists === false) meta.push(h('span.chip', 'does not exist'));
        if (this.snapshot?.updatedAt) meta.push(h('span.quiet-text', { title: 'Last written' }, `written ${day(this.snapshot.updatedAt)}`));
        const shape = JSON.stringify([this.isNew, this.isNew ? this.collection : this.path, this.form, this.isNew && this.turn]);
        if (shape === this.shape) return fill(this.meta, meta);
        this.shape = shape;
        this.meta = h('div.panel-meta', meta);
        const crumbs = (this.isNew ? `${this.collection}/` : this.path).split('/');
        const shown = crumbs.map((part, index) => {
            const isLast = index === crumbs.length - 1;
            return [index ? h('span.crumb-slash', '/') : null, isLast
                ? (this.isNew ? this.idControl : h('strong', part))
                : h('button.crumb', { type: 'button', onclick: () => this.leave(() => this.onopen(crumbs.slice(0, index + 1).join('/'))) }, part)];
        });
        fill(this.head,
            h('div.panel-title',
                button('', () => this.leave(() => this.onclose()), { kind: 'quiet square back', icon: 'back', label: 'Back to the list' }),
                h('h2.crumbs', { title: this.path ?? '' }, shown),
                h('div.panel-actions',
                    this.isNew ? null : button('', () => this.copyPath(), { kind: 'quiet square', icon: 'link', label: 'Copy the path' }),
                    this.isNew ? null : button('', () => this.duplicate(), { kind: 'quiet square', icon: 'copy', label: 'Copy to a new document' }),
                    this.isNew ? null : button('', () => this.delete(), { kind: 'quiet square', icon: 'trash', label: 'Delete the document' }),
                    button('', () => this.leave(() => this.onclose()), { kind: 'quiet square', icon: 'close', label: 'Close the document', key: 'Escape' }))),
            h('div.panel-sub',
                h('div.segments', { role: 'tablist', 'aria-label': 'Form' }, [['fields', 'Fields'], ['json', 'JSON']].map(([form, name]) =>
                    h('button', {
                        type: 'button', role: 'tab', id: `tab-${form}`, 'aria-selected': String(this.form === form), 'aria-controls': 'document-form', tabindex: this.form === form ? '0' : '-1',
                        onclick: () => this.setForm(form),
                        onkeydown: event => {
                            if (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight') return;
                            event.preventDefault();
                            this.setForm(this.form === 'fields' ? 'json' : 'fields');
                            this.head.querySelector('[role=tab][aria-selected=true]').focus();
                        },
                    }, name))),
                this.meta));
    }

    draw() {
        this.access = h('div.access');
        this.children = h('div.children');
        const data = this.draft ?? this.snapshot.data ?? {};
        this.draft = null;
        const place = h('div.panel-form', { id: 'document-form', role: 'tabpanel', 'aria-labelledby': `tab-${this.form}` });
        if (this.form === 'fields') {
            this.editor = new FieldEditor({ onchange: () => this.touch(), onfollow: path => this.leave(() => this.onopen(path)) });
            this.editor.show(data);
            place.append(this.editor.element);
        } else {
            const text = jsonText(data);
            this.mistake = h('p.wrong', { id: 'json-mistake', role: 'alert', hidden: true });
            this.area = h('textarea.json.mono', {
                value: text, spellcheck: 'false', autocomplete: 'off', autocapitalize: 'off', wrap: 'off', 'aria-label': 'The document as JSON',
                'aria-describedby': 'json-mistake', rows: String(Math.max(12, Math.min(40, text.split('\n').length + 1))),
                oninput: () => { this.touch(); this.checkJSON(); },
                onkeydown: event => {
                    if (event.key !== 'Tab' || event.shiftKey || !this.takesTab) return;
                    event.preventDefault();
                    document.execCommand('insertText', false, '  ');
                },
            });
            place.append(this.area, this.mistake, h('p.hint', 'Plain JSON, or a kind where it matters: {"timestamp": "2026-05-01T09:41:00Z"}, {"reference": {"path": "users/bob"}}, {"serverTime": true}.'));
        }
        const focused = this.body.contains(document.activeElement) ? document.activeElement.getAttribute('aria-label') : null;
        fill(this.body, place, this.access, this.children);
        if (focused) [...this.body.querySelectorAll('[aria-label]')].find(control => control.getAttribute('aria-label') === focused)?.focus({ preventScroll: true });
        this.drawFoot();
        if (!this.isNew) {
            this.checkAccess();
            this.loadChildren();
        }
    }

    drawFoot() {
        fill(this.foot,
            h('span.quiet-text', this.isDirty ? 'Not saved' : state.acting ? `as ${actingName()}` : ''),
            this.isNew ? null : button('Revert', () => { this.isDirty = false; fill(this.note); this.draw(); }, { kind: 'quiet', disabled: !this.isDirty }),
            button(this.isNew ? 'Create' : 'Save', () => this.save(), { kind: 'primary', disabled: !this.isDirty && !this.isNew, key: 'Control+S', label: this.isNew ? 'Create the document' : 'Save the document' }));
    }

    touch() {
        if (this.isDirty) return;
        this.isDirty = true;
        this.drawFoot();
    }

    setForm(form) {
        if (form === this.form) return;
        try {
            if (this.isDirty) this.draft = this.form === 'fields' ? this.editor.read() : dataFromText(this.area.value);
            if (JSON.stringify(this.draft ?? null, (_, value) => typeof value === 'bigint' ? String(value) : value).includes('"change":')) {
                throw new JSONMistake('What a write does to a field, such as serverTime, has no line among the fields. Save it first.', 0);
            }
        } catch (error) {
            this.draft = null;
            return this.showMistake(error);
        }
        this.form = form;
        sessionStorage.setItem('form', form);
        this.drawHead();
        this.draw();
    }

    // MARK: Mistakes

    checkJSON() {
        try {
            dataFromText(this.area.value);
            this.showMistake(null);
        } catch (error) {
            this.showMistake(error, true);
        }
    }

    showMistake(error, isTyping = false) {
        if (this.form !== 'json') {
            if (error) toast(error.message, { kind: 'bad' });
            return;
        }
        this.mistake.hidden = !error;
        this.area.toggleAttribute('aria-invalid', Boolean(error));
        if (!error) return;
        if (error.position !== undefined) {
            const before = this.area.value.slice(0, error.position).split('\n');
            this.mistake.textContent = `Line ${before.length}, column ${before.at(-1).length + 1}: ${error.message}`;
            if (!isTyping) {
                this.area.focus();
                this.area.setSelectionRange(error.position, Math.min(error.position + 1, this.area.value.length));
            }
        } else {
            this.mistake.textContent = error.message;
        }
    }

    // MARK: Writing

    async save() {
        if (!this.isDirty && !this.isNew) return;
        let data;
        try {
            data = this.form === 'fields' ? this.editor.read() : dataFromText(this.area.value);
        } catch (error) {
            return this.showMistake(error);
        }
        try {
            if (this.isNew) {
                const id = this.idControl.value.trim();
                const answer = id
                    ? await write(`Create ${this.collection}/${id}`, { kind: 'set', path: `${this.collection}/${id}`, data: sentMembers(data) })
                    : await write(`Add to ${this.collection}`, { kind: 'add', collection: this.collection, data: sentMembers(data) });
                this.isDirty = false;
                toast(`Created ${answer.path ?? `${this.collection}/${id}`}`, { action: { text: 'Undo', run: () => this.onundo() } });
                this.onchange();
                return this.onopen(answer.path ?? `${this.collection}/${id}`);
            }
            if (this.snapshot?.exists) {
                const different = changes(this.snapshot.data ?? {}, data);
                if (Object.keys(different).length) await write(`Change ${this.path}`, { kind: 'update', path: this.path, data: different });
            } else {
                await write(`Create ${this.path}`, { kind: 'set', path: this.path, data: sentMembers(data) });
            }
            this.isDirty = false;
            this.snapshot = null;
            say('Saved');
            toast('Saved', { action: { text: 'Undo', run: () => this.onundo() }, seconds: 4 });
            fill(this.note);
            this.onchange();
            await this.load();
        } catch (error) {
            const box = h('div.notice.bad', h('span', error.message), error.explanation ? explanation(error.explanation) : null);
            fill(this.note, box);
            say(error.message);
        }
    }

    delete() {
        const path = this.path;
        remove([path]).then(() => {
            this.isDirty = false;
            toast(`Deleted ${path}`, { action: { text: 'Undo', run: () => this.onundo() } });
            this.onchange();
            this.onclose();
        }, error => failed(`Deleting ${path} failed`, error));
    }

    async duplicate() {
        if (!this.snapshot) await this.load();
        const data = this.snapshot?.data;
        if (!data) return toast('There is no document to copy', { seconds: 3 });
        this.leave(() => this.create(parentOf(this.path), data, `${idOf(this.path)}-copy`));
    }

    copyPath() {
        navigator.clipboard.writeText(this.path).then(() => toast('Path copied', { seconds: 2 }), error => failed('Copying failed', error));
    }

    // MARK: Around it

    /// What the one who is acted as may do with it.
    async checkAccess() {
        const path = this.path;
        this.access ??= h('div.access');
        if (!this.access.isConnected) this.body.append(this.access);
        fill(this.access);
        if (!state.acting || !can('actAs')) return;
        try {
            const found = await ask('POST', 'actAs/check', { path, as: sentActing() });
            if (this.path !== path) return;
            const part = (name, made) => made ? h('details.access-part', h('summary', h('span', name), verdict(made)), explanation(made.explanation ? { allowed: made.allowed, ...made.explanation } : null)) : null;
            fill(this.access, h('h3', `What ${actingName()} may do`), part('Read', found.read), part('Write', found.write));
        } catch { /* Not every backend can say. */ }
    }

    async loadChildren() {
        const path = this.path;
        try {
            const { collections } = await ask('GET', `collections?parent=${encodeURIComponent(path)}`);
            if (this.path !== path) return;
            this.onloaded?.(path, collections);
            if (collections.length) {
                fill(this.children, h('h3', 'Collections below it'), h('ul.plain', collections.map(collection =>
                    h('li', h('button.crumb', { type: 'button', onclick: () => this.leave(() => this.onopen(collection.path)) }, collection.path)))));
            }
        } catch { /* Mapped tables have none. */ }
    }
}
