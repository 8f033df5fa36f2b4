import Switchyard
import SwitchyardBytes
import SwitchyardSync
import Testing

@testable import SwitchyardSupabase

@Suite struct RowTargetsTests {
    private static let mapping = SupabaseTableMapping(collection: "todos", table: "todos", columns: ["n"])

    private func place() throws -> TableMappings.Place {
        try #require(try TableMappings([Self.mapping], usesDocuments: false).place(of: CollectionPath("todos")))
    }

    private static let request = TargetRequest(id: 2, target: .query(Query(in: "todos")))

    private func words(_ events: [WatchEvent]) -> [String] {
        events.map { event in
            switch event {
            case .added: "added"
            case .removed: "removed"
            case .reset: "reset"
            case .current: "current"
            case .changed(let document, _, let removed, let tag):
                "\(document.id) \(tag?.rawValue ?? "no tag")\(removed.isEmpty ? "" : " left")"
            case .deleted(let path, _, _): "\(path.id) gone"
            case .results(_, let paths): paths.map(\.id).joined(separator: ",")
            default: "other"
            }
        }
    }

    private func found(
        _ results: [(String, String)], read: [String]? = nil, at version: Int64 = 10
    ) -> RowTargets.Found {
        var found = RowTargets.Found(version: Timestamp(microseconds: version))
        for (id, tag) in results {
            let path = StoragePath(unchecked: "todos/\(id)")
            found.results.append((path, tag))
            guard read?.contains(id) ?? true else { continue }
            found.documents[path] = .existing(path, [:], updateTime: Timestamp(microseconds: version))
        }
        return found
    }

    /// A client that waits for an answer that never comes takes no notice of what comes instead.
    @Test func `Each request is answered at once, also one that is withdrawn before the first check`() throws {
        var rows = RowTargets(reader: "ann")
        var documents = WatchedChanges(reader: "ann")
        for _ in 0..<2 {
            #expect(words(rows.add(Self.request, in: try place())) == ["added"])
            #expect(words(documents.take(.add(Self.request))) == ["added"])
            #expect(words(documents.take(.remove(2))) == ["removed"])
            rows.remove(2)
        }
    }

    @Test func `Only what differs is reported, in the service's order`() throws {
        var rows = RowTargets(reader: "ann")
        _ = rows.add(Self.request, in: try place())
        func check(_ found: RowTargets.Found) -> [String] { words(rows.take(found, for: rows.targets[2]!)) }
        #expect(check(found([("b", "1"), ("a", "2")])) == ["reset", "b 1", "a 2", "b,a", "current"])
        #expect(check(found([("b", "1"), ("a", "2")])) == [])
        #expect(check(found([("a", "2"), ("b", "1")])) == ["a,b"])
        #expect(check(found([("a", "3"), ("b", "1")])) == ["a 3", "a,b"])
        #expect(check(found([("b", "1")])) == ["a gone", "b"])
    }

    @Test func `A row that has left the query but is there is reported as such`() throws {
        var rows = RowTargets(reader: "ann")
        _ = rows.add(Self.request, in: try place())
        _ = rows.take(found([("a", "1"), ("b", "2")]), for: rows.targets[2]!)
        var left = found([("b", "2")])
        left.documents["todos/a"] = .existing("todos/a", [:], updateTime: Timestamp(microseconds: 11))
        #expect(words(rows.take(left, for: rows.targets[2]!)) == ["a no tag left", "b"])
    }

    @Test func `After a write of one's own the results are reported again, by a check that began later`() throws {
        var rows = RowTargets(reader: "ann")
        _ = rows.add(Self.request, in: try place())
        _ = rows.take(found([("a", "1")]), for: rows.targets[2]!)
        rows.forget(["todos/c"], writtenBy: Timestamp(microseconds: 20))
        #expect(words(rows.take(found([("a", "1")], at: 15), for: rows.targets[2]!)) == [])
        #expect(words(rows.take(found([("a", "1")], at: 25), for: rows.targets[2]!)) == ["a"])
        #expect(words(rows.take(found([("a", "1")], at: 26), for: rows.targets[2]!)) == [])
        rows.forget(["todos/a"], writtenBy: Timestamp(microseconds: 30))
        #expect(words(rows.take(found([("a", "1")], at: 35), for: rows.targets[2]!)) == ["a 1", "a"])
    }

    @Test func `What was not read is reported by the next check, and a check of a target that was replaced is nothing`()
        throws
    {
        var rows = RowTargets(reader: "ann")
        _ = rows.add(Self.request, in: try place())
        let first = rows.targets[2]!
        #expect(
            words(rows.take(found([("a", "1"), ("b", "2")], read: ["a"]), for: first)) == [
                "reset", "a 1", "a", "current",
            ])
        #expect(words(rows.take(found([("a", "1"), ("b", "2")]), for: rows.targets[2]!)) == ["b 2", "a,b"])
        _ = rows.add(Self.request, in: try place())
        #expect(rows.take(found([("a", "1")]), for: first).isEmpty)
    }

    @Test func `What this process has read is not read again when it is watched again`() throws {
        var rows = RowTargets(reader: "ann")
        let known: [StoragePath: DocumentTag] = [
            "todos/a": DocumentTag(rawValue: "1"), "todos/b": DocumentTag(rawValue: "2"),
        ]
        _ = rows.add(Self.request, in: try place(), known: known)
        #expect(rows.targets[2]?.known == ["todos/a": "1", "todos/b": "2"])
        let digest = found([("c", "5"), ("a", "1")], read: ["c"])
        #expect(words(rows.take(digest, for: rows.targets[2]!)) == ["c 5", "b gone", "c,a", "current"])
    }

    @Test func `A change concerns the targets of its table only, and each is checked once`() throws {
        let others = SupabaseTableMapping(collection: "lists", table: "lists", columns: ["n"])
        let tables = try TableMappings([Self.mapping, others], usesDocuments: false)
        let places = try ["todos", "lists"].map { try #require(try tables.place(of: CollectionPath($0))) }
        var rows = RowTargets(reader: "ann")
        for (id, place) in places.enumerated() {
            _ = rows.add(
                TargetRequest(id: id, target: .query(Query(in: CollectionPath(place.table.mapping.collection)))),
                in: place)
        }
        func due() -> [Int] { rows.takeDue().map(\.id) }
        #expect(due() == [0, 1])
        #expect(due() == [])
        rows.markDue(on: places[1].table.topic)
        #expect(rows.areDue)
        #expect(due() == [1])
        rows.forget(["todos/a"], writtenBy: Timestamp(microseconds: 5))
        #expect(due() == [0])
        rows.markDue()
        rows.remove(0)
        #expect(due() == [1])
        #expect(!rows.areDue)
    }

    @Test func `A large target is compared by versions, and read in full after twenty such checks`() throws {
        var rows = RowTargets(reader: "ann")
        _ = rows.add(Self.request, in: try place())
        let results = (0..<101).map { ("n\($0)", "1") }
        _ = rows.take(found(Array(results.dropLast())), for: rows.targets[2]!)
        #expect(rows.targets[2]?.suitsDigest == false)
        _ = rows.take(found(results), for: rows.targets[2]!)
        var digest = found(results)
        digest.isDigest = true
        for count in 1...20 {
            #expect(rows.targets[2]?.suitsDigest == true)
            _ = rows.take(digest, for: rows.targets[2]!)
            #expect(rows.targets[2]?.digests == count)
        }
        #expect(rows.targets[2]?.suitsDigest == false)
        _ = rows.take(found(results), for: rows.targets[2]!)
        #expect(rows.targets[2]?.digests == 0)
        #expect(rows.targets[2]?.suitsDigest == true)
    }
}
