import Switchyard
import SwitchyardLocalSupabase
import SwitchyardServerKit
import SwitchyardSync
import SwitchyardTestSupport
import SwitchyardWire
import Synchronization
import Testing

@testable import SwitchyardSupabase

/// Writes to rows whose answer is cut off at any byte, and such as were never carried out, with nothing installed. The queue
/// heals all of them.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct LostRowAnswerTests {
    /// A write, with the rows before and after it.
    enum Write: String, CaseIterable, Sendable, CustomTestStringConvertible {
        case set, add, merge, update, create, delete, increment, setSeveral, createSeveral, deleteSeveral

        var testDescription: String { rawValue }

        /// `a=1 b=2` for the numbers of rows, each with its name as text.
        var before: String {
            switch self {
            case .add, .create, .createSeveral: ""
            case .set, .merge, .update, .delete, .increment: "a=1"
            case .setSeveral: "a=1 b=2"
            case .deleteSeveral: "a=1 b=2 c=3"
            }
        }

        var after: String {
            switch self {
            case .set, .add, .create: "a=7"
            case .merge, .update: "a=7"
            case .delete: ""
            case .increment: "a=4"
            case .setSeveral, .createSeveral: "a=7 b=8 c=9"
            case .deleteSeveral: "b=2"
            }
        }

        func batch(in items: CollectionPath) throws(StorageError) -> WriteBatch {
            let (a, b, c) = (items.document("a"), items.document("b"), items.document("c"))
            let writes: [DocumentWrite] =
                switch self {
                case .set, .add: [try .set(a, ["text": "a", "number": 7])]
                case .merge: [try .merge(a, ["number": 7])]
                case .update: [try .update(a, ["number": 7])]
                case .create: [try .create(a, ["text": "a", "number": 7])]
                case .delete: [.delete(a)]
                case .increment: [try .update(a, ["number": .increment(3)])]
                case .setSeveral:
                    [
                        try .set(a, ["text": "a", "number": 7]), try .set(b, ["text": "b", "number": 8]),
                        try .set(c, ["text": "c", "number": 9]),
                    ]
                case .createSeveral:
                    [
                        try .create(a, ["text": "a", "number": 7]), try .create(b, ["text": "b", "number": 8]),
                        try .create(c, ["text": "c", "number": 9]),
                    ]
                case .deleteSeveral: [.delete(a), .delete(c)]
                }
            return WriteBatch(writes)
        }
    }

    /// A project with a table, and a device that has read its rows.
    private struct Site {
        let supabase: LocalSupabase
        let client: SyncedStorageClient
        private let database: PostgresConnection

        init() async throws {
            supabase = try await LocalSupabase.onSharedPostgres()
            database = try await supabase.database.connect()
            try await database.run(script: PlainTableHarness.sql(.text))
            // Pauses and the time until a write can no longer land are over at once; the deadlines of calls are not.
            let clock = JumpingClock(keepsDeadlines: true)
            let service = PostgRESTService(
                project: try SupabaseProject(supabase.server.url),
                tokens: SupabaseTokens(key: Secret(supabase.accessToken(for: "tester")), auth: nil),
                transport: CurlTransport(), clock: clock)
            let tables = try TableMappings([PlainTableHarness.mapping(.text)], usesDocuments: false)
            client = SyncedStorageClient(
                driver: SupabaseDriver(service: service, tables: tables, clock: clock), clock: clock)
        }

        /// - Returns: The rows of a parent, in order.
        func rows(of parent: String) async throws -> String {
            try await database.run(
                script: """
                    select coalesce(string_agg(text || '=' || number, ' ' order by id), '') from public.plain_text
                      where parent = '\(parent)'
                    """
            ).first?.text ?? ""
        }

        func insert(_ rows: String, under parent: String) async throws {
            for row in rows.split(separator: " ") {
                let parts = row.split(separator: "=")
                try await database.run(
                    script: """
                        insert into public.plain_text (parent, id, text, number)
                          values ('\(parent)', '\(parts[0])', '\(parts[0])', \(parts[1]))
                        """)
            }
        }

        func stop() async {
            await client.shutDown()
            database.close()
            await supabase.stop()
        }
    }

    private struct Outcome {
        /// `nil` if the write was acknowledged.
        let failure: StorageError?
        let rows: String
        /// How many requests for the table it took.
        let requests: Int
    }

    /// Commits a write, whose first request meets a fault.
    private static func outcome(
        of write: Write, on site: Site, under parent: String, knowing isKnown: Bool = true, _ fault: Fault?
    ) async throws -> Outcome {
        let items = try CollectionPath(validating: "conformance/\(parent)/items")
        try await site.insert(write.before, under: parent)
        if isKnown { _ = try await site.client.documents(Query(in: items), from: .server) }
        let requests = Mutex(0)
        let isStruck = Mutex(false)
        let rule = site.supabase.faults.add(fault ?? .delayAnswer(.zero), times: nil) { request in
            guard request.rawPath.hasSuffix("/plain_text") else { return false }
            requests.withLock { $0 += 1 }
            guard request.method != .get, fault != nil else { return false }
            return isStruck.withLock { isStruck in
                defer { isStruck = true }
                return !isStruck
            }
        }
        defer { site.supabase.faults.remove(rule) }
        var failure: StorageError?
        do throws(StorageError) {
            _ = try await site.client.commit(write.batch(in: items)).acknowledged()
        } catch {
            failure = error
        }
        return Outcome(
            failure: failure, rows: try await site.rows(of: parent), requests: requests.withLock { $0 })
    }

    @Test(.timeLimit(.minutes(5)), arguments: Write.allCases)
    func `A write whose answer is cut off at any byte takes effect once`(_ write: Write) async throws {
        let site = try await Site()
        let whole = try await Self.outcome(of: write, on: site, under: "whole", nil)
        #expect(whole.failure == nil && whole.rows == write.after)

        /// - Returns: Whether the answer was longer.
        func isCut(after count: Int) async throws -> Bool {
            let found = try await Self.outcome(
                of: write, on: site, under: "cut\(count)", .cutAnswer(after: count, reset: count.isMultiple(of: 2)))
            #expect(found.rows == write.after, "\(count) bytes")
            let isCut = found.requests > whole.requests
            if isCut, write == .increment {
                // The row has changed, and nobody can know by whom.
                #expect(found.failure?.code == .aborted, "\(count) bytes")
            } else {
                #expect(found.failure == nil, "\(count) bytes")
            }
            return isCut
        }
        let step = 7
        var cut = 0
        while try await isCut(after: cut * step) { cut += 1 }
        // The last byte.
        var (shorter, whole_) = ((cut - 1) * step, cut * step)
        while whole_ - shorter > 1 {
            let middle = (shorter + whole_) / 2
            if try await isCut(after: middle) { shorter = middle } else { whole_ = middle }
        }
        print("lost rows: \(write): answers of \(whole_) bytes, cut at \(cut) places and the last")
        #expect(cut >= 40)
        await site.stop()
    }

    @Test(.timeLimit(.minutes(2)), arguments: Write.allCases, [true, false])
    func `A write that was never carried out, for all that its sender knows, is`(
        _ write: Write, _ isKnown: Bool
    ) async throws {
        let site = try await Site()
        let nobody = ServerResponse(
            status: 502, headers: ["Content-Type": "text/html"], body: Array("<html>502 Bad Gateway</html>".utf8))
        let found = try await Self.outcome(of: write, on: site, under: "never", knowing: isKnown, .answer(nobody))
        if write == .increment, !isKnown {
            // Nobody can know whether the row is what it was.
            #expect(found.failure?.code == .aborted)
            #expect(found.rows == write.before)
        } else {
            #expect(found.failure == nil)
            #expect(found.rows == write.after)
        }
        await site.stop()
    }

    @Test(.timeLimit(.minutes(2)), arguments: [0, 20, 200, nil])
    func `A transaction whose answer is lost is not run again, and one that was not carried out takes effect`(
        _ bytes: Int?
    ) async throws {
        let site = try await Site()
        let path: StoragePath = "conformance/one/items/a"
        try await site.insert("a=1", under: "one")
        let nobody = ServerResponse(
            status: 502, headers: ["Content-Type": "text/html"], body: Array("<html>502 Bad Gateway</html>".utf8))
        site.supabase.faults.add(bytes.map { .cutAnswer(after: $0) } ?? .answer(nobody)) { $0.method == .patch }
        var failure: StorageError?
        do throws(StorageError) {
            try await site.client.transaction { transaction in
                let number = try await transaction.document(path)["number"]?.integerValue ?? 0
                try await transaction.update(path, ["number": .value(.integer(number + 1))])
            }
        } catch {
            failure = error
        }
        #expect(failure?.code == (bytes == nil ? nil : .unavailable))
        #expect(try await site.rows(of: "one") == "a=2")
        await site.stop()
    }
}
