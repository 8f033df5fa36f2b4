import Switchyard
import SwitchyardBytes

/// Compares a collection on both ends: first sums of hashes in buckets, then the documents of the buckets that differ.
struct DocumentComparison: Sendable {
    let source: any MoveDocuments
    let target: any MoveDocuments
    let rewriter: IDRewriter
    let parallel: Int
    private static let buckets = 4096
    private static let pageSize = 500

    func compare(_ collection: String, _ repairs: Bool, _ verification: inout MoveVerification) async throws {
        async let old = summary(of: collection, source, isSource: true)
        async let new = summary(of: collection, target, isSource: false)
        let (left, right) = try await (old, new)
        verification.collections.append(
            MoveVerification.Collection(
                name: collection, sourceCount: left.count, targetCount: right.count, sourceHash: left.total.text,
                targetHash: right.total.text))
        let suspects = Set((0..<Self.buckets).filter { left.buckets[$0] != right.buckets[$0] })
        guard !suspects.isEmpty else { return }
        verification.differences += try await differences(in: collection, suspects, repairs)
    }

    private struct Summary: Sendable {
        var count = 0
        var total = DocumentHash()
        var buckets = [DocumentHash](repeating: DocumentHash(), count: DocumentComparison.buckets)

        mutating func add(_ document: DocumentSnapshot) {
            let digest = CanonicalBytes.digest(document)
            count += 1
            total.add(digest)
            buckets[DocumentComparison.bucket(of: document.path)].add(digest)
        }

        mutating func add(_ other: Summary) {
            count += other.count
            total.add(other.total)
            for index in buckets.indices { buckets[index].add(other.buckets[index]) }
        }
    }

    /// Reads several ranges at a time: the sums do not depend on the order.
    private func summary(
        of collection: String, _ documents: any MoveDocuments, isSource: Bool
    ) async throws -> Summary {
        let ranges = try await documents.ranges(of: collection, into: parallel)
        return try await withThrowingTaskGroup(of: Summary.self) { group in
            for range in ranges {
                group.addTask {
                    var summary = Summary()
                    try await forEach(in: range, documents, isSource) { document, _ in summary.add(document) }
                    return summary
                }
            }
            var whole = Summary()
            for try await part in group { whole.add(part) }
            return whole
        }
    }

    private static func bucket(of path: StoragePath) -> Int {
        Int(PathDigest(path.rawValue).low % UInt64(buckets))
    }

    /// Calls `body` with each document as the target would hold it, and its path on the source.
    private func forEach(
        in range: DocumentRange, _ documents: any MoveDocuments, _ isSource: Bool,
        _ body: (DocumentSnapshot, StoragePath) -> Void
    ) async throws {
        var place: String?
        while true {
            try Task.checkCancellation()
            let page = try await patiently("Reading “\(range.collection)”") {
                try await documents.page(of: range, after: place, limit: Self.pageSize)
            }
            if page.documents.isEmpty { return }
            for document in page.documents { body(isSource ? asStored(document) : document, document.path) }
            place = page.place
        }
    }

    private func asStored(_ document: DocumentSnapshot) -> DocumentSnapshot {
        let document = rewriter.rewritten(document)
        return .existing(
            document.path, target.limits.stored(document.data ?? DocumentData()), createTime: document.createTime,
            updateTime: document.updateTime)
    }

    // MARK: Differences

    /// Keeps a path and a hash for each document in the buckets that differ.
    private func differences(
        in collection: String, _ suspects: Set<Int>, _ repairs: Bool
    ) async throws -> [MoveVerification.Difference] {
        var left: [StoragePath: (digest: PathDigest, origin: StoragePath)] = [:]
        try await forEach(in: DocumentRange(collection: collection), source, true) { document, origin in
            guard suspects.contains(Self.bucket(of: document.path)) else { return }
            left[document.path] = (CanonicalBytes.digest(document), origin)
        }
        var (extra, changed) = ([StoragePath](), [StoragePath]())
        try await forEach(in: DocumentRange(collection: collection), target, false) { document, _ in
            guard suspects.contains(Self.bucket(of: document.path)) else { return }
            guard let found = left.removeValue(forKey: document.path) else { return extra.append(document.path) }
            guard found.digest != CanonicalBytes.digest(document) else { return }
            left[document.path] = found
            changed.append(document.path)
        }
        var differences = extra.map {
            MoveVerification.Difference(part: .documents, kind: .extra, subject: $0.description)
        }
        let onBoth = Set(changed)
        let wanted = left.sorted { $0.key < $1.key }
        for start in stride(from: 0, to: wanted.count, by: Self.pageSize) {
            let part = wanted[start...].prefix(Self.pageSize)
            let old = try await source.documents(part.map(\.value.origin)).filter(\.exists).map(asStored)
            let new = try await target.documents(old.map(\.path))
            var found = zip(old, new).map { Self.difference($0, $1, isOnBoth: onBoth.contains($0.path)) }
            if repairs { try await repair(old, of: collection, start, &found) }
            differences += found
        }
        return differences.sorted { $0.subject < $1.subject }
    }

    private static func difference(
        _ old: DocumentSnapshot, _ new: DocumentSnapshot, isOnBoth: Bool
    ) -> MoveVerification.Difference {
        var difference = MoveVerification.Difference(
            part: .documents, kind: isOnBoth ? .changed : .missing, subject: old.path.description)
        if let left = old.data, let right = new.data {
            difference.fields = Set(left.names + right.names).filter { left[$0] != right[$0] }.sorted()
        }
        return difference
    }

    private func repair(
        _ documents: [DocumentSnapshot], of collection: String, _ number: Int,
        _ differences: inout [MoveVerification.Difference]
    ) async throws {
        let rejected = Set(
            try await target.write(documents, of: collection, page: "repaired-\(number)").map(\.subject))
        for index in differences.indices {
            differences[index].isRepaired = !rejected.contains(differences[index].subject)
        }
    }
}
