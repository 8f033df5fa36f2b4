// A table of any length: only the rows in sight exist. One tab stop; the arrows move within it.

import { h } from './dom.js';

// Browsers place nothing reliably beyond some ten million pixels.
const tallest = 8e6;
let lastID = 0;

export class Grid {
    /// `columns`: `{id, title, width, isNumber, sort}`; `draw(cells, index, row)` fills the cells of a row, once for each time it
    /// comes into sight or changes; `onrange(first, last)` learns what is in sight.
    constructor({ label, columns, draw, onopen, onactive, onmark, onrange, onsort, onkey, empty, isMarkable = false }) {
        Object.assign(this, { columns, draw, onopen, onactive, onmark, onrange, onsort, onkey, isMarkable });
        this.id = `grid${++lastID}`;
        this.total = 0;
        this.active = -1;
        this.marked = new Set();
        this.rows = new Map();
        this.pool = [];
        this.head = h('div.grid-head', { role: 'row' });
        this.body = h('div.grid-body', { role: 'rowgroup' });
        this.blank = h('div.grid-blank', { hidden: true }, empty ?? null);
        this.inner = h('div.grid-inner', h('div', { role: 'rowgroup' }, this.head), this.body);
        this.element = h('div.grid', {
            role: 'grid', tabindex: '0', 'aria-label': label, 'aria-rowcount': '0', 'aria-multiselectable': isMarkable || null,
            onkeydown: event => this.keyed(event),
            onscroll: () => this.scrolled(),
        }, this.inner, this.blank);
        this.body.addEventListener('click', event => this.clicked(event));
        this.body.addEventListener('dblclick', event => this.clicked(event, true));
        this.setColumns(columns);
        this.observer = new ResizeObserver(() => this.measure());
        this.observer.observe(this.element);
    }

    setColumns(columns) {
        this.columns = columns;
        this.element.style.setProperty('--columns', columns.map(column => column.width).join(' '));
        // No narrower than its columns; beyond that it scrolls.
        const least = columns.reduce((sum, column) => sum + parseFloat(column.width.match(/([\d.]+)px/)?.[1] ?? 60), 0);
        this.inner.style.minWidth = `${least + 12 * (columns.length + 1)}px`;
        this.element.setAttribute('aria-colcount', String(columns.length));
        this.head.replaceChildren(...columns.map((column, index) => {
            const sort = column.sort ?? 'none';
            const title = column.canSort
                ? h('button.sort', { type: 'button', tabindex: '-1', onclick: () => this.onsort?.(column) }, h('span', column.title),
                    sort !== 'none' ? h('span.sort-mark', { 'aria-hidden': 'true' }, sort === 'ascending' ? '↑' : '↓') : null)
                : h('span', column.title);
            return h('div.cell', {
                role: 'columnheader', 'aria-colindex': String(index + 1), class: column.isNumber ? 'number' : '',
                'aria-sort': column.canSort ? sort : null,
            }, title);
        }));
        this.body.replaceChildren();
        this.rows.clear();
        this.pool = [];
        this.draw && this.measure();
    }

    measure() {
        const text = getComputedStyle(this.element).getPropertyValue('--row');
        this.rowHeight = parseFloat(text) || 28;
        this.height = this.element.clientHeight;
        this.headHeight = this.head.offsetHeight;
        this.layout();
    }

    setTotal(total) {
        const isSame = total === this.total;
        this.total = total;
        this.element.setAttribute('aria-rowcount', String(total + 1));
        this.blank.hidden = total > 0;
        if (this.active >= total) this.active = total - 1;
        if (isSame) return this.refresh();
        this.layout(true);
    }

    get whole() { return this.total * (this.rowHeight ?? 28); }
    get shown() { return Math.min(this.whole, tallest); }
    get page() { return Math.max(1, Math.floor((this.height - this.headHeight) / this.rowHeight) - 1); }

    /// Where the list stands, in pixels of its whole length.
    get offset() {
        const top = this.element.scrollTop;
        const free = this.shown - (this.height - this.headHeight);
        if (this.whole <= tallest || free <= 0) return top;
        return top / free * (this.whole - (this.height - this.headHeight));
    }

    scrolled() {
        if (this.isWaiting) return;
        this.isWaiting = true;
        requestAnimationFrame(() => { this.isWaiting = false; this.layout(); });
    }

    layout(isFresh = false) {
        if (!this.rowHeight) return;
        this.body.style.height = `${this.shown}px`;
        const offset = this.offset;
        const shift = this.element.scrollTop - offset;
        const first = Math.max(0, Math.floor(offset / this.rowHeight) - 4);
        const last = Math.min(this.total - 1, Math.ceil((offset + this.height) / this.rowHeight) + 4);
        for (const [index, row] of this.rows) {
            if (index < first || index > last) {
                this.rows.delete(index);
                row.hidden = true;
                row.removeAttribute('id');
                this.pool.push(row);
            }
        }
        for (let index = first; index <= last; index += 1) {
            let row = this.rows.get(index);
            const isNew = !row;
            if (isNew) {
                row = this.pool.pop() ?? this.make();
                row.hidden = false;
                this.rows.set(index, row);
            }
            const place = index * this.rowHeight + shift;
            if (row.place !== place) {
                row.place = place;
                row.style.transform = `translateY(${place}px)`;
            }
            if (isNew || isFresh) this.fill(row, index);
        }
        if (last >= first && (first !== this.first || last !== this.last || isFresh)) {
            this.first = first;
            this.last = last;
            this.onrange?.(Math.max(0, Math.floor(offset / this.rowHeight)), last);
        }
    }

    make() {
        const row = h('div.row', { role: 'row' }, this.columns.map((column, index) =>
            h('div.cell', { role: 'gridcell', 'aria-colindex': String(index + 1), class: column.isNumber ? 'number' : '' })));
        this.body.append(row);
        return row;
    }

    fill(row, index) {
        row.index = index;
        row.id = `${this.id}-${index}`;
        row.className = 'row';
        row.setAttribute('aria-rowindex', String(index + 2));
        this.draw(row.children, index, row);
        this.mark(row, index);
    }

    mark(row, index) {
        const isActive = index === this.active;
        row.classList.toggle('active', isActive);
        const isMarked = this.isMarkable ? this.marked.has(row.dataset.key) : isActive;
        row.classList.toggle('marked', this.isMarkable && isMarked);
        row.setAttribute('aria-selected', String(isMarked || isActive));
        if (isActive) this.element.setAttribute('aria-activedescendant', row.id);
    }

    /// Draws all rows in sight again.
    refresh() {
        for (const [index, row] of this.rows) this.fill(row, index);
        if (this.total === 0) this.layout();
    }

    refreshMarks() {
        for (const [index, row] of this.rows) this.mark(row, index);
    }

    // MARK: Moving

    setActive(index, { isQuiet, isScrolling = true } = {}) {
        if (!this.total) return;
        this.active = Math.max(0, Math.min(this.total - 1, index));
        if (isScrolling) this.reveal(this.active);
        this.refreshMarks();
        if (!isQuiet) this.onactive?.(this.active);
    }

    clearActive() {
        this.active = -1;
        this.element.removeAttribute('aria-activedescendant');
        this.refreshMarks();
    }

    reveal(index) {
        const room = this.height - this.headHeight;
        const top = index * this.rowHeight;
        let offset = this.offset;
        if (top < offset) offset = top;
        else if (top + this.rowHeight > offset + room) offset = top + this.rowHeight - room;
        else return this.layout();
        const free = this.shown - room;
        this.element.scrollTop = this.whole <= tallest ? offset : offset / (this.whole - room) * free;
        this.layout();
    }

    keyed(event) {
        if (event.target !== this.element || event.ctrlKey && event.key !== 'Home' && event.key !== 'End' || event.metaKey || event.altKey) return;
        const step = { ArrowDown: 1, ArrowUp: -1, PageDown: this.page, PageUp: -this.page, j: 1, k: -1 }[event.key];
        if (step) this.setActive(this.active + step);
        else if (event.key === 'Home') this.setActive(0);
        else if (event.key === 'End') this.setActive(this.total - 1);
        else if (event.key === 'Enter' && this.active >= 0) this.onopen?.(this.active);
        else if (event.key === ' ' && this.active >= 0 && this.isMarkable) this.toggle(this.active);
        else {
            this.onkey?.(event, this.active);
            return;
        }
        event.preventDefault();
        event.stopPropagation();
    }

    toggle(index) {
        const key = this.rows.get(index)?.dataset.key;
        if (!key) return;
        if (!this.marked.delete(key)) this.marked.add(key);
        this.refreshMarks();
        this.onmark?.(this.marked);
    }

    clicked(event, isDouble = false) {
        const row = event.target.closest('.row');
        if (!row || event.target.closest('a, button')) return;
        if (this.isMarkable && (event.ctrlKey || event.metaKey || event.target.closest('.tick'))) {
            if (!isDouble) this.toggle(row.index);
            return;
        }
        if (isDouble) return;
        this.setActive(row.index, { isScrolling: false, isQuiet: true });
        this.onopen?.(row.index);
    }

    close() { this.observer.disconnect(); }
}

/// Fills a cell without touching what is the same.
export function put(cell, text, { className = '', title } = {}) {
    const shown = text ?? '';
    if (cell.shown !== shown || cell.firstElementChild) {
        cell.textContent = shown;
        cell.shown = shown;
    }
    const wanted = `cell ${className}`;
    if (cell.className !== wanted) cell.className = wanted;
    if (title) cell.title = title;
    else if (cell.title) cell.removeAttribute('title');
}

export function putNode(cell, ...nodes) {
    cell.replaceChildren(...nodes);
    cell.shown = null;
}
