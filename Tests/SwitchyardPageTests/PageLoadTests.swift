import Switchyard
import SwitchyardBytes
import SwitchyardFirebase
import SwitchyardLocalFirebase
import SwitchyardPage
import SwitchyardTestSupport
import SwitchyardWire
import Synchronization
import Testing

/// How a run goes.
private final class LoadRun: Sendable {
    private let state = Mutex((reads: 0, isOver: false))

    var reads: Int { state.withLock { $0.reads } }
    var isOver: Bool { state.withLock { $0.isOver } }
    func add() { state.withLock { $0.reads += 1 } }
    func end() { state.withLock { $0.isOver = true } }
}

/// Many documents, tabs that read all the time and one that reads nothing: clients notice none of it.
@Suite struct PageLoadTests {
    private static let root = "/v1/projects/demo-switchyard/databases/(default)/documents"

    private static func fill(_ bed: PageRequestTests.Bed, _ count: Int) async throws {
        for start in stride(from: 0, to: count, by: 500) {
            let writes: [JSON] = (start..<min(start + 500, count)).map { number in
                [
                    "update": [
                        "name": .string("projects/demo-switchyard/databases/(default)/documents/items/\(number)"),
                        "fields": ["n": ["integerValue": .string("\(number)")]],
                    ]
                ]
            }
            var request = HTTPRequest(.post, "http://\(bed.firebase.host)" + Self.root + ":commit")
            request.headers["Authorization"] = "Bearer owner"
            request.body = (["writes": .array(writes)] as JSON).bytes()
            #expect(try await bed.page.transport.send(request).status == 200)
        }
    }

    @Test func `A client is answered in order while three tabs read and one reads nothing`() async throws {
        let bed = try await PageRequestTests.Bed()
        let count = RunSize.isFull ? 100_000 : 5000
        try await Self.fill(bed, count)
        // A tab that has asked for events, and takes none.
        let idle = try await bed.page.transport.stream(HTTPRequest(.get, bed.page.base + "/api/events"))
        let run = LoadRun()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for tab in 1...3 {
                group.addTask {
                    let events = try await bed.page.events()
                    try await bed.page.call(
                        .post, "watch",
                        ["watch": .string("tab-\(tab)"), "collection": "items", "text": "order by n desc"])
                    while !run.isOver {
                        let page = try await bed.page.call(
                            .post, "query", ["collection": "items", "text": "order by n desc", "size": 100])
                        #expect(page["documents"]?.array?.count == 100)
                        let all = try await bed.page.call(.post, "count", ["collection": "items"])["count"]?.int ?? 0
                        #expect(all >= count)
                        run.add()
                    }
                    events.stop()
                }
            }
            group.addTask {
                defer { run.end() }
                let client = HTTPRequest(.get, "http://\(bed.firebase.host)" + Self.root + "/items/counter")
                for number in 1...200 {
                    var write = HTTPRequest(.patch, "http://\(bed.firebase.host)" + Self.root + "/notes/counter")
                    write.headers["Authorization"] = "Bearer " + bed.firebase.idToken(for: "alice")
                    write.body = (["fields": ["n": ["integerValue": .string("\(number)")]]] as JSON).bytes()
                    // The deadline is far beyond what a call takes; one that waits for a page would miss it.
                    let answer = try await bed.page.transport.send(write, within: .seconds(30))
                    #expect(answer.status == 200)
                    var read = client
                    read.url = "http://\(bed.firebase.host)" + Self.root + "/notes/counter"
                    read.headers["Authorization"] = write.headers["Authorization"]
                    let found = try JSON(parsing: try await bed.page.transport.send(read, within: .seconds(30)).body)
                    #expect(found["fields"]?["n"]?["integerValue"] == .string("\(number)"))
                }
            }
            try await group.waitForAll()
        }
        #expect(run.reads > 0)
        // The log has what came last, newest first, and all of it has ended.
        try await eventually("each request has ended", within: .seconds(20)) {
            let all = try await bed.page.call(.get, "requests?limit=100")["requests"]?.array ?? []
            return all.count == 100 && all.allSatisfy { $0["phase"] == "done" }
        }
        withExtendedLifetime(idle) {}
        await bed.stop()
    }

    @Test func `Of a flood of requests, the log keeps the newest, and a tab that reads nothing is cut off`()
        async throws
    {
        let bed = try await PageRequestTests.Bed()
        let idle = try await bed.page.transport.stream(HTTPRequest(.get, bed.page.base + "/api/events"))
        let document = Self.root + "/notes/a"
        let text = String(repeating: "x", count: 2000)
        try await bed.send(.patch, document, as: "alice", ["fields": ["text": ["stringValue": .string(text)]]])
        let total = 1500
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<(total / 8) { try await bed.send(.get, document, as: "alice") }
                }
            }
            try await group.waitForAll()
        }
        let newest = try await bed.page.call(.get, "requests?limit=1000")
        let numbers = newest["requests"]?.array?.compactMap { $0["n"]?.int } ?? []
        #expect(numbers.count <= 1000)
        #expect(numbers.count > 800)
        #expect(numbers == numbers.sorted(by: >))
        #expect(newest["total"]?.int ?? 0 > numbers.count)
        let gone = try await bed.page.send(.get, "/api/b/firebase/requests/1")
        #expect(gone.status == 404)
        #expect(try JSON(parsing: gone.body)["error"]?["message"]?.string?.isEmpty == false)
        let fresh = try await bed.page.events()
        try await eventually("a new tab is served") { fresh.all.first?.name == "ready" }
        withExtendedLifetime(idle) {}
        fresh.stop()
        await bed.stop()
    }
}
