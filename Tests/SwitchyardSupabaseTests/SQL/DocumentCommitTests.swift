import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardSync
import SwitchyardTestSupport
import Testing

@testable import SwitchyardSupabase

/// The commit function on a real PostgreSQL: each write means what it means to every other provider.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct DocumentCommitTests {
    private func withDatabase(_ body: (PostgresServer) async throws -> Void) async throws {
        let server = try await PostgresServer()
        defer { server.stop() }
        try await server.query(DocumentSchema.sql)
        try await server.query(DocumentSchema.sql)
        try await body(server)
    }

    private func commit(
        _ writes: [DocumentWrite], as batch: String = UUID().uuidString, on server: PostgresServer
    ) async throws -> CommitResult {
        let text = JSON.array(writes.map { .object($0.postgres) }).text()
        let answer = try await server.query(
            "select public.switchyard_commit(:'batch', :'writes');", ["batch": batch, "writes": text])
        return try CommitResult(postgres: JSON(parsing: answer))
    }

    private func document(_ path: StoragePath, on server: PostgresServer) async throws -> DocumentData? {
        let text = try await server.query(
            "select data from switchyard.documents where path = :'path';", ["path": path.rawValue])
        guard !text.isEmpty, let object = try JSON(parsing: text).object else { return nil }
        return DocumentData(postgres: object)
    }

    @Test func `Values of every kind come back as they were`() async throws {
        try await withDatabase { server in
            let data: DocumentData = [
                "null": .null, "bool": true, "int": .integer(.max), "low": .integer(.min), "double": 1.5, "whole": 5.0,
                "huge": 1e300, "tiny": .double(.leastNonzeroMagnitude), "nan": .double(.nan),
                "infinity": .double(-.infinity),
                "minusZero": .double(-0.0), "time": .timestamp(Timestamp(microseconds: -1_234_567)),
                "text": "ü 🎭 '; drop table", "bytes": .bytes(Data([0, 255])),
                "reference": StoragePath("a/b").documentValue,
                "foreign": .reference(DocumentReference("a/b", origin: "projects/p/databases/d")),
                "place": .geoPoint(try GeoPoint(latitude: 1.5, longitude: -2)),
                "array": [1, "a", 2.5], "vector": .vector([1, 2.5]), "map": ["a": ["b": 1]],
                "mistakable": ["$ts": "no"],
                "empty": .map([:]), "none": .array([]),
            ]
            _ = try await commit([try .set("kinds/all", WriteFields(data))], on: server)
            let back = try await document("kinds/all", on: server)
            for (name, value) in data { #expect(back?[name] == value, "\(name)") }
            #expect(back?.count == data.count)
        }
    }

    @Test func `Transforms leave what they leave everywhere`() async throws {
        try await withDatabase { server in
            let before: DocumentData = [
                "n": 5, "d": 1.5, "max": .integer(.max), "list": [1, 2.0, "a"], "text": "x", "nan": .double(.nan),
            ]
            let writes: [DocumentWrite] = [
                try .set("t/a", WriteFields(before)),
                try .update(
                    "t/a",
                    [
                        "n": .increment(2), "d": .increment(1), "max": .increment(1), "new": .increment(1.5),
                        "list": .arrayUnion(2, "b"), "text": .maximum(3), "nan": .minimum(1), "n2": .maximum(4),
                        "at": .serverTime,
                    ]),
                try .update("t/a", ["list": .arrayRemove(1.0, "z"), "n": .maximum(7.0)]),
            ]
            let result = try await commit(writes, on: server)
            var expected: DocumentData? = nil
            for write in writes { expected = write.applied(to: expected, serverTime: result.commitTime).data }
            let found = try await document("t/a", on: server)
            for (name, value) in try #require(expected) { #expect(found?[name] == value, "\(name)") }
            #expect(result.updateTimes == [result.commitTime, result.commitTime, result.commitTime])
        }
    }

    @Test func `A field below an array or a text is not there to be deleted`() async throws {
        try await withDatabase { server in
            let before: DocumentData = ["list": [1, ["b": 2]], "text": "x", "map": ["a": 1, "b": 2]]
            let writes: [DocumentWrite] = [
                try .set("t/a", WriteFields(before)),
                try .update("t/a", ["list.b": .delete, "text.b": .delete, "map.b": .delete, "none.b": .delete]),
            ]
            let result = try await commit(writes, on: server)
            var expected: DocumentData? = nil
            for write in writes { expected = write.applied(to: expected, serverTime: result.commitTime).data }
            #expect(try await document("t/a", on: server) == expected)
        }
    }

    @Test func `A sum keeps every digit of a double`() async throws {
        try await withDatabase { server in
            let start = 0.1
            _ = try await commit([try .set("t/a", ["d": .value(.double(start))])], on: server)
            _ = try await commit([try .update("t/a", ["d": .increment(0.2)])], on: server)
            #expect(try await document("t/a", on: server) == ["d": .double(start + 0.2)])
        }
    }

    @Test func `A batch that is sent again is answered as before and changes nothing`() async throws {
        try await withDatabase { server in
            let increment = [try DocumentWrite.merge("counters/a", ["n": .increment(1)])]
            let first = try await commit(increment, as: "b1", on: server)
            let second = try await commit(increment, as: "b1", on: server)
            #expect(first == second)
            #expect(try await document("counters/a", on: server) == ["n": 1])
        }
    }

    @Test func `A refused write leaves nothing of its batch, and says which one it was`() async throws {
        try await withDatabase { server in
            let cases: [(DocumentWrite, String)] = [
                (try .update("a/missing", ["x": 1]), "PT404"), (try .create("a/there", ["x": 1]), "PT409"),
                (try DocumentWrite.delete("a/there").requiring(.updateTime(Timestamp(microseconds: 1))), "PT412"),
            ]
            _ = try await commit([try .set("a/there", ["x": 0])], on: server)
            for (write, code) in cases {
                let failure = await #expect(throws: PostgresServer.Failure.self) {
                    _ = try await commit([try .set("a/other", ["x": 1]), write], on: server)
                }
                #expect(failure?.description.contains(code) == true)
                #expect(failure?.description.contains("DETAIL:  1") == true)
                #expect(try await document("a/other", on: server) == nil)
            }
        }
    }

    @Test func `Eight writers at once lose no increment`() async throws {
        try await withDatabase { server in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        for _ in 0..<5 {
                            _ = try await commit([try .merge("counters/shared", ["n": .increment(1)])], on: server)
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await document("counters/shared", on: server) == ["n": 40])
        }
    }
}
