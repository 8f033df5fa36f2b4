import Testing

@testable import Switchyard

/// A write that stands for two leaves the document as both would have.
@Suite struct WriteMergingTests {
    private static let path: StoragePath = "notes/a"

    private static let documents: [DocumentData?] = [
        nil, [:], ["a": 1, "b": 2], ["a": .map(["x": 1, "y": 2]), "c": "text"],
    ]

    private static func writes() throws -> [DocumentWrite] {
        [
            try .set(path, ["a": 5]), try .set(path, [:]), try .set(path, ["a": ["x": 7], "d": 1]),
            try .create(path, ["a": 6]), try .merge(path, ["a": ["x": 8]]), try .merge(path, ["b": 9, "c": "new"]),
            try .update(path, ["a.x": 10]), try .update(path, ["a": 11]), try .update(path, ["a": .delete, "b": 12]),
            try .update(path, ["a.x": .delete]), try .update(path, ["a.x": 1, "a.z": 2, "d": 3]), .delete(path),
            try .set(path, ["a": .increment(1)]), try .update(path, ["b": .increment(1)]),
            try DocumentWrite.set(path, ["a": 13]).requiring(.updateTime(Timestamp(microseconds: 5))),
        ]
    }

    /// What the server has after a write; a rejected one leaves the document as it is.
    private func after(_ write: DocumentWrite, _ data: DocumentData?) -> DocumentData? {
        let document: DocumentSnapshot =
            data.map { .existing(Self.path, $0, updateTime: Timestamp(microseconds: 1)) } ?? .missing(Self.path)
        guard (try? write.check(against: document)) != nil else { return data }
        return write.applied(to: data, serverTime: Timestamp(microseconds: 2)).data
    }

    @Test func `Whatever the document was, one write leaves what two leave`() throws {
        var merged = 0
        for first in try Self.writes() {
            for second in try Self.writes() {
                guard let one = second.merged(over: first) else { continue }
                merged += 1
                for document in Self.documents {
                    let both = after(second, after(first, document))
                    #expect(
                        after(one, document) == both, "\(first), then \(second), on \(String(describing: document))")
                }
                if case .patch(let data, let mask) = one.operation {
                    #expect(data.names.allSatisfy { name in mask.contains { $0.components[0] == name } })
                }
            }
        }
        // All sets over sets and patches, patches over sets, and the patches that fit each other.
        #expect(merged > 60)
    }

    @Test func `Transforms, deletions, creations that would decide and other documents are not merged`() throws {
        let set = try DocumentWrite.set(Self.path, ["a": 1])
        let update = try DocumentWrite.update(Self.path, ["a": 1])
        #expect(try update.merged(over: .set(Self.path, ["a": .increment(1)])) == nil)
        #expect(try DocumentWrite.update(Self.path, ["a": .serverTime]).merged(over: set) == nil)
        #expect(set.merged(over: .delete(Self.path)) == nil && DocumentWrite.delete(Self.path).merged(over: set) == nil)
        #expect(try update.merged(over: .create(Self.path, ["a": 1])) == nil)
        #expect(try DocumentWrite.merge(Self.path, ["b": 1]).merged(over: update) == nil)
        #expect(try update.merged(over: .set("notes/b", ["a": 1])) == nil)
        #expect(try update.merged(over: .merge(Self.path, ["b": 1]))?.precondition == DocumentWrite.Precondition.none)
    }

    @Test func `Batches are merged only if both allow it and have one write`() throws {
        let writes = [try DocumentWrite.set(Self.path, ["a": 1])]
        var (earlier, later) = (WriteBatch(writes), WriteBatch(writes))
        #expect(later.merged(over: earlier) == nil)
        later.mergesWaiting = true
        #expect(later.merged(over: earlier) == nil)
        earlier.mergesWaiting = true
        #expect(later.merged(over: earlier)?.mergesWaiting == true)
        later.delete("notes/b")
        #expect(later.merged(over: earlier) == nil)
    }
}
