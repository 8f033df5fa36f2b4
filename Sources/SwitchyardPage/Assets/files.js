// Files: folders, preview, upload with progress.

import { h, button, day, field, fill, icon, plural, size } from './dom.js';
import { content, query, upload } from './api.js';
import { ask, at, did, go, sentActing, state, when } from './state.js';
import { on } from './events.js';
import { dialog, failed, nothing, toast, wrongBox } from './dialogs.js';

const textTypes = /^(text\/|application\/(json|xml|javascript|yaml|x-ndjson))/;
const imageTypes = /^image\/(png|jpeg|gif|webp|avif|bmp|svg\+xml|x-icon)/;
const mostKept = 32e6;

export class FilesView {
    title = 'Files';

    constructor() {
        this.rows = h('ul.file-rows', { 'aria-label': 'Files', onkeydown: event => this.moved(event) });
        this.crumbs = h('nav.crumbs', { 'aria-label': 'Folder' });
        this.status = h('span.list-count', { role: 'status' });
        this.uploads = h('ul.uploads', { 'aria-label': 'Uploads', hidden: true });
        this.chooser = h('input.hidden', { type: 'file', multiple: true, id: 'file-chooser', tabindex: '-1', 'aria-label': 'Files to upload', onchange: () => { this.send([...this.chooser.files]); this.chooser.value = ''; } });
        this.detail = h('section.panel', { 'aria-label': 'File', hidden: true, onkeydown: event => { if (event.key === 'Escape') { event.preventDefault(); this.close(); } } });
        const list = h('section.list', {
            'aria-label': 'Files',
            ondragover: event => { event.preventDefault(); list.classList.add('dropping'); },
            ondragleave: event => { if (!list.contains(event.relatedTarget)) list.classList.remove('dropping'); },
            ondrop: event => { event.preventDefault(); list.classList.remove('dropping'); this.send([...event.dataTransfer.files]); },
        },
        h('header.list-head', h('h1.list-title', 'Files'), this.status, h('span.grow'), this.chooser,
            button('Upload', () => this.chooser.click(), { kind: 'small', icon: 'upload', label: 'Upload files', key: 'n' })),
        h('div.folder-bar', this.crumbs), this.uploads, h('div.scroll', this.rows), h('p.drop-note', { 'aria-hidden': 'true' }, 'Drop files to upload them here'));
        this.element = h('div.panes', { 'data-shows': 'list' }, list, this.detail);
    }

    start() {
        this.stops = [when('acting', () => this.load()), on('files', event => { if (event.backend === state.backend.id) this.load(); }), on('gap', () => this.load()), on('reset', () => this.load())];
    }

    stop() {
        for (const stop of this.stops) stop();
        this.letGo();
    }

    /// `#/backend/files/folder/folder/` and `?file=name`.
    show(rest, parameters) {
        const prefix = rest.length ? `${rest.join('/')}/` : '';
        const file = parameters.get('file');
        const isOther = prefix !== this.prefix;
        this.prefix = prefix;
        if (isOther || !this.folder) this.load();
        this.element.dataset.shows = file ? 'detail' : 'list';
        this.detail.hidden = !file;
        if (file !== this.file) {
            this.file = file;
            if (file) this.drawFile();
            else this.letGo();
        }
        this.markCurrent();
    }

    open(name) { go('files', parts(this.prefix), { file: name }); }
    close() { go('files', parts(this.prefix)); }
    enter(folder) { go('files', parts(folder)); }

    async load() {
        const prefix = this.prefix ?? '';
        try {
            const folder = await ask('GET', `files${query({ prefix, as: sentActing() })}`);
            if (prefix !== this.prefix) return;
            this.failure = null;
            this.folder = folder;
            this.draw();
            if (this.file && this.waitsFor) this.drawFile();
        } catch (error) {
            this.drawCrumbs();
            fill(this.status);
            fill(this.rows, h('li', wrongBox(error, () => this.load())));
        }
    }

    drawCrumbs() {
        const all = parts(this.prefix);
        fill(this.crumbs, h('button.crumb', { type: 'button', onclick: () => this.enter('') }, icon('folder'), h('span', 'All files')), all.map((part, index) =>
            [h('span.crumb-slash', '/'), h('button.crumb', { type: 'button', onclick: () => this.enter(all.slice(0, index + 1).join('/')) }, part)]));
    }

    draw() {
        this.drawCrumbs();
        const { folders, files } = this.folder;
        fill(this.status, [folders.length ? plural(folders.length, 'folder') : null, plural(files.length, 'file')].filter(Boolean).join(', '));
        if (!folders.length && !files.length) return fill(this.rows, h('li', nothing('No files here', 'Drop some, or choose them.', button('Upload', () => this.chooser.click(), { icon: 'upload' }))));
        fill(this.rows,
            folders.map(folder => h('li', h('button.file-row', { type: 'button', onclick: () => this.enter(folder) }, icon('folder'), h('span.file-name', parts(folder).at(-1)), h('span.dim', 'folder')))),
            files.map(file => h('li', h('button.file-row', { type: 'button', 'data-name': nameOf(file.path), onclick: () => this.open(nameOf(file.path)) },
                icon('file'), h('span.file-name', nameOf(file.path)), h('span.dim.file-type', file.type ?? ''), h('span.dim.number', size(file.size)), h('span.dim.file-date', day(file.updatedAt))))));
        if (this.folder.page) this.rows.append(h('li', button('More', () => this.more(), { kind: 'small' })));
        this.markCurrent();
    }

    async more() {
        try {
            const next = await ask('GET', `files${query({ prefix: this.prefix, page: this.folder.page, as: sentActing() })}`);
            this.folder = { folders: [...this.folder.folders, ...next.folders], files: [...this.folder.files, ...next.files], page: next.page };
            this.draw();
        } catch (error) { failed('Further files could not be read', error); }
    }

    markCurrent() {
        for (const row of this.rows.querySelectorAll('.file-row')) row.toggleAttribute('aria-current', Boolean(this.file) && row.dataset.name === this.file);
    }

    moved(event) {
        const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
        if (!step) return;
        const all = [...this.rows.querySelectorAll('.file-row')];
        all[all.indexOf(document.activeElement) + step]?.focus();
        event.preventDefault();
    }

    // MARK: One file

    letGo() {
        if (this.address) URL.revokeObjectURL(this.address);
        this.address = null;
    }

    async drawFile() {
        const name = this.file;
        const path = `${this.prefix}${name}`;
        const file = this.folder?.files.find(file => file.path === path);
        this.waitsFor = !file;
        this.letGo();
        const preview = h('div.preview', h('p.quiet-text', 'Loading…'));
        const fact = (name, value) => h('div', h('dt', name), h('dd', value || '—'));
        fill(this.detail,
            h('header.panel-head', h('div.panel-title', button('', () => this.close(), { kind: 'quiet square back', icon: 'back', label: 'Back to the list' }),
                h('h2', name), h('span.grow'),
                h('div.panel-actions',
                    button('', () => this.download(path), { kind: 'quiet square', icon: 'download', label: 'Download' }),
                    button('', () => this.delete(path), { kind: 'quiet square', icon: 'trash', label: 'Delete the file' }),
                    button('', () => this.close(), { kind: 'quiet square', icon: 'close', label: 'Close', key: 'Escape' })))),
            h('div.panel-body', preview, h('dl.facts', fact('Path', h('code', path)), fact('Type', file?.type), fact('Size', size(file?.size)), fact('Written', file ? day(file.updatedAt) : ''))));
        if (!file) return;
        if (file.size > mostKept) return fill(preview, h('p.quiet-text', `Too large to show (${size(file.size)}). Download it instead.`));
        try {
            const blob = await content(at(`file${query({ path, as: sentActing() })}`));
            if (this.file !== name) return;
            const type = file.type || blob.type;
            if (imageTypes.test(type)) {
                this.address = URL.createObjectURL(new Blob([blob], { type }));
                fill(preview, h('img', { src: this.address, alt: `Preview of ${name}` }));
            } else if (textTypes.test(type) || file.size < 64e3 && await looksLikeText(blob)) {
                const text = await blob.slice(0, 200e3).text();
                fill(preview, h('pre.body', { tabindex: '0' }, h('code', text)), blob.size > 200e3 ? h('p.hint', 'Only the beginning is shown.') : null);
            } else if (/^(audio|video)\//.test(type)) {
                this.address = URL.createObjectURL(new Blob([blob], { type }));
                fill(preview, h(type.startsWith('audio') ? 'audio' : 'video', { src: this.address, controls: true }));
            } else {
                const bytes = new Uint8Array(await blob.slice(0, 256).arrayBuffer());
                fill(preview, h('pre.body.hex', { 'aria-label': 'The first bytes' }, h('code', hex(bytes))), h('p.hint', `The first ${bytes.length} bytes; there is no preview for ${type || 'this type'}.`));
            }
        } catch (error) { fill(preview, wrongBox(error, () => this.drawFile())); }
    }

    async download(path) {
        try {
            const blob = await content(at(`file${query({ path, as: sentActing() })}`));
            const address = URL.createObjectURL(blob);
            h('a', { href: address, download: nameOf(path) }).click();
            setTimeout(() => URL.revokeObjectURL(address), 10000);
        } catch (error) { failed('The download failed', error); }
    }

    async delete(path) {
        const file = this.folder?.files.find(file => file.path === path);
        try {
            const kept = file && file.size <= mostKept ? await content(at(`file${query({ path, as: sentActing() })}`)) : null;
            await ask('DELETE', `file${query({ path, as: sentActing() })}`);
            const undo = kept ? async () => {
                await upload(at(`file${query({ path })}`), new Blob([kept], { type: file.type }), () => {});
                this.load();
            } : null;
            if (undo) did(`Delete ${path}`, undo);
            toast(`Deleted ${path}`, { action: undo ? { text: 'Undo', run: () => import('./undo.js').then(({ performUndo }) => performUndo()) } : undefined });
            this.close();
            this.load();
        } catch (error) { failed('Deleting failed', error); }
    }

    // MARK: Uploads

    send(files) {
        for (const file of files) this.sendOne(file);
    }

    async sendOne(file) {
        const path = `${this.prefix}${file.name}`;
        const abort = new AbortController();
        const bar = h('progress', { max: '1', value: 0, 'aria-label': `Upload of ${file.name}` });
        const text = h('span.dim.number', '0 %');
        const row = h('li.upload', icon('upload'), h('span.file-name', file.name), bar, text, button('', () => abort.abort(), { kind: 'quiet square', icon: 'close', label: `Cancel the upload of ${file.name}` }));
        this.uploads.hidden = false;
        this.uploads.append(row);
        try {
            await upload(at(`file${query({ path, as: sentActing() })}`), file, (done, total) => {
                bar.value = total ? done / total : 1;
                text.textContent = `${Math.round(bar.value * 100)} % of ${size(total)}`;
            }, { signal: abort.signal });
            bar.value = 1;
            toast(`Uploaded ${file.name}`, { seconds: 3 });
            did(`Upload ${path}`, async () => { await ask('DELETE', `file${query({ path })}`); this.load(); });
            await this.load();
        } catch (error) {
            if (error.name === 'AbortError') toast(`The upload of ${file.name} was cancelled`, { seconds: 3 });
            else failed(`The upload of ${file.name} failed`, error);
        } finally {
            row.remove();
            this.uploads.hidden = !this.uploads.children.length;
        }
    }

    escape() { if (this.file) this.close(); }

    keys = [['n', 'Upload', () => this.chooser.click()]];
}

const parts = path => (path ?? '').split('/').filter(Boolean);
const nameOf = path => path.split('/').at(-1);
const hex = bytes => Array.from({ length: Math.ceil(bytes.length / 16) }, (_, line) => {
    const part = [...bytes.slice(line * 16, line * 16 + 16)];
    return `${(line * 16).toString(16).padStart(4, '0')}  ${part.map(byte => byte.toString(16).padStart(2, '0')).join(' ').padEnd(47)}  ${part.map(byte => byte > 31 && byte < 127 ? String.fromCharCode(byte) : '·').join('')}`;
}).join('\n');
async function looksLikeText(blob) {
    const bytes = new Uint8Array(await blob.slice(0, 4096).arrayBuffer());
    return !bytes.some(byte => byte < 9 || byte > 13 && byte < 32);
}
