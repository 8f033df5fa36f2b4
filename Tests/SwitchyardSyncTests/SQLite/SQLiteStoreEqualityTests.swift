import Foundation
import Switchyard
import SwitchyardTestSupport
import Testing

@testable import SwitchyardSync

/// A store in a file and one in memory are asked the same things and must answer alike, also after a change was undone
/// and after the file was closed and opened again.
@Suite struct SQLiteStoreEqualityTests {
    @Test(arguments: 0..<RunSize.full(6, part: 2)) func `Both kinds of store behave alike`(seed: Int) throws {
        let folder = try TemporaryFolder()
        let memory = MemoryStore()
        var file: SQLiteStore? = try SQLiteStore(folder: folder.url)
        var random = RandomRows(seed: UInt64(seed) &+ 1)
        for round in 0..<60 {
            let script = RandomRows(seed: UInt64(seed * 1000 + round))
            let fails = random.chance(25)
            for store in [memory, file!] as [any SyncStore] {
                do throws(StorageError) {
                    try store.transaction(.applyRemoteEvent) { rows throws(StorageError) in
                        var script = script
                        for _ in 0..<20 { try Self.change(rows, &script) }
                        if fails { throw StorageError(.internal, "undo") }
                    }
                    #expect(!fails)
                } catch {
                    #expect(fails && error.code == .internal, "\(error)")
                }
            }
            if round % 10 == 9 {
                file!.close()
                file = try SQLiteStore(folder: folder.url)
                #expect(file!.setAside == nil)
            }
            let probe = RandomRows(seed: UInt64(seed * 7 + round))
            let expected = try Self.answers(of: memory, probe)
            let actual = try Self.answers(of: file!, probe)
            #expect(expected.count == actual.count)
            let differing = zip(expected, actual).enumerated().filter { $1.0 != $1.1 }.map(\.offset)
            #expect(differing.isEmpty, "answers that differ in round \(round): \(differing)")
        }
        let probe = RandomRows(seed: 3)
        for owner in [random.owner(), random.owner()] {
            memory.wipe(of: owner)
            try file!.wipe(of: owner)
            let isSame = try Self.answers(of: memory, probe) == Self.answers(of: file!, probe)
            #expect(isSame, "after a wipe of \(owner)")
        }
        memory.clear()
        try file!.clear()
        let isSame = try Self.answers(of: memory, probe) == Self.answers(of: file!, probe)
        #expect(isSame)
    }

    private static func change(_ rows: any StoreRows, _ random: inout RandomRows) throws(StorageError) {
        let id = random.number(1...6) * 2
        let owner = random.owner()
        switch random.number(0...17) {
        case 0: try rows.setGlobals(random.globals())
        case 1: try rows.putTarget(random.target(id: id))
        case 2: try rows.removeTarget(id)
        case 3, 4: try rows.addConfirmed(random.paths(), to: id)
        case 5: try rows.removeConfirmed(random.paths(), from: id)
        case 6: try rows.removeAllConfirmed(from: id)
        case 7, 8, 9:
            let document = random.document()
            try rows.putDocument(document, replacing: rows.document(at: document.path))
        case 10: try rows.removeDocument(at: random.path())
        case 11: try rows.setSequenceNumber(Int64(random.number(1...50)), of: Array(random.paths()))
        case 12:
            _ = try rows.heads(at: random.paths().sorted(), numbering: Int64(random.number(1...50)))
        case 13:
            // A batch keeps its documents for as long as it waits.
            let number = random.number(1...20)
            if let batch = try rows.batch(number, of: owner) { try rows.removeBatch(batch, of: owner) }
            try rows.putBatch(random.batch(number: number), of: owner)
        case 14:
            if let batch = try rows.batch(random.number(1...20), of: owner) { try rows.removeBatch(batch, of: owner) }
        case 15:
            switch random.number(0...9) {
            case 0...6:
                try rows.putOverlay(Overlay(write: random.write(), batchNumber: random.number(1...20)), of: owner)
            case 7: try rows.removeOverlay(of: owner, at: random.path())
            default:
                let path = random.path()
                let number = try rows.overlay(of: owner, at: path)?.batchNumber ?? 1
                try rows.removeOverlay(of: owner, at: path, ofBatch: random.chance(50) ? number : number + 1)
            }
        case 16: try rows.putName(random.path(), of: random.path(), for: owner)
        default:
            let id = "refused \(random.number(1...4))"
            if random.chance(70) {
                try rows.putRefused(
                    RefusedBatch(
                        id: id, writes: [random.write()], refusedAt: random.time(), code: .unauthorized, message: "no"),
                    of: owner)
            } else {
                try rows.removeRefused(id, of: owner)
            }
            try rows.putBundle(BundleRecord(id: id, version: 1, createTime: random.time()))
            try rows.putNamedQuery(NamedQueryRecord(name: id, query: random.query(), readTime: random.time()))
        }
    }

    private struct Answer: Equatable {
        let value: any Equatable

        static func == (left: Answer, right: Answer) -> Bool {
            func isSame<Value: Equatable>(_ value: Value) -> Bool { right.value as? Value == value }
            return isSame(left.value)
        }
    }

    /// Everything that a store can be asked.
    private static func answers(of store: any SyncStore, _ probe: RandomRows) throws -> [Answer] {
        try store.transaction(.readDocuments) { rows throws(StorageError) in
            var random = probe
            var result: [Answer] = []
            result.append(Answer(value: try rows.globals))
            result.append(Answer(value: try rows.documentBytes))
            result.append(Answer(value: try rows.targets().sorted { $0.id < $1.id }))
            for id in stride(from: 2, through: 12, by: 2) {
                result.append(Answer(value: try rows.target(random.target(id: id).target)))
                result.append(Answer(value: try rows.confirmedKeys(of: id).sorted()))
            }
            for bound in [0, 10, 25, 60] as [Int64] {
                result.append(Answer(value: try rows.orphans(upTo: bound).map { "\($0.path) \($0.sequenceNumber)" }))
            }
            for _ in 0..<12 {
                let path = random.path()
                result.append(Answer(value: try rows.document(at: path)))
                result.append(Answer(value: [try rows.isConfirmed(path), try rows.hasBatch(touching: path)]))
                let several = random.paths().sorted()
                result.append(Answer(value: try rows.documents(at: several)))
                let (heads, whole) = (try rows.heads(at: several, numbering: nil), try rows.documents(at: several))
                #expect(heads == whole.map { $0?.head })
                result.append(Answer(value: try rows.knownTags(at: random.paths())))
                let source = random.source()
                let version: Timestamp? = random.chance(50) ? random.readTime() : nil
                var found: [CachedDocument] = []
                try rows.forEachDocument(in: source, readAfter: version, screen: nil) { found.append($0) }
                result.append(Answer(value: found.sorted { $0.path < $1.path }))
                let (wanted, unwanted) = (random.pick(["a", "c.d"]), random.time())
                var screened: [StoragePath] = []
                let screen = DocumentPrefilter(fields: [wanted]) { $0.data?[wanted] != nil || $0.version == unwanted }
                try rows.forEachDocument(in: source, readAfter: version, screen: screen) { screened.append($0.path) }
                result.append(Answer(value: screened.sorted()))
                let owner = random.owner()
                let after = random.number(0...20)
                result.append(Answer(value: try rows.batches(of: owner, after: after, limit: random.number(1...5))))
                result.append(Answer(value: try rows.batches(of: owner, touching: random.paths())))
                result.append(
                    Answer(
                        value: try rows.lastBatches(
                            of: owner, touching: path, below: after, limit: random.number(1...5))))
                result.append(Answer(value: try rows.batch(after, of: owner)))
                result.append(Answer(value: try rows.highestBatchNumber(of: owner)))
                result.append(Answer(value: try rows.name(of: path, for: owner)))
                result.append(Answer(value: try rows.overlay(of: owner, at: path)))
                let number: Int? = random.chance(50) ? after : nil
                result.append(
                    Answer(
                        value: try rows.overlays(of: owner, in: source, afterBatch: number).sorted { $0.path < $1.path }
                    ))
                result.append(Answer(value: try rows.refusedBatches(of: owner)))
                result.append(Answer(value: try rows.bundle("refused \(random.number(1...4))")))
                result.append(Answer(value: try rows.namedQuery("refused \(random.number(1...4))")))
            }
            return result
        }
    }
}
