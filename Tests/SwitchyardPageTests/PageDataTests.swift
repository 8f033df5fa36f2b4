import Switchyard
import SwitchyardBytes
import SwitchyardLocalFirebase
import SwitchyardMock
import SwitchyardPage
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@Suite struct PageDataTests {
    private func firebase() async throws -> (LocalFirebase, PageBed) {
        let firebase = try LocalFirebase()
        let bed = try PageBed([try await .local(firebase)], backend: "firebase")
        return (firebase, bed)
    }

    @Test func `Documents are written, found, counted and undone`() async throws {
        let (firebase, bed) = try await firebase()
        for number in 1...25 {
            try await bed.call(
                .post, "write",
                [
                    "kind": "set", "path": .string("notes/\(number)"),
                    "data": ["n": .integer(Int64(number)), "at": ["timestamp": "2026-05-01T09:41:00Z"]],
                ])
        }
        let collections = try await bed.call(.get, "collections")
        #expect(collections["collections"]?.array?.map { $0["path"]?.string } == ["notes"])
        var paths: [String] = []
        var cursor = JSON.null
        var pages = 0
        repeat {
            let page = try await bed.call(
                .post, "query",
                ["collection": "notes", "text": "where n > 3 order by n desc", "size": 10, "cursor": cursor])
            paths += page["documents"]?.array?.compactMap { $0["path"]?.string } ?? []
            cursor = page["cursor"] ?? .null
            pages += 1
        } while !cursor.isNull
        #expect(paths == (4...25).reversed().map { "notes/\($0)" })
        #expect(pages == 3)
        let count = try await bed.call(.post, "count", ["collection": "notes", "text": "where n > 3"])
        #expect(count["count"]?.int == 22)
        let written = try await bed.call(.post, "write", ["kind": "delete", "path": "notes/1"])
        #expect(written["before"]?["n"] == ["integer": 1])
        #expect(try await bed.call(.post, "get", ["path": "notes/1"])["exists"] == false)
        try await bed.call(.post, "write", ["kind": "set", "path": "notes/1", "data": written["before"] ?? [:]])
        let back = try await bed.call(.post, "get", ["path": "notes/1"])
        #expect(back["data"]?["at"]?["timestamp"]?["seconds"]?.int == 1_777_628_460)
        await bed.stop()
        await firebase.stop()
    }

    @Test func `A limit counts over pages`() async throws {
        let (firebase, bed) = try await firebase()
        for number in 1...9 {
            try await bed.call(
                .post, "write", ["kind": "add", "collection": "notes", "data": ["n": .integer(Int64(number))]])
        }
        let first = try await bed.call(
            .post, "query", ["collection": "notes", "text": "order by n limit 5 offset 1", "size": 3])
        #expect(first["documents"]?.array?.compactMap { $0["data"]?["n"]?["integer"]?.int } == [2, 3, 4])
        let second = try await bed.call(
            .post, "query",
            [
                "collection": "notes", "text": "order by n limit 5 offset 1", "size": 3,
                "cursor": first["cursor"] ?? .null,
            ])
        #expect(second["documents"]?.array?.compactMap { $0["data"]?["n"]?["integer"]?.int } == [5, 6])
        #expect(second["cursor"] == .null)
        let jump = try await bed.call(
            .post, "query",
            ["collection": "notes", "text": "order by n limit 5 offset 1", "size": 3, "offset": 3])
        #expect(jump["documents"]?.array?.compactMap { $0["data"]?["n"]?["integer"]?.int } == [5, 6])
        await bed.stop()
        await firebase.stop()
    }

    @Test func `A mistake in a query is said with its place`() async throws {
        let (firebase, bed) = try await firebase()
        let response = try await bed.send(
            .post, "/api/b/firebase/query", ["collection": "notes", "text": "where n >> 3"])
        #expect(response.status == 400)
        let error = try JSON(parsing: response.body)["error"]
        #expect(error?["position"]?.int != nil)
        #expect(error?["message"]?.string?.isEmpty == false)
        await bed.stop()
        await firebase.stop()
    }

    @Test func `A watched query sends its documents at once and after a change`() async throws {
        let (firebase, bed) = try await firebase()
        let events = try await bed.events()
        try await bed.call(.post, "watch", ["watch": "w1", "collection": "notes"])
        try await events.first("data", "the first documents") { $0["isFromCache"] == false }
        try await bed.call(.post, "write", ["kind": "set", "path": "notes/a", "data": ["n": 1]])
        let change = try await events.first("data", "the change") { $0["changed"]?.array?.isEmpty == false }
        #expect(change["watch"] == "w1")
        #expect(change["changed"] == ["notes/a"])
        try await bed.call(.delete, "watch/w1")
        events.stop()
        await bed.stop()
        await firebase.stop()
    }

    @Test func `Any infrastructure has a page`() async throws {
        let infrastructure = try await Infrastructure(MockModule())
        let bed = try PageBed([try await .configured(infrastructure, name: "mock")], backend: "configured")
        try await bed.call(.post, "write", ["kind": "set", "path": "notes/a", "data": ["n": 1]])
        #expect(try await bed.call(.post, "get", ["path": "notes/a"])["data"] == ["n": ["integer": 1]])
        let site = try JSON(parsing: try await bed.send(.get, "/api/site").body)
        #expect(site["backends"]?[0]?["kind"] == "configured")
        await bed.stop()
    }
}
