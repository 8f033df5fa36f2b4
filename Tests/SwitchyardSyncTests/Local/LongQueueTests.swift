import Switchyard
import SwitchyardTestSupport
import Testing

@testable import SwitchyardSync

/// Many batches that write to one document: what is left of them is worked out with each answer.
@Suite struct LongQueueTests {
    private let path: StoragePath = "counters/a"

    private func time(_ seconds: Int) -> Timestamp { Timestamp(microseconds: Int64(seconds) * 1_000_000) }

    private func store(_ rows: any SyncStore = MemoryStore()) throws -> LocalStore {
        let local = LocalStore(store: rows, policy: .standard, owner: QueueOwner("alice"))
        try local.open()
        return local
    }

    private func tell(_ local: LocalStore, _ data: DocumentData?, at version: Timestamp) throws {
        let document = data.map { CachedDocument.found(path, $0, version: version) } ?? .missing(path, version: version)
        _ = try local.apply(RemoteEvent(version: version, documents: [document]))
    }

    private func increment(_ field: FieldPath, by amount: Int64 = 1) -> DocumentWrite {
        DocumentWrite(
            path: path, operation: .patch(DocumentData(), mask: []),
            transforms: [FieldTransform(field, .increment(.integer(amount)))])
    }

    @Test(arguments: [false, true])
    func `Of a long queue of increments the last one tells all that is left`(isOnDisk: Bool) throws {
        let folder = try TemporaryFolder()
        let local = try store(isOnDisk ? SQLiteStore(folder: folder.url) : MemoryStore())
        let _ = try tell(local, ["n": 5], at: time(1))
        let batches = try (1...40).map { number in
            try local.write([increment("n")], as: "\(number)", at: time(number)).0
        }
        for (index, batch) in batches.enumerated() {
            let result = CommitResult(commitTime: time(100 + index), transformResults: [[.integer(Int64(6 + index))]])
            let shown = try local.acknowledge(batch, result, isDurable: true)
            #expect(shown[path]?["n"] == 45)
            let deciding = try local.perform(.readQueue) { transaction throws(StorageError) in
                try transaction.decidingBatches(at: path)
            }
            #expect(deciding?.map(\.number) ?? [] == (index < 39 ? [40] : []))
        }
        let _ = folder
    }

    @Test func `A field that only the first of them touched is the server's again once that is answered`() throws {
        let local = try store()
        try tell(local, ["n": 0, "name": "a"], at: time(1))
        let renaming = DocumentWrite(
            path: path, operation: .patch(["name": "b"], mask: ["name"]),
            transforms: [FieldTransform("n", .increment(.integer(1)))])
        let first = try local.write([renaming], as: "first", at: time(2)).0
        for number in 2...9 { _ = try local.write([increment("n")], as: "\(number)", at: time(number)) }
        _ = try local.acknowledge(
            first, CommitResult(commitTime: time(20), transformResults: [[.integer(1)]]), isDurable: true)
        try tell(local, ["n": 1, "name": "c"], at: time(21))
        #expect(try local.document(at: path)?["name"] == "c")
        #expect(try local.document(at: path)?["n"] == 9)
    }

    @Test func `Whatever is queued, the answer to a batch leaves what all the others make of the document`() throws {
        for seed in 0..<UInt64(RandomRun.rounds(300)) {
            var random = SeededGenerator(seed: seed)
            let local = try store()
            if Bool.random(using: &random) { try tell(local, ["n": 1, "list": .array([.integer(0)])], at: time(1)) }
            var waiting: [QueuedBatch] = []
            for step in 2..<40 {
                let roll = Int.random(in: 0..<10, using: &random)
                switch roll {
                case 0..<6:
                    let writes = (0...Int.random(in: 0...1, using: &random)).map { _ in write(using: &random) }
                    waiting.append(try local.write(writes, as: "\(step)", at: time(step)).0)
                case 6:
                    let data: DocumentData = [
                        "n": .integer(Int64(step)), "list": .array([.integer(Int64(step))]),
                        "map": .map(["x": .integer(Int64(step))]),
                    ]
                    try tell(local, Int.random(in: 0..<4, using: &random) == 0 ? nil : data, at: time(step))
                default:
                    guard !waiting.isEmpty else { continue }
                    let batch = waiting.removeFirst()
                    let shown = try local.acknowledge(batch, CommitResult(commitTime: time(step)), isDurable: true)
                    guard batch.writes.contains(where: { !$0.transforms.isEmpty }) else { continue }
                    let expected = try ofAll(local)
                    #expect(shown[path]?.data == expected.snapshot.data, "seed \(seed), step \(step)")
                    #expect(shown[path]?.exists == expected.snapshot.exists, "seed \(seed), step \(step)")
                }
            }
        }
    }

    /// What all that is queued makes of the cached document.
    private func ofAll(_ local: LocalStore) throws -> LocalDocument {
        try local.perform(.readQueue) { transaction throws(StorageError) in
            var entries = [
                path: WrittenDocument(LocalDocument(path, try transaction.rows.document(at: path)))
            ]
            for batch in try transaction.rows.batches(of: transaction.owner, touching: [path]) {
                batch.apply(to: &entries)
            }
            return entries[path]!.document
        }
    }

    private func write(using random: inout SeededGenerator) -> DocumentWrite {
        let preconditions: [DocumentWrite.Precondition] = [
            .none, .none, .none, .exists(true), .exists(false), .updateTime(time(1)),
        ]
        let precondition = preconditions.randomElement(using: &random)!
        let number = DocumentValue.integer(.random(in: 0..<100, using: &random))
        let fields: [FieldPath] = ["n", "map", "map.x", "map.y", "list"]
        let field = fields.randomElement(using: &random)!
        switch Int.random(in: 0..<20, using: &random) {
        case 0: return DocumentWrite(path: path, operation: .delete, precondition: precondition)
        case 1: return DocumentWrite(path: path, operation: .set(["n": number]), precondition: precondition)
        case 2..<6:
            var data = DocumentData()
            data[field] = number
            return DocumentWrite(path: path, operation: .patch(data, mask: [field]), precondition: precondition)
        case 6: return DocumentWrite(path: path, operation: .patch([:], mask: [field]), precondition: precondition)
        default:
            let operations: [FieldTransform.Operation] = [
                .increment(.integer(1)), .increment(.integer(7)), .serverTime, .maximum(.integer(50)),
                .minimum(.integer(50)), .arrayUnion([number]), .arrayRemove([number]),
            ]
            let transform = FieldTransform(field, operations.randomElement(using: &random)!)
            return DocumentWrite(
                path: path, operation: .patch([:], mask: []), transforms: [transform], precondition: precondition)
        }
    }
}
