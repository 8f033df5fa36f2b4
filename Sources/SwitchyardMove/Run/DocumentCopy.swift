import Switchyard
import SwitchyardBytes

/// Copies documents: several ranges at a time, each page by page, reading the next page while one is written.
struct DocumentCopy: Sendable {
    private let copying: Copying
    private let source: any MoveDocuments
    private let target: any MoveDocuments
    private let rewriter: IDRewriter

    init(
        _ copying: Copying, _ source: any MoveDocuments, _ target: any MoveDocuments, _ rewriter: IDRewriter
    ) {
        self.copying = copying
        self.source = source
        self.target = target
        self.rewriter = rewriter
    }

    private struct Part: Sendable {
        let key: MoveJournal.RangeKey
        let range: DocumentRange
        let pageSize: Int
    }

    private var journal: MoveJournal { copying.journal }

    func run() async throws(MoveError) {
        let width = copying.move.options.parallel
        let parts = try await parts(width)
        try await during("Copying documents") {
            try await forEach(parts, atOnce: width) { part in try await copy(part) }
        }
    }

    /// What is left to copy. A collection is divided once, so that each run finds the same ranges.
    private func parts(_ width: Int) async throws(MoveError) -> [Part] {
        var parts: [Part] = []
        for planned in copying.plan.collections {
            let collection = planned.name
            let pageSize = copying.plan.pageSize(of: planned, atMost: copying.move.options.pageSize)
            let ranges: [DocumentRange]
            if let known = journal.ranges(of: collection) {
                ranges = known
            } else {
                ranges = try await during("Dividing “\(collection)” of \(copying.move.from.name)") {
                    try await source.ranges(
                        of: collection, into: min(width, max(1, planned.documents / pageSize)))
                }
                try journal.note(ranges, of: collection)
            }
            for (index, range) in ranges.enumerated() {
                let key = MoveJournal.RangeKey(collection: collection, range: index)
                if !journal.progress(of: key).isDone { parts.append(Part(key: key, range: range, pageSize: pageSize)) }
            }
        }
        return parts
    }

    private func copy(_ part: Part) async throws(MoveError) {
        let done = journal.progress(of: part.key)
        var number = done.pages
        var page = try await read(part, after: done.place)
        while !page.documents.isEmpty {
            let current = page
            async let next = read(part, after: current.place)
            number += 1
            let rejections = try await write(current.documents, of: part, number)
            try copying.note(rejections, of: .documents)
            let count = current.documents.count - rejections.count
            try journal.notePage(number, of: part.key, place: current.place, documents: count)
            copying.meter.change { $0.documents += count }
            do { page = try await next } catch { throw .during("Reading “\(part.key.collection)”", error) }
        }
        try journal.notePage(number, of: part.key, place: nil, documents: 0)
    }

    private func read(_ part: Part, after place: String?) async throws(MoveError) -> DocumentPage {
        try await patiently("Reading “\(part.key.collection)” of \(copying.move.from.name)") {
            try await source.page(of: part.range, after: place, limit: part.pageSize)
        }
    }

    private func write(
        _ documents: [DocumentSnapshot], of part: Part, _ number: Int
    ) async throws(MoveError) -> [Rejection] {
        try await during("Writing “\(part.key.collection)”") { try await copying.throttle.pass(documents.count) }
        return try await patiently("Writing “\(part.key.collection)” to \(copying.move.to.name)") {
            try await target.write(
                documents.map(rewriter.rewritten), of: part.key.collection,
                page: PageName.of(number, range: part.key.range))
        }
    }
}
